package io.tollgate.spring;

import io.tollgate.TollgateException;
import java.util.Collection;
import java.util.Objects;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;

/**
 * What an adapter asks: may this request go on? A guest's manners are kept here: nothing that fails behind it reaches the
 * host. The request passes, and an error log names the cause. Thread-safe.
 *
 * <p>The engine is made on first use, so that a missing library or a bad setting can't keep the host from starting. It is
 * tried once: what was wrong then needs a restart.
 */
public final class RateLimitGate {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitGate.class);

    private final Supplier<RateLimitEngine> source;
    private final FaultLog faults = new FaultLog(LOG, System::nanoTime);
    private volatile Opened opened;

    /**
     * A gate.
     *
     * @param engine makes the engine; may throw
     */
    public RateLimitGate(Supplier<RateLimitEngine> engine) {
        this.source = Objects.requireNonNull(engine, "engine");
    }

    /**
     * Decides whether a request may call a guarded method; where it may not, the answer is written. Never throws.
     *
     * @param method   what it is about to call
     * @param request  the request
     * @param response where a rejection is answered
     * @return true if the request may go on
     */
    public boolean admit(GuardedMethod method, GuardedRequest request, RejectionResponse response) {
        try {
            Opened engine = open();
            if (engine.engine != null) {
                return engine.engine.admit(method, request, response);
            }
            faults.error("tollgate: " + method + " is NOT LIMITED: " + reason(engine.failure), null);
        } catch (Throwable e) {
            faults.error("tollgate: a request for " + method + " was NOT LIMITED: " + e, e);
        }
        return true;
    }

    /**
     * Registers rules ahead of their first request and says in one line where counts are kept and how much is guarded. Never
     * throws.
     *
     * @param methods the guarded methods that were found
     * @param where   what they belong to, empty for the application
     */
    public void announce(Collection<GuardedMethod> methods, String where) {
        String count = methods.size() + (methods.size() == 1 ? " guarded method" : " guarded methods") + where;
        try {
            Opened engine = open();
            if (engine.engine == null) {
                // What somebody has to set right says so in its message; anything else is for developers.
                boolean isClear = engine.failure instanceof IllegalArgumentException || engine.failure instanceof TollgateException;
                LOG.error("tollgate: NOT LIMITING, {}: {}", count, reason(engine.failure), isClear ? null : engine.failure);
                return;
            }
            String store = engine.engine.store();
            LOG.info("tollgate: {}, {}", store.equals("memory")
                    ? "memory store (counts per process; set tollgate.redis.url to share)" : store, count);
            for (GuardedMethod method : methods) {
                register(engine.engine, method);
            }
        } catch (Throwable e) {
            LOG.error("tollgate: {} could not be prepared", count, e);
        }
    }

    private static void register(RateLimitEngine engine, GuardedMethod method) {
        try {
            engine.register(method);
        } catch (RuntimeException e) {
            LOG.error("tollgate: {} is NOT LIMITED: {}", method, e.getMessage(), e);
        }
    }

    private Opened open() {
        Opened known = opened;
        return known != null ? known : openOnce();
    }

    private synchronized Opened openOnce() {
        if (opened == null) {
            try {
                opened = new Opened(source.get(), null);
            } catch (Exception | LinkageError e) {
                opened = new Opened(null, cause(e));
            }
        }
        return opened;
    }

    /** Spring wraps what went wrong in a layer for each bean on the way. */
    private static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof BeansException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String reason(Throwable cause) {
        return cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }

    private static final class Opened {
        private final RateLimitEngine engine;
        private final Throwable failure;

        Opened(RateLimitEngine engine, Throwable failure) {
            this.engine = engine;
            this.failure = failure;
        }
    }
}
