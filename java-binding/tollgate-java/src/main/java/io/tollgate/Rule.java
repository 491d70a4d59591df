package io.tollgate;

import java.time.Duration;
import java.util.Objects;

/**
 * A registered rule: what {@link Tollgate#acquire} counts against. Immutable, usable from any thread, bound to the limiter
 * that registered it and to that limiter's life. Register a rule once and keep it.
 *
 * <p>Interval and limit here are the rule's own defaults; an operator's values in the store have the last word.
 */
public final class Rule {
    private final Tollgate owner;
    private final long handle;
    private final String module;
    private final String name;
    private final long interval;
    private final long limit;
    private final String messageKey;

    private Rule(Builder builder, long handle) {
        this.owner = builder.owner;
        this.handle = handle;
        this.module = builder.module;
        this.name = builder.name;
        this.interval = builder.interval;
        this.limit = builder.limit;
        this.messageKey = builder.messageKey;
    }

    /**
     * The application's part of the name, {@code wms} in {@code ratelimit:wms:Order.list:u1}.
     *
     * @return as registered
     */
    public String module() {
        return module;
    }

    /**
     * The rule's own part of the name, {@code Order.list} in {@code ratelimit:wms:Order.list:u1}.
     *
     * @return as registered
     */
    public String name() {
        return name;
    }

    /**
     * The rule's own window.
     *
     * @return seconds
     */
    public long interval() {
        return interval;
    }

    /**
     * The rule's own limit.
     *
     * @return how many hits pass in a window
     */
    public long limit() {
        return limit;
    }

    /**
     * The key of the text that a rejected user reads.
     *
     * @return as registered, null where none was given
     */
    public String messageKey() {
        return messageKey;
    }

    @Override
    public String toString() {
        return module + '.' + name + " (" + limit + " in " + interval + " s)";
    }

    Tollgate owner() {
        return owner;
    }

    long handle() {
        return handle;
    }

    private static native long register(
            long limiter, byte[] module, byte[] name, long interval, long limit, byte[] messageKey, int onFault, long deadlineNanos);

    /** Collects a rule's values; from {@link Tollgate#rule}. For one thread. */
    public static final class Builder {
        private final Tollgate owner;
        private final String module;
        private final String name;
        private long interval = 3;
        private long limit = 1;
        private String messageKey;
        private OnFault onFault;
        private Duration deadline;

        Builder(Tollgate owner, String module, String name) {
            this.owner = owner;
            this.module = Objects.requireNonNull(module, "module is null: give the application's name");
            this.name = Objects.requireNonNull(name, "name is null: give the rule's name, like Order.list");
        }

        /**
         * The window.
         *
         * @param seconds 1 to 31,536,000 (a year); 3 if not said
         * @return this builder
         */
        public Builder interval(long seconds) {
            this.interval = seconds;
            return this;
        }

        /**
         * How many hits pass in a window.
         *
         * @param hits 0 to {@link Long#MAX_VALUE}, 0 rejects all; 1 if not said
         * @return this builder
         */
        public Builder limit(long hits) {
            this.limit = hits;
            return this;
        }

        /**
         * The key of the text that a rejected user reads, for hosts that look texts up.
         *
         * @param key like {@code operate_too_frequent}; null, the default, for none
         * @return this builder
         */
        public Builder messageKey(String key) {
            this.messageKey = key;
            return this;
        }

        /**
         * What happens to this rule's requests while the store can't answer.
         *
         * @param policy the limiter's own policy if not said
         * @return this builder
         */
        public Builder onFault(OnFault policy) {
            this.onFault = Objects.requireNonNull(policy, "onFault is null: leave it out for the limiter's policy");
            return this;
        }

        /**
         * How long a hit on this rule waits for the store.
         *
         * @param deadline 1 ms to 60 s; the limiter's own deadline if not said
         * @return this builder
         */
        public Builder deadline(Duration deadline) {
            this.deadline = Objects.requireNonNull(deadline, "deadline is null: leave it out for the limiter's deadline");
            return this;
        }

        /**
         * Registers the rule with the limiter that this builder came from.
         *
         * @return the rule, live from its first request
         * @throws IllegalArgumentException a value is out of range; the message names it and the remedy
         * @throws IllegalStateException    the limiter is closed
         */
        public Rule register() {
            long handle = Rule.register(owner.handle(), Wtf8.encode(module), Wtf8.encode(name), interval, limit,
                    Wtf8.encode(messageKey), OnFault.code(onFault), deadline == null ? -1 : Tollgate.Builder.nanos("deadline", deadline));
            return new Rule(this, handle);
        }
    }
}
