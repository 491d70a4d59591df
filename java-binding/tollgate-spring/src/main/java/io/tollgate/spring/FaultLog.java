package io.tollgate.spring;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Logs an error at once and then at most every 10 seconds, with the number of those left out. For tollgate's own packages.
 * Thread-safe.
 */
public final class FaultLog {
    static final long PERIOD_NANOS = 10_000_000_000L;

    private final Logger log;
    private final LongSupplier nanos;
    private final AtomicLong next;
    private final AtomicLong suppressed = new AtomicLong();

    /**
     * A bounded way into a logger.
     *
     * @param log where the lines go
     */
    public FaultLog(Logger log) {
        this(log, System::nanoTime);
    }

    FaultLog(Logger log, LongSupplier nanos) {
        this.log = log;
        this.nanos = nanos;
        this.next = new AtomicLong(nanos.getAsLong());
    }

    /**
     * Logs, or counts what isn't logged.
     *
     * @param message what went wrong, and the remedy
     * @param cause   for the stack trace; may be null
     */
    public void error(String message, Throwable cause) {
        long now = nanos.getAsLong();
        long due = next.get();
        // Nanoseconds of this clock may wrap: compare differences.
        if (now - due >= 0 && next.compareAndSet(due, now + PERIOD_NANOS)) {
            long left = suppressed.getAndSet(0);
            log.error(left == 0 ? message : message + " (" + left + " more like this were not logged)", cause);
        } else {
            suppressed.incrementAndGet();
        }
    }
}
