package io.tollgate;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that complete callers' stages, and so run what callers hang on them. One is enough while stages are quick; where one
 * doesn't return the next takes over, so that others get their decisions.
 */
final class Stages {
    static final int MAX_THREADS = 32;
    /** How long nothing may move before another thread starts. */
    static final long STUCK_MILLIS = 10;
    private static final long IDLE_MILLIS = 5_000;

    private final ThreadPoolExecutor pool;
    private Runnable head;
    private long since;

    Stages() {
        pool = new ThreadPoolExecutor(1, 1, IDLE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), Stages::thread);
        pool.allowCoreThreadTimeOut(true);
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(null, work, "tollgate-stage");
        thread.setDaemon(true);
        // The creator's may be a web application's, which must stay collectable.
        thread.setContextClassLoader(Stages.class.getClassLoader());
        return thread;
    }

    /** Runs something that may run twice: it does where no thread can be had just then. */
    void run(Runnable completion) {
        try {
            pool.execute(completion);
        } catch (Throwable e) {
            completion.run();
        }
    }

    /** Whether something waits, so that {@link #watch} is due within {@link #STUCK_MILLIS}. */
    boolean isWaiting() {
        return !pool.getQueue().isEmpty();
    }

    /** Starts another thread where all are stuck, and lets those go that are free when nothing waits, but one. For one thread. */
    void watch() {
        Runnable first = pool.getQueue().peek();
        if (first == null) {
            int enough = pool.getActiveCount() + 1;
            if (enough < pool.getCorePoolSize()) {
                pool.setCorePoolSize(enough);
                pool.setMaximumPoolSize(enough);
            }
        } else if (first == head && System.nanoTime() - since >= TimeUnit.MILLISECONDS.toNanos(STUCK_MILLIS)) {
            grow();
            first = null;
        }
        if (first != head) {
            head = first;
            since = System.nanoTime();
        }
    }

    private void grow() {
        int more = Math.min(Math.max(pool.getCorePoolSize(), pool.getPoolSize()) + 1, MAX_THREADS);
        try {
            pool.setMaximumPoolSize(more);
            pool.setCorePoolSize(more);
        } catch (Throwable e) {
            // No thread can be had; the next look tries again.
        }
    }

    void end() {
        pool.shutdown();
    }
}
