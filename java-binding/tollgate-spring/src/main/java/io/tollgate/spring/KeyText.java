package io.tollgate.spring;

import java.util.Arrays;
import java.util.Optional;

/** The text of a key's value. */
final class KeyText {
    private KeyText() {}

    /** Null for nothing; throws for a value that has no text of its own, since each call would get a counter of its own. */
    static String of(Object value, MethodExpression key) {
        if (value == null || value instanceof CharSequence) {
            return value == null ? null : value.toString();
        }
        if (value instanceof Optional) {
            return of(((Optional<?>) value).orElse(null), key);
        }
        if (value.getClass().isArray()) {
            // The text within the brackets of an array of arrays.
            String text = Arrays.deepToString(new Object[] {value});
            return text.substring(1, text.length() - 1);
        }
        String text = value.toString();
        // What Object says; asking which class declares toString() would need metadata for every type in a native image.
        String prefix = value.getClass().getName() + '@';
        if (text != null && text.startsWith(prefix) && text.equals(prefix + Integer.toHexString(value.hashCode()))) {
            throw key.failure("gave a " + value.getClass().getName() + ", whose text differs from object to object: "
                    + "name one of its properties, or give it a toString()", null);
        }
        return text;
    }
}
