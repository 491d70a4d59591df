package io.tollgate.spring;

import io.tollgate.Decision;
import io.tollgate.Rule;
import io.tollgate.Tollgate;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The way of a request: identity, decision, and the answer to a rejection. Thread-safe. */
public final class RateLimitEngine {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitEngine.class);
    private static final JsonRejectionHandler FALLBACK = new JsonRejectionHandler();

    private final Tollgate tollgate;
    private final IdentityChain identities;
    private final MessageResolver messages;
    private final RejectionHandler rejections;
    private final ConcurrentMap<GuardedMethod, Rule> rules = new ConcurrentHashMap<>();
    private final FaultLog messageFaults = new FaultLog(LOG, System::nanoTime);
    private final FaultLog answerFaults = new FaultLog(LOG, System::nanoTime);

    /**
     * Puts the parts together.
     *
     * @param tollgate   decides; stays the caller's to close
     * @param identities say who asks
     * @param messages   say what a rejected user reads
     * @param rejections answer
     */
    public RateLimitEngine(Tollgate tollgate, IdentityChain identities, MessageResolver messages, RejectionHandler rejections) {
        this.tollgate = Objects.requireNonNull(tollgate, "tollgate");
        this.identities = Objects.requireNonNull(identities, "identities");
        this.messages = Objects.requireNonNull(messages, "messages");
        this.rejections = Objects.requireNonNull(rejections, "rejections");
    }

    /** The limiter's store, for a log line. */
    String store() {
        return tollgate.store();
    }

    /** Registers the method's rule, once; throws what the limiter has to say against its values. */
    Rule register(GuardedMethod method) {
        Rule known = rules.get(method);
        return known != null ? known : rules.computeIfAbsent(method, guarded ->
                tollgate.rule(guarded.module(), guarded.rule())
                        .interval(guarded.interval())
                        .limit(guarded.limit())
                        .messageKey(guarded.messageKey())
                        .register());
    }

    /** Decides, once for each rule of a request, and answers a rejection. True if the request may go on. */
    boolean admit(GuardedMethod method, GuardedRequest request, RejectionResponse response) {
        Object earlier = request.attribute(method.attribute());
        if (earlier == null) {
            // Before anything can fail: a later dispatch of this request must not be counted, let alone rejected, half-way.
            request.setAttribute(method.attribute(), Boolean.TRUE);
            Decision decision = tollgate.acquire(register(method), identities.resolve(request, method));
            if (decision.isAllowed()) {
                return true;
            }
            request.setAttribute(method.attribute(), decision);
            earlier = decision;
        }
        if (earlier instanceof Decision) {
            answer(new Rejection(method, (Decision) earlier, request, text(method, request)), response);
            return false;
        }
        return true;
    }

    private String text(GuardedMethod method, GuardedRequest request) {
        try {
            String text = messages.resolve(method, request.locale());
            return text != null ? text : method.messageKey();
        } catch (Exception | LinkageError e) {
            messageFaults.error("tollgate: no text for " + method + ", the raw key is shown", e);
            return method.messageKey();
        }
    }

    private void answer(Rejection rejection, RejectionResponse response) {
        try {
            rejections.handle(rejection, response);
        } catch (Exception | LinkageError e) {
            answerFaults.error("tollgate: " + rejections + " failed for " + rejection.method() + ", the default answer is tried", e);
            try {
                FALLBACK.handle(rejection, response);
            } catch (IOException | RuntimeException again) {
                LOG.debug("tollgate: the rejection by {} stays without an answer", rejection.method(), again);
            }
        }
    }
}
