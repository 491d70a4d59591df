package io.tollgate.spring.record;

import io.tollgate.Outcome;
import io.tollgate.spring.FaultLog;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stands between requests and a recorder: a request's thread only leaves its row here, one daemon thread hands rows on. A
 * recorder that is stuck or fails costs rows, which are counted, and never a request's time. Thread-safe.
 *
 * <pre>{@code
 * try (InterceptionQueue records = new InterceptionQueue(new JdbcInterceptionRecorder(dataSource))) {
 *     records.offer(row);
 * }
 * }</pre>
 */
public final class InterceptionQueue implements AutoCloseable {
    /** How many rows wait at most unless said otherwise. */
    public static final int DEFAULT_CAPACITY = 1_024;

    private static final Logger LOG = LoggerFactory.getLogger(InterceptionQueue.class);
    private static final String HOW_TO_SWITCH_OFF = " Limiting goes on. To do without records set tollgate.records.enabled=false, or "
            + "the field log.check of the configuration in Redis to false, which works at once";
    private static final long DRAIN_MILLIS = 2_000;
    private static final long INTERRUPTED_MILLIS = 500;
    /** The last in the queue: wakes the thread to end. */
    private static final Interception END = Interception.of(Instant.EPOCH, "end", "end", Outcome.OFF).build();

    private final InterceptionRecorder recorder;
    private final int capacity;
    private final BlockingQueue<Interception> queue;
    private final Thread thread;
    private final FaultLog failures = new FaultLog(LOG);
    private final FaultLog overflows = new FaultLog(LOG);
    private final AtomicLong recorded = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final Object lifeLock = new Object();
    private volatile boolean started;
    private volatile boolean closed;
    private volatile boolean abandoned;
    private volatile boolean ended;

    /**
     * A queue for {@value #DEFAULT_CAPACITY} rows.
     *
     * @param recorder writes them; stays the caller's to close
     */
    public InterceptionQueue(InterceptionRecorder recorder) {
        this(recorder, DEFAULT_CAPACITY);
    }

    /**
     * A queue.
     *
     * @param recorder writes the rows; stays the caller's to close
     * @param capacity how many rows wait at most, 1 to 1,000,000; what comes beyond is dropped and counted
     * @throws IllegalArgumentException where the capacity is out of range
     */
    public InterceptionQueue(InterceptionRecorder recorder, int capacity) {
        this.recorder = Objects.requireNonNull(recorder, "recorder");
        if (capacity < 1 || capacity > 1_000_000) {
            throw new IllegalArgumentException("a queue of " + capacity + " records is out of range: give 1 to 1000000");
        }
        this.capacity = capacity;
        this.queue = new ArrayBlockingQueue<>(capacity);
        // Made here, since a thread inherits from its maker, and a request's security context must not live on in this one.
        this.thread = new Thread(null, this::run, "tollgate-records");
        this.thread.setDaemon(true);
    }

    /**
     * Leaves a row to be written. Never waits, never throws.
     *
     * @param row what was turned away
     * @return false if it was dropped: the queue is full or closed
     */
    public boolean offer(Interception row) {
        try {
            if (!closed && start() && queue.offer(row)) {
                // Unless close() had emptied the queue just before.
                if (!ended || !queue.remove(row)) {
                    return true;
                }
            } else if (!closed) {
                say(overflows, capacity + " rejections wait to be recorded, one more is dropped: does the database hang?", null);
            }
        } catch (Throwable e) {
            say(overflows, "a rejection can't be queued for its record: " + e + '.', e);
        }
        dropped.incrementAndGet();
        return false;
    }

    /**
     * Rows that the recorder took.
     *
     * @return 0 or more
     */
    public long recorded() {
        return recorded.get();
    }

    /**
     * Rows that the recorder threw at.
     *
     * @return 0 or more
     */
    public long failed() {
        return failed.get();
    }

    /**
     * Rows that never came to the recorder: the queue was full, or closed before it was empty.
     *
     * @return 0 or more
     */
    public long dropped() {
        return dropped.get();
    }

    /**
     * Rows that wait.
     *
     * @return 0 to the capacity
     */
    public int queued() {
        return queue.size();
    }

    /** Takes no more rows, gives those that wait 2 seconds to be written, then interrupts the recorder and drops what is left. */
    @Override
    public void close() {
        synchronized (lifeLock) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // Where it doesn't fit the thread isn't waiting for a row and will see the flag.
        queue.offer(END);
        boolean isStuck = started && Thread.currentThread() != thread && !end();
        abandoned = true;
        ended = true;
        List<Interception> left = new ArrayList<>();
        queue.drainTo(left);
        left.remove(END);
        dropped.addAndGet(left.size());
        if (isStuck || !left.isEmpty()) {
            LOG.warn("tollgate: {} rejections were not recorded before the end{} ({} recorded, {} failed, {} dropped in all)", left.size(),
                    isStuck ? ", and the recorder doesn't return: its thread tollgate-records keeps this application in memory until it "
                            + "does. A timeout in the driver's URL (socketTimeout) ends it" : "", recorded, failed, dropped);
        }
    }

    /** Whether the thread has ended, which has some time to. */
    private boolean end() {
        boolean isInterrupted = Thread.interrupted();
        isInterrupted |= join(isInterrupted ? 1 : DRAIN_MILLIS);
        if (thread.isAlive()) {
            abandoned = true;
            thread.interrupt();
            isInterrupted |= join(INTERRUPTED_MILLIS);
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    /** Whether somebody wants the caller of close() to hurry. */
    private boolean join(long millis) {
        try {
            thread.join(millis);
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    private boolean start() {
        if (!started) {
            synchronized (lifeLock) {
                if (!started && !closed) {
                    thread.start();
                    started = true;
                }
            }
        }
        return started;
    }

    private void run() {
        while (!abandoned) {
            try {
                Interception row = queue.take();
                if (row == END) {
                    return;
                }
                hand(row);
                if (closed && queue.isEmpty()) {
                    return;
                }
            } catch (InterruptedException e) {
                // Not from close(), which would have said so: a container's sweep, perhaps. Rows go on.
            }
        }
    }

    private void hand(Interception row) {
        Throwable failure = null;
        try {
            recorder.record(row);
        } catch (Throwable e) {
            failure = e;
        }
        // An interrupt isn't the next row's, nor the log's: it would close the channel of a file that is written to.
        Thread.interrupted();
        if (failure == null) {
            recorded.incrementAndGet();
        } else {
            failed.incrementAndGet();
            say(failures, "a rejection by " + row.module() + '.' + row.rule() + " was not recorded: "
                    + (failure.getMessage() != null ? failure.getMessage() : failure.toString()) + '.', failure);
        }
    }

    private static void say(FaultLog log, String what, Throwable cause) {
        try {
            log.error("tollgate: " + what + HOW_TO_SWITCH_OFF, cause);
        } catch (Throwable ignored) {
            // An appender that fails, or no memory: there is nobody left to tell.
        }
    }
}
