package io.tollgate.spring.record;

import io.tollgate.Outcome;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;

/**
 * One rejection, as it goes into the records. Immutable. Texts of more than {@value #MAX_TEXT} characters are cut, so that
 * what waits to be written stays bounded.
 *
 * <pre>{@code
 * Interception row = Interception.of(Instant.now(), "wms", "Order.list", Outcome.LIMITED)
 *         .user("u1").method("com.acme.OrderController.list").request("GET", "/orders", "10.0.0.7")
 *         .window(3, 1, 2).instance("wms-1").build();
 * }</pre>
 */
public final class Interception {
    /** The most UTF-16 units that a text keeps. */
    public static final int MAX_TEXT = 4_000;

    // A MyBatis mapper reads these by their names, as #{user} or #{row.user}.
    private final Instant time;
    private final String user;
    private final String module;
    private final String rule;
    private final String method;
    private final String httpMethod;
    private final String uri;
    private final long interval;
    private final long limit;
    private final long count;
    private final Outcome outcome;
    private final String client;
    private final String instance;

    private Interception(Builder from) {
        time = from.time;
        user = from.user;
        module = from.module;
        rule = from.rule;
        method = from.method;
        httpMethod = from.httpMethod;
        uri = from.uri;
        interval = from.interval;
        limit = from.limit;
        count = from.count;
        outcome = from.outcome;
        client = from.client;
        instance = from.instance;
    }

    /**
     * Begins a row with what every row has.
     *
     * @param time    when it was turned away, by this application's clock (Redis decides by its own); kept to the millisecond
     * @param module  the rule's module, not empty
     * @param rule    the rule's name, not empty
     * @param outcome how it was decided
     * @return a builder for the rest
     * @throws IllegalArgumentException where module or rule is empty
     */
    public static Builder of(Instant time, String module, String rule, Outcome outcome) {
        return new Builder(time, module, rule, outcome);
    }

    /** A builder that begins with this row's values. */
    Builder copy(String otherModule, String otherRule) {
        return of(time, otherModule, otherRule, outcome).user(user).method(method).request(httpMethod, uri, client)
                .window(interval, limit, count).instance(instance);
    }

    /**
     * When it was turned away, by this application's clock.
     *
     * @return whole milliseconds
     */
    public Instant time() {
        return time;
    }

    /**
     * Who was turned away.
     *
     * @return null for a rule that counts nobody in particular
     */
    public String user() {
        return user;
    }

    /**
     * The rule's module.
     *
     * @return like {@code wms}
     */
    public String module() {
        return module;
    }

    /**
     * The rule's name.
     *
     * @return like {@code OrderController.list}
     */
    public String rule() {
        return rule;
    }

    /**
     * The method that wasn't called.
     *
     * @return like {@code com.acme.OrderController.list}; null where it isn't known
     */
    public String method() {
        return method;
    }

    /**
     * The request's method.
     *
     * @return like {@code GET}; null outside of a request
     */
    public String httpMethod() {
        return httpMethod;
    }

    /**
     * The request's path.
     *
     * @return like {@code /orders}; null outside of a request
     */
    public String uri() {
        return uri;
    }

    /**
     * The rule's window, as it held for the decision.
     *
     * @return seconds, 0 where it isn't known
     */
    public long interval() {
        return interval;
    }

    /**
     * How many hits pass in a window.
     *
     * @return 0 or more
     */
    public long limit() {
        return limit;
    }

    /**
     * The user's hits in this window, this one included.
     *
     * @return 0 where nothing was counted, as under {@link Outcome#FAULT_DENIED}
     */
    public long count() {
        return count;
    }

    /**
     * How it was decided.
     *
     * @return {@link Outcome#LIMITED}, {@link Outcome#SHADOWED}, {@link Outcome#FAULT_DENIED} or
     *     {@link Outcome#FAULT_LOCAL_LIMITED}
     */
    public Outcome outcome() {
        return outcome;
    }

    /**
     * The address that the request came from.
     *
     * @return null outside of a request
     */
    public String client() {
        return client;
    }

    /**
     * The process that turned it away.
     *
     * @return a name of this application's host or process; null where it has none
     */
    public String instance() {
        return instance;
    }

    @Override
    public String toString() {
        return time + " " + outcome + " user=" + user + " rule=" + module + '.' + rule + " count=" + count + " limit=" + limit
                + " interval=" + interval + " method=" + method + " request=" + httpMethod + ' ' + uri + " client=" + client
                + " instance=" + instance;
    }

    /** Takes a row's values. Not thread-safe. */
    public static final class Builder {
        private final Instant time;
        private final String module;
        private final String rule;
        private final Outcome outcome;
        private String user;
        private String method;
        private String httpMethod;
        private String uri;
        private long interval;
        private long limit;
        private long count;
        private String client;
        private String instance;

        private Builder(Instant time, String module, String rule, Outcome outcome) {
            this.time = Objects.requireNonNull(time, "time").truncatedTo(ChronoUnit.MILLIS);
            this.module = named("module", module);
            this.rule = named("rule", rule);
            this.outcome = Objects.requireNonNull(outcome, "outcome");
        }

        /**
         * Says who was turned away.
         *
         * @param name the user; may be null
         * @return this
         */
        public Builder user(String name) {
            user = bounded(name);
            return this;
        }

        /**
         * Says which method wasn't called.
         *
         * @param name like {@code com.acme.OrderController.list}; may be null
         * @return this
         */
        public Builder method(String name) {
            method = bounded(name);
            return this;
        }

        /**
         * Says which request was turned away.
         *
         * @param verb    like {@code GET}; may be null
         * @param path    like {@code /orders}; may be null
         * @param address of the client; may be null
         * @return this
         */
        public Builder request(String verb, String path, String address) {
            httpMethod = bounded(verb);
            uri = bounded(path);
            client = bounded(address);
            return this;
        }

        /**
         * Says what it was held against.
         *
         * @param seconds the window, 0 to 31,536,000; 0 where it isn't known
         * @param most    hits that pass in a window, 0 or more
         * @param hits    those counted in this window, 0 or more
         * @return this
         * @throws IllegalArgumentException outside of these ranges
         */
        public Builder window(long seconds, long most, long hits) {
            if (seconds < 0 || seconds > 31_536_000 || most < 0 || hits < 0) {
                throw new IllegalArgumentException("window of " + seconds + " s, limit " + most + ", count " + hits
                        + ": give 0 to 31536000 seconds, and limit and count of 0 or more");
            }
            interval = seconds;
            limit = most;
            count = hits;
            return this;
        }

        /**
         * Says which process turned it away.
         *
         * @param name of this application's host or process; may be null
         * @return this
         */
        public Builder instance(String name) {
            instance = bounded(name);
            return this;
        }

        /**
         * Ends the row.
         *
         * @return the row
         */
        public Interception build() {
            return new Interception(this);
        }

        private static String named(String what, String text) {
            if (text == null || text.isEmpty()) {
                throw new IllegalArgumentException("an interception needs a " + what + ": name the rule that turned the request away");
            }
            return bounded(text);
        }

        private static String bounded(String text) {
            return text == null ? null : Texts.cut(text, MAX_TEXT);
        }
    }
}
