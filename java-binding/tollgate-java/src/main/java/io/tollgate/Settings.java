package io.tollgate;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The live configuration, as operators see it in {@code HGETALL ratelimit:config}: {@code <module>.<rule>.check}, {@code
 * .interval}, {@code .limit} and {@code log.check}. What is set here governs the very next request, in every process that shares the store.
 *
 * <pre>{@code
 * tollgate.settings().set("wms.Order.list.check", "false");
 * }</pre>
 *
 * <p>From {@link Tollgate#settings()}; usable from any thread. Each call asks the store and throws {@link TollgateException}
 * where it can't answer, {@link IllegalStateException} once the limiter is closed.
 */
public final class Settings {
    private final Tollgate owner;

    Settings(Tollgate owner) {
        this.owner = owner;
    }

    /**
     * The value of one field.
     *
     * @param field like {@code wms.Order.list.limit}
     * @return the value as it is stored, or null where the field isn't there
     * @throws IllegalArgumentException the field's name isn't one
     * @throws TollgateException        the store can't answer
     */
    public String get(String field) {
        Objects.requireNonNull(field, "field is null: name one, like wms.Order.list.limit");
        return get(owner.handle(), Wtf8.encode(field));
    }

    /**
     * Writes one field.
     *
     * @param field like {@code wms.Order.list.limit}
     * @param value like {@code 5}; for {@code check} {@code true}, {@code false} or {@code shadow}
     * @throws IllegalArgumentException the field's name or the value isn't one
     * @throws TollgateException        the store can't answer
     */
    public void set(String field, String value) {
        Objects.requireNonNull(field, "field is null: name one, like wms.Order.list.limit");
        Objects.requireNonNull(value, () -> "value of " + field + " is null: give one, like 5 or false");
        set(owner.handle(), Wtf8.encode(field), Wtf8.encode(value));
    }

    /**
     * Every field with its value.
     *
     * @return a snapshot that can't be modified
     * @throws TollgateException the store can't answer
     */
    public Map<String, String> all() {
        String[] pairs = all(owner.handle());
        Map<String, String> fields = new LinkedHashMap<>(pairs.length);
        for (int i = 0; i < pairs.length; i += 2) {
            fields.put(pairs[i], pairs[i + 1]);
        }
        return Collections.unmodifiableMap(fields);
    }

    private static native String get(long limiter, byte[] field);

    private static native void set(long limiter, byte[] field, byte[] value);

    private static native String[] all(long limiter);
}
