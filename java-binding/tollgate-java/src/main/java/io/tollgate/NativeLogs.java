package io.tollgate;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries what the native code logs to SLF4J: one daemon thread that lives while a limiter is open. The native side keeps the
 * waiting lines, bounded, so that a slow appender costs lines and no memory, and never a request's time.
 */
final class NativeLogs {
    private static final Logger LOG = LoggerFactory.getLogger("tollgate");
    /** Also how soon a changed level of the logger is noticed while nothing is logged. */
    private static final long WAIT_MILLIS = 5_000;
    private static final long JOIN_MILLIS = 1_000;

    private static final int ERROR = 1;
    private static final int WARN = 2;
    private static final int INFO = 3;
    private static final int DEBUG = 4;
    private static final int TRACE = 5;

    private static final Object LOCK = new Object();
    private static int open;
    private static Thread pump;

    private NativeLogs() {}

    /** One limiter more is open, or about to be. */
    static void retain() {
        synchronized (LOCK) {
            if (open++ == 0) {
                long turn = start(level());
                pump = new Thread(null, () -> pump(turn), "tollgate-log");
                pump.setDaemon(true);
                // The creator's may be a web application's, which must stay collectable.
                pump.setContextClassLoader(NativeLogs.class.getClassLoader());
                pump.start();
            }
        }
    }

    /** One limiter less is open; the last one waits a moment for its lines to be written. */
    static void release() {
        Thread last = null;
        synchronized (LOCK) {
            if (--open == 0) {
                last = pump;
                pump = null;
                stop();
            }
        }
        if (last != null && last != Thread.currentThread()) {
            try {
                last.join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void pump(long turn) {
        boolean last;
        do {
            // Asked before taking, so that what was logged until the end is still taken.
            last = isOver();
            String[] lines = take(turn, level(), WAIT_MILLIS);
            for (int i = 0; i < lines.length; i += 2) {
                write(lines[i].charAt(0) - '0', lines[i + 1]);
            }
        } while (!last);
    }

    private static boolean isOver() {
        synchronized (LOCK) {
            return pump != Thread.currentThread();
        }
    }

    private static int level() {
        return LOG.isTraceEnabled() ? TRACE : LOG.isDebugEnabled() ? DEBUG : LOG.isInfoEnabled() ? INFO
                : LOG.isWarnEnabled() ? WARN : LOG.isErrorEnabled() ? ERROR : 0;
    }

    private static void write(int level, String line) {
        try {
            switch (level) {
                case ERROR:
                    LOG.error(line);
                    break;
                case WARN:
                    LOG.warn(line);
                    break;
                case INFO:
                    LOG.info(line);
                    break;
                case DEBUG:
                    LOG.debug(line);
                    break;
                default:
                    LOG.trace(line);
            }
        } catch (Throwable ignored) {
            // An appender that fails must not end the pump; there is nobody to tell.
        }
    }

    /** Lets the native side keep lines up to this level, for whoever takes with the turn that this gives. */
    private static native long start(int level);

    /**
     * Waits for lines, none once the time or the turn is over: level digit and text by turns. Sets the level up to which lines
     * are kept from now on.
     */
    private static native String[] take(long turn, int level, long waitMillis);

    /** Ends the turn; no more lines are kept. */
    private static native void stop();
}
