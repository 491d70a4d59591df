package io.tollgate.spring;

import io.tollgate.TollgateException;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
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
    /** What {@link #admitAsync} is asked about. The aspect can't see those requests on its thread. */
    private final Set<GuardedMethod> asynchronous = ConcurrentHashMap.newKeySet();
    private final Set<GuardedMethod> waiting = ConcurrentHashMap.newKeySet();
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
     * Decides whether a request may reach a handler; where it may not, the answer is written. What can only be decided when the method is
     * called is left to the aspect. Never throws.
     *
     * @param method   what it is about to call
     * @param bean     that the method is called on
     * @param request  the request
     * @param response where a rejection is answered
     * @return true if the request may go on
     */
    public boolean admit(GuardedMethod method, Object bean, GuardedRequest request, RejectionResponse response) {
        RateLimited limited = prepare(method, bean, request) ? ask(method, engine -> engine.decideOnce(new Call(method, request))) : null;
        if (limited != null) {
            answer(limited, request, response);
        }
        return limited == null;
    }

    /**
     * The same without waiting and without an answer.
     *
     * @param method  what the request is about to call
     * @param bean    that the method is called on
     * @param request the request
     * @return completes, never exceptionally, with null if the request may go on
     */
    public CompletionStage<RateLimited> admitAsync(GuardedMethod method, Object bean, GuardedRequest request) {
        expectAsync(method);
        return prepare(method, bean, request)
                ? askAsync(method, engine -> engine.decideOnceAsync(new Call(method, request))) : CompletableFuture.completedFuture(null);
    }

    /**
     * Says that requests for a method come by {@link #admitAsync}. The aspect leaves to that what needs no arguments, as it can't tell from
     * its thread that it was done.
     *
     * @param method a handler
     */
    public void expectAsync(GuardedMethod method) {
        if (!asynchronous.contains(method)) {
            asynchronous.add(method);
        }
    }

    /**
     * Answers a request that was turned away. Never throws.
     *
     * @param limited  what was turned away, and why
     * @param request  the request
     * @param response where to answer
     */
    public void answer(RateLimited limited, GuardedRequest request, RejectionResponse response) {
        ask(limited.method(), engine -> {
            engine.answer(new Rejection(limited, request), response);
            return null;
        });
    }

    /** Tells the aspect what the interceptor does; true if that is to decide. */
    private boolean prepare(GuardedMethod method, Object bean, GuardedRequest request) {
        if (!method.isByInvocation()) {
            request.setAttribute(method.attribute(), Mark.DECIDED);
            return true;
        }
        if (RateLimitAdvisor.isMountedOn(bean)) {
            request.setAttribute(method.attribute(), Mark.LEFT_TO_ASPECT);
        } else {
            faults.error("tollgate: " + method + " is NOT LIMITED: it looks at arguments or returns something in place of the method, which takes "
                    + "the aspect. Add spring-boot-starter-aop (spring-boot-starter-aspectj from Spring Boot 4 on).", null);
        }
        return false;
    }

    /** Whether the aspect has to decide a call. */
    boolean isOpenFor(Call call) {
        Object mark = call.request().attribute(call.method().attribute());
        if (call.request() == NoRequest.INSTANCE && asynchronous.contains(call.method())) {
            return call.method().isByInvocation();
        }
        // An annotation on a controller's class means its handlers; those have come by the interceptor.
        return mark == null ? !call.method().isHandlersOnly() : mark == Mark.LEFT_TO_ASPECT;
    }

    /** Says, once for each method, that an event loop waits for its decision. */
    void warnOfWaiting(GuardedMethod method) {
        if (waiting.add(method)) {
            LOG.warn("tollgate: an event loop waits for the decision on each call of {}, up to the deadline: "
                    + "have it return a Mono, a Flux or a CompletableFuture, or call it from another thread", method);
        }
    }

    /** What the aspect asks; null if the call may be made. Never throws. */
    RateLimited check(Call call) {
        return ask(call.method(), engine -> isHandler(call) ? engine.decideOnce(call) : engine.decide(call));
    }

    /** The same without waiting. */
    CompletableFuture<RateLimited> checkAsync(Call call) {
        return askAsync(call.method(), engine -> isHandler(call) ? engine.decideOnceAsync(call) : engine.decideAsync(call))
                .toCompletableFuture();
    }

    private static boolean isHandler(Call call) {
        return call.request().attribute(call.method().attribute()) != null;
    }

    private <T> T ask(GuardedMethod method, Function<RateLimitEngine, T> question) {
        try {
            Opened known = open();
            if (known.engine != null) {
                return question.apply(known.engine);
            }
            notLimited(method, known.failure);
        } catch (Throwable e) {
            faults.error("tollgate: a call of " + method + " was NOT LIMITED: " + e, e);
        }
        return null;
    }

    private CompletionStage<RateLimited> askAsync(
            GuardedMethod method, Function<RateLimitEngine, CompletionStage<RateLimited>> question) {
        CompletionStage<RateLimited> answer = ask(method, question);
        return answer == null ? CompletableFuture.completedFuture(null) : answer.exceptionally(e -> {
            faults.error("tollgate: a call of " + method + " was NOT LIMITED: " + e, e);
            return null;
        });
    }

    private void notLimited(GuardedMethod method, Throwable failure) {
        faults.error("tollgate: " + method + " is NOT LIMITED: " + reason(failure), null);
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
                for (GuardedRule rule : method.rules()) {
                    register(engine.engine, rule);
                }
            }
        } catch (Throwable e) {
            LOG.error("tollgate: {} could not be prepared", count, e);
        }
    }

    private static void register(RateLimitEngine engine, GuardedRule rule) {
        try {
            engine.register(rule);
        } catch (RuntimeException e) {
            LOG.error("tollgate: {} is NOT LIMITED by {}: {}", rule.guarded(), rule, e.getMessage(), e);
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

    /** What the interceptor has done about a method in this request. */
    private enum Mark { DECIDED, LEFT_TO_ASPECT }

    private static final class Opened {
        private final RateLimitEngine engine;
        private final Throwable failure;

        Opened(RateLimitEngine engine, Throwable failure) {
            this.engine = engine;
            this.failure = failure;
        }
    }
}
