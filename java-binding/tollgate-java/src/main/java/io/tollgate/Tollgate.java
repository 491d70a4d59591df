package io.tollgate;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A limiter. Open one for a process and share it: every method may be called from any thread.
 *
 * <pre>{@code
 * try (Tollgate tollgate = Tollgate.open("redis://127.0.0.1:6379")) {
 *     Rule rule = tollgate.rule("wms", "Order.list").interval(3).limit(1).register();
 *     Decision decision = tollgate.acquire(rule, "u1");
 * }
 * }</pre>
 *
 * <p>It holds native memory, connections and threads until {@link #close()}; a limiter that is forgotten unclosed keeps them until the process
 * ends. Those threads are daemons. A closed limiter throws {@link IllegalStateException}.
 */
public final class Tollgate implements AutoCloseable {
    /** Longs of a native answer: outcome, fault and "record"; count; limit; remaining; milliseconds until the window ends. */
    static final int ANSWER = 5;

    private final long handle;
    private final String store;
    /** Whether decisions are waited for: those in memory are made at once. */
    private final boolean waits;
    private final Settings settings = new Settings(this);
    private final AtomicBoolean closed = new AtomicBoolean();

    private Tollgate(long handle) {
        this.handle = handle;
        this.store = store(handle);
        this.waits = !store.equals("memory");
    }

    /**
     * Opens a limiter with the default options.
     *
     * @param url where counters and settings are kept: {@code memory:} (this process), {@code redis://host:port/db}, {@code
     *            rediss://…} (TLS, with {@code ?ca=FILE&cert=FILE&key=FILE}), {@code unix:///path/to/socket}, {@code
     *            redis-sentinel://host:port,…/db?sentinelMasterId=name} or {@code redis-cluster://host:port,…}
     * @return the limiter; a server that can't be reached yet is no error here but faults for its decisions, until it is there
     * @throws IllegalArgumentException the URL isn't one; the message names what, without a password
     * @throws LibraryLoadException     the native library can't be used on this machine
     */
    public static Tollgate open(String url) {
        return builder().url(url).open();
    }

    /**
     * Starts from the default options.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The version of the native library.
     *
     * @return like {@code 0.1.0}
     * @throws LibraryLoadException the native library can't be used on this machine
     */
    public static String version() {
        NativeLibrary.load();
        return NativeLibrary.nativeVersion();
    }

    /**
     * Starts a rule of this limiter, with an interval of 3 seconds and a limit of 1.
     *
     * @param module the application's part of the name, like {@code wms}
     * @param name   the rule's own part, like {@code Order.list}
     * @return a builder; {@link Rule.Builder#register()} makes the rule
     */
    public Rule.Builder rule(String module, String name) {
        return new Rule.Builder(this, module, name);
    }

    /**
     * Counts one hit and decides it. Never throws because of the store; takes no longer than the deadline. A virtual thread lets
     * its carrier go while it waits.
     *
     * @param rule a rule of this limiter
     * @param user who asks: any string. Null, blank, {@code null} and {@code undefined} are nobody: {@link Outcome#NO_IDENTITY}
     * @return the decision
     * @throws IllegalArgumentException the rule belongs to another limiter
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        a defect in the native library; the next call is answered as usual
     */
    public Decision acquire(Rule rule, String user) {
        check(rule);
        byte[] bytes = Wtf8.encode(user);
        return waits && VirtualThreads.isCurrent() ? submit(rule, bytes, true).await() : decide(rule, bytes);
    }

    /**
     * Counts one hit and decides it without making this thread wait.
     *
     * <p>The stage completes exactly once, by the deadline at the latest, also when the store fails and when the limiter is closed
     * meanwhile. It fails only with a {@link TollgateException}, for a defect in the native library. Completing or cancelling it by
     * hand doesn't take the hit back.
     *
     * <p>Dependent stages whose names don't end in {@code Async} run on this thread where the decision is there already, else
     * on a daemon thread of the library's named {@code tollgate-stage}. There is one while they are quick. Where one
     * blocks, others' decisions wait 10 ms for the next thread to start, and with 32 of them blocked until one returns: give what
     * takes long to an executor of your own ({@code thenApplyAsync(…, executor)}).
     *
     * <p>Decisions may come in another order than the hits went. With 65,536 hits of the process under way, this
     * takes as long as {@link #acquire(Rule, String)}.
     *
     * @param rule a rule of this limiter
     * @param user who asks, as in {@link #acquire(Rule, String)}
     * @return a stage of the decision, a {@link CompletableFuture}
     * @throws IllegalArgumentException the rule belongs to another limiter
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        a defect in the native library; the next call is answered as usual
     */
    public CompletionStage<Decision> acquireAsync(Rule rule, String user) {
        check(rule);
        byte[] bytes = Wtf8.encode(user);
        return waits ? submit(rule, bytes, false) : CompletableFuture.completedFuture(decide(rule, bytes));
    }

    /**
     * Counts one hit of a user on each of several rules and decides each, in one round trip to the store: "1 in 3 seconds and 200 a
     * day". {@link Decision#tightest(List)} finds the decision to answer with.
     *
     * <p>Every rule is charged, also where another turns the user away; a rule that stands there twice is hit twice. Each keeps its
     * own fault policy. It takes no longer than the shortest deadline of the rules. A virtual thread lets its carrier go meanwhile.
     *
     * @param rules 1 to 64 rules of this limiter
     * @param user  who asks, as in {@link #acquire(Rule, String)}
     * @return the decisions in the order of the rules; the list can't be changed
     * @throws IllegalArgumentException there are none or too many, or one is null or belongs to another limiter; the message says which
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        a defect in the native library; the next call is answered as usual
     */
    public List<Decision> acquireAll(List<Rule> rules, String user) {
        return acquireAll(Hits.of(this, rules, user));
    }

    /**
     * The same with a user for each rule: one method may be limited by user and for all at once.
     *
     * @param rules 1 to 64 rules of this limiter
     * @param users who asks, one for each rule, as in {@link #acquire(Rule, String)}; a null is nobody, for that rule alone
     * @return the decisions in the order of the rules; the list can't be changed
     * @throws IllegalArgumentException as in {@link #acquireAll(List, String)}, or there are not as many users as rules
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        a defect in the native library; the next call is answered as usual
     */
    public List<Decision> acquireAll(List<Rule> rules, List<String> users) {
        return acquireAll(Hits.of(this, rules, users));
    }

    /**
     * Does what {@link #acquireAll(List, String)} does without making this thread wait.
     *
     * @param rules 1 to 64 rules of this limiter
     * @param user  who asks, as in {@link #acquire(Rule, String)}
     * @return a stage of the decisions, a {@link CompletableFuture}; it behaves like that of {@link #acquireAsync(Rule, String)}
     * @throws IllegalArgumentException as in {@link #acquireAll(List, String)}
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        a defect in the native library; the next call is answered as usual
     */
    public CompletionStage<List<Decision>> acquireAllAsync(List<Rule> rules, String user) {
        return acquireAllAsync(Hits.of(this, rules, user));
    }

    /**
     * Does what {@link #acquireAll(List, List)} does without making this thread wait.
     *
     * @param rules 1 to 64 rules of this limiter
     * @param users who asks, one for each rule
     * @return a stage of the decisions, a {@link CompletableFuture}; it behaves like that of {@link #acquireAsync(Rule, String)}
     * @throws IllegalArgumentException as in {@link #acquireAll(List, List)}
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        a defect in the native library; the next call is answered as usual
     */
    public CompletionStage<List<Decision>> acquireAllAsync(List<Rule> rules, List<String> users) {
        return acquireAllAsync(Hits.of(this, rules, users));
    }

    private List<Decision> acquireAll(Hits hits) {
        return waits && VirtualThreads.isCurrent() ? submit(hits, true).await() : decide(hits);
    }

    private CompletionStage<List<Decision>> acquireAllAsync(Hits hits) {
        return waits ? submit(hits, false) : CompletableFuture.completedFuture(decide(hits));
    }

    private List<Decision> decide(Hits hits) {
        long[] answers = hits.answers();
        acquireAll(handle, hits.hits, hits.users, answers);
        return Hits.decisions(answers);
    }

    private Hits submit(Hits unnumbered, boolean awaited) {
        Hits hits = Completions.enter(number -> unnumbered.numbered(number, awaited));
        if (hits == null) {
            // Too many are under way: this caller waits itself.
            unnumbered.complete(decide(unnumbered));
            return unnumbered;
        }
        long[] answers = hits.answers();
        boolean pending = false;
        try {
            pending = !submitAll(handle, hits.hits, hits.users, hits.number, answers);
        } finally {
            if (!pending) {
                Completions.leave(hits);
            }
        }
        if (!pending) {
            hits.complete(Hits.decisions(answers));
        }
        return hits;
    }

    private void check(Rule rule) {
        Objects.requireNonNull(rule, "rule is null: register one with Tollgate.rule");
        if (rule.owner() != this) {
            throw new IllegalArgumentException("rule " + rule + " belongs to another limiter: register it with this one");
        }
    }

    private Decision decide(Rule rule, byte[] user) {
        long[] answer = new long[ANSWER];
        acquire(handle, rule.handle(), user, length(user), answer);
        return decision(answer, 0);
    }

    private Hit submit(Rule rule, byte[] user, boolean awaited) {
        Hit hit = Completions.enter(awaited);
        if (hit == null) {
            // Too many are under way: this caller waits itself.
            hit = new Hit(0, awaited);
            hit.complete(decide(rule, user));
            return hit;
        }
        long[] answer = new long[ANSWER];
        boolean pending = false;
        try {
            pending = !submit(handle, rule.handle(), user, length(user), hit.number, answer);
        } finally {
            if (!pending) {
                Completions.leave(hit);
            }
        }
        if (!pending) {
            hit.complete(decision(answer, 0));
        }
        return hit;
    }

    private static int length(byte[] user) {
        return user == null ? 0 : user.length;
    }

    static Decision decision(long[] answers, int at) {
        return new Decision(answers[at], answers[at + 1], answers[at + 2], answers[at + 3], answers[at + 4]);
    }

    /**
     * What stands in the store for a user: a look, which counts nothing and changes nothing, not even the window's end. Blocks for
     * a second at most. What this process counted by itself while the store was away isn't there.
     *
     * @param rule a rule of this limiter
     * @param user whose counter, as in {@link #acquire(Rule, String)}
     * @return the counter; null where nothing is counted, also for nobody
     * @throws IllegalArgumentException the rule belongs to another limiter
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        the store didn't answer, or something stands there that is no counter; the message says which
     */
    public Counter counter(Rule rule, String user) {
        check(rule);
        byte[] bytes = Wtf8.encode(user);
        long[] values = new long[2];
        return counter(handle, rule.handle(), bytes, length(bytes), values) ? new Counter(values[0], values[1]) : null;
    }

    /**
     * Removes what stands in the store for a user, also something that is no counter: the next hit begins a window. Blocks for a
     * second at most.
     *
     * @param rule a rule of this limiter
     * @param user whose counter, as in {@link #acquire(Rule, String)}
     * @return true if there was something
     * @throws IllegalArgumentException the rule belongs to another limiter
     * @throws IllegalStateException    the limiter is closed
     * @throws TollgateException        the store refused or didn't answer
     */
    public boolean clear(Rule rule, String user) {
        check(rule);
        byte[] bytes = Wtf8.encode(user);
        return clear(handle, rule.handle(), bytes, length(bytes));
    }

    /**
     * The live configuration.
     *
     * @return a view that reads and writes the store
     */
    public Settings settings() {
        return settings;
    }

    /**
     * What this limiter has done so far.
     *
     * @return a snapshot
     * @throws IllegalStateException the limiter is closed
     */
    public Stats stats() {
        long[] values = new long[Stats.LENGTH];
        String storeFault = stats(handle, values);
        return new Stats(values, storeFault);
    }

    /**
     * Where the counters are, for a log line.
     *
     * @return like {@code memory} or {@code redis 127.0.0.1:6379}; never a password
     */
    public String store() {
        return store;
    }

    /**
     * Whether {@link #close()} was called.
     *
     * @return true from then on
     */
    public boolean isClosed() {
        return closed.get();
    }

    /**
     * Closes the limiter and its connections. Calls and stages that are under way are answered as if nothing had happened, by their
     * deadline at the latest; this doesn't wait for them. Closing twice does nothing.
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                close(handle);
            } finally {
                release();
            }
        }
    }

    @Override
    public String toString() {
        return "Tollgate(" + store + (isClosed() ? ", closed)" : ")");
    }

    long handle() {
        return handle;
    }

    private static void release() {
        Completions.release();
        NativeLogs.release();
    }

    private static native long open(
            byte[] url, long deadlineNanos, long connectTimeoutNanos, int onFault, byte[] prefix, long maxCounters);

    private static native String store(long limiter);

    private static native void acquire(long limiter, long rule, byte[] user, int length, long[] answer);

    /** Whether the answer is there at once; else it comes through {@link Completions} with the number of the hit. */
    private static native boolean submit(long limiter, long rule, byte[] user, int length, long hit, long[] answer);

    /** A hit is three longs: its rule, where its user begins among all users' bytes, how long it is; negative for nobody. */
    private static native void acquireAll(long limiter, long[] hits, byte[] users, long[] answers);

    /** Whether the answers are there at once; else they come through {@link Completions}, each with the number of the call. */
    private static native boolean submitAll(long limiter, long[] hits, byte[] users, long call, long[] answers);

    /** Whether there is one: its count, and the milliseconds until its window ends. */
    private static native boolean counter(long limiter, long rule, byte[] user, int length, long[] values);

    private static native boolean clear(long limiter, long rule, byte[] user, int length);

    /** Why the store can't be asked, or null. */
    private static native String stats(long limiter, long[] values);

    private static native void close(long limiter);

    /** Collects a limiter's options. For one thread. */
    public static final class Builder {
        private static final long UNSAID = -1;

        private String url = "memory:";
        private long deadlineNanos = UNSAID;
        private long connectTimeoutNanos = UNSAID;
        private OnFault onFault;
        private String prefix;
        private long maxCounters = UNSAID;

        private Builder() {}

        /**
         * Where counters and settings are kept.
         *
         * @param url as in {@link Tollgate#open(String)}; {@code memory:} if not said
         * @return this builder
         */
        public Builder url(String url) {
            this.url = Objects.requireNonNull(url, "url is null: give one, like redis://127.0.0.1:6379 or memory:");
            return this;
        }

        /**
         * How long a decision may take, waiting and queueing included; what isn't answered by then is a fault.
         *
         * @param deadline 1 ms to 60 s; 100 ms if not said
         * @return this builder
         */
        public Builder deadline(Duration deadline) {
            this.deadlineNanos = nanos("deadline", deadline);
            return this;
        }

        /**
         * How long {@link #open()} waits for the first connection before it goes on without one.
         *
         * @param timeout 0 (not at all) to 60 s; 1 s if not said
         * @return this builder
         */
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeoutNanos = nanos("connectTimeout", timeout);
            return this;
        }

        /**
         * What happens to requests while the store can't answer, for rules that don't say otherwise.
         *
         * @param policy {@link OnFault#ALLOW} if not said
         * @return this builder
         */
        public Builder onFault(OnFault policy) {
            this.onFault = Objects.requireNonNull(policy, "onFault is null: leave it out for ALLOW");
            return this;
        }

        /**
         * The first part of every key in the store.
         *
         * @param prefix 64 bytes at most, without white space or braces; {@code ratelimit} if not said
         * @return this builder
         */
        public Builder prefix(String prefix) {
            this.prefix = Objects.requireNonNull(prefix, "prefix is null: leave it out for ratelimit");
            return this;
        }

        /**
         * How many counters this process may hold in memory.
         *
         * @param counters 1 to 100,000,000; 1,000,000 if not said
         * @return this builder
         */
        public Builder maxCounters(long counters) {
            if (counters < 0) {
                throw new IllegalArgumentException("maxCounters " + counters + " is negative: give 1 to 100000000");
            }
            this.maxCounters = counters;
            return this;
        }

        /**
         * Opens the limiter.
         *
         * @return the limiter; close it when it is no longer needed
         * @throws IllegalArgumentException an option or the URL isn't usable; the message names it, the value and the remedy
         * @throws LibraryLoadException     the native library can't be used on this machine
         */
        public Tollgate open() {
            NativeLibrary.load();
            NativeLogs.retain();
            Completions.retain();
            boolean opened = false;
            try {
                long handle = Tollgate.open(Wtf8.encode(url), deadlineNanos, connectTimeoutNanos, OnFault.code(onFault),
                        Wtf8.encode(prefix), maxCounters);
                Tollgate tollgate = new Tollgate(handle);
                opened = true;
                return tollgate;
            } finally {
                if (!opened) {
                    release();
                }
            }
        }

        static long nanos(String option, Duration duration) {
            Objects.requireNonNull(duration, () -> option + " is null: leave it out for the default");
            if (duration.isNegative()) {
                throw new IllegalArgumentException(option + ' ' + duration + " is negative: give a duration like PT0.1S");
            }
            try {
                return duration.toNanos();
            } catch (ArithmeticException e) {
                throw new IllegalArgumentException(option + ' ' + duration + " is too long: give a duration like PT0.1S");
            }
        }
    }
}
