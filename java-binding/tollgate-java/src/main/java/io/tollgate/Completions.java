package io.tollgate;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * Carries decisions that come later from the native side to their hits: one daemon thread, from the first such hit until
 * the last limiter is closed and all are answered. It runs nothing of a caller's, so no caller can hold up another's decision.
 */
final class Completions {
    /** Hits that are under way at most, in all limiters; also bounds what waits natively and for {@link Stages}. */
    static final int MAX_HITS = 65_536;

    /** Longs of a completion: the hit's number, then an answer. */
    private static final int LENGTH = 6;
    private static final int BATCH = 512;
    private static final long WAIT_MILLIS = 5_000;
    private static final long JOIN_MILLIS = 1_000;
    /** Head of an answer that a defect took the place of. */
    private static final int DEFECT = -1;

    private static final ConcurrentHashMap<Long, Awaited<?>> HITS = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong();
    /** Hits whose callers' stages haven't been run yet; raised before {@link #pump} is looked at. */
    private static final AtomicInteger UNDER_WAY = new AtomicInteger();

    private static final Object LOCK = new Object();
    private static volatile int open;
    private static volatile Thread pump;

    private Completions() {}

    /** One limiter more is open, or about to be. */
    static void retain() {
        synchronized (LOCK) {
            open++;
        }
    }

    /** One limiter less is open. With the last one the thread ends, at once where no hit is under way. */
    static void release() {
        Thread last;
        synchronized (LOCK) {
            last = --open == 0 ? pump : null;
        }
        if (last == null) {
            return;
        }
        wake();
        // Whoever closes from a stage finds its own hit under way.
        if (UNDER_WAY.get() == 0) {
            try {
                last.join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A hit to submit, or null when too many are under way. */
    static Hit enter(boolean awaited) {
        return enter(number -> new Hit(number, awaited));
    }

    /** A call to submit, made with its number, or null when too many are under way. */
    static <T extends Awaited<?>> T enter(LongFunction<T> make) {
        if (UNDER_WAY.incrementAndGet() > MAX_HITS) {
            left();
            return null;
        }
        T hit = make.apply(NUMBERS.incrementAndGet());
        try {
            if (pump == null) {
                start();
            }
            HITS.put(hit.number, hit);
        } catch (Throwable e) {
            left();
            throw e;
        }
        return hit;
    }

    /** Takes a hit back for which no completion will come. */
    static void leave(Awaited<?> hit) {
        HITS.remove(hit.number);
        left();
    }

    private static void left() {
        if (UNDER_WAY.decrementAndGet() == 0 && open == 0 && pump != null) {
            wake();
        }
    }

    private static void start() {
        synchronized (LOCK) {
            if (pump == null) {
                Thread thread = new Thread(null, Completions::pump, "tollgate-async");
                thread.setDaemon(true);
                // The creator's may be a web application's, which must stay collectable.
                thread.setContextClassLoader(Completions.class.getClassLoader());
                // What is logged for the last hits is written too.
                NativeLogs.retain();
                boolean started = false;
                try {
                    thread.start();
                    started = true;
                    pump = thread;
                } finally {
                    if (!started) {
                        NativeLogs.release();
                    }
                }
            }
        }
    }

    private static void pump() {
        Stages stages = new Stages();
        try {
            long[] completions = new long[BATCH * LENGTH];
            do {
                int count = take(completions, BATCH, stages.isWaiting() ? Stages.STUCK_MILLIS : WAIT_MILLIS);
                for (int at = 0; at < count * LENGTH; at += LENGTH) {
                    Awaited<?> hit = HITS.get(completions[at]);
                    if (hit != null) {
                        deliver(stages, hit, completions, at + 1);
                    }
                }
                stages.watch();
            } while (!isOver());
        } finally {
            stages.end();
            NativeLogs.release();
        }
    }

    static void deliver(Stages stages, Awaited<?> hit, long[] answers, int at) {
        try {
            if (answers[at] == DEFECT) {
                throw new TollgateException(
                        "a defect in tollgate ended this hit, its log says which; the limiter goes on working, please report it");
            }
            if (!hit.take(Tollgate.decision(answers, at))) {
                return;
            }
            if (hit.awaited) {
                finish(hit, null);
            } else {
                stages.run(() -> finish(hit, null));
            }
        } catch (Throwable e) {
            stages.run(() -> finish(hit, e));
        }
    }

    private static void finish(Awaited<?> hit, Throwable failure) {
        // Whoever removes it completes it.
        if (HITS.remove(hit.number) == null) {
            return;
        }
        try {
            if (failure == null) {
                hit.completeAsTaken();
            } else {
                hit.completeExceptionally(failure);
            }
        } finally {
            left();
        }
    }

    /** Whether the thread is no longer needed; then another may start. */
    private static boolean isOver() {
        synchronized (LOCK) {
            if (open > 0 || UNDER_WAY.get() > 0) {
                return false;
            }
            pump = null;
            // Whoever entered before it was null counts on it.
            if (UNDER_WAY.get() > 0) {
                pump = Thread.currentThread();
                return false;
            }
            return true;
        }
    }

    /**
     * Moves completions into the array, {@code max} at most: a hit's number and its answer each. With none there waits for one,
     * for a wake or for the end of the time.
     *
     * @return how many
     */
    private static native int take(long[] completions, int max, long waitMillis);

    /** Ends the wait of {@link #take}, now or next. */
    private static native void wake();
}
