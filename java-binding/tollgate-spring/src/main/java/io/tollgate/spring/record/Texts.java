package io.tollgate.spring.record;

/** Makes texts fit for a column. */
final class Texts {
    private static final char REPLACEMENT = '\uFFFD';

    private Texts() {}

    /**
     * At most so many UTF-16 units of a text, never half a pair. Databases count code points or such units, which are never
     * fewer: what is cut like this fits either way.
     */
    static String cut(String text, int units) {
        if (text.length() <= units) {
            return text;
        }
        boolean halves = Character.isHighSurrogate(text.charAt(units - 1)) && Character.isLowSurrogate(text.charAt(units));
        return text.substring(0, halves ? units - 1 : units);
    }

    /** With U+FFFD in place of what some database refuses: NUL (PostgreSQL) and lone surrogates, which no UTF-8 has. */
    static String clean(String text) {
        StringBuilder cleaned = null;
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (Character.isHighSurrogate(unit) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (unit == 0 || Character.isSurrogate(unit)) {
                if (cleaned == null) {
                    cleaned = new StringBuilder(text);
                }
                cleaned.setCharAt(i, REPLACEMENT);
            }
        }
        return cleaned == null ? text : cleaned.toString();
    }

    /** Cleaned and cut; null where nothing is in it, since Oracle has no other empty text. */
    static String fit(String text, int units) {
        return text == null || text.isEmpty() ? null : cut(clean(text), units);
    }
}
