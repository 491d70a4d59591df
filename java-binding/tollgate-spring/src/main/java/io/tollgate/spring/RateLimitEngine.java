package io.tollgate.spring;

import io.tollgate.Decision;
import io.tollgate.Rule;
import io.tollgate.Tollgate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;

/** The way of a call: conditions, identity, decision, and the answer to a rejection. Thread-safe. */
public final class RateLimitEngine {
    /** The key of the text for a call that is turned away because the limiter can't answer. */
    public static final String UNAVAILABLE_MESSAGE_KEY = "limiter_unavailable";

    private static final Logger LOG = LoggerFactory.getLogger(RateLimitEngine.class);
    private static final JsonRejectionHandler FALLBACK = new JsonRejectionHandler();

    private final Tollgate tollgate;
    private final Identities identities;
    private final MessageResolver messages;
    private final RejectionHandler rejections;
    private final Predicate<GuardedRequest> excluded;
    private final DecisionReport report;
    private final BeanFactory beans;
    private final ConcurrentMap<GuardedRule, Rule> rules = new ConcurrentHashMap<>();
    private final FaultLog messageFaults = new FaultLog(LOG, System::nanoTime);
    private final FaultLog answerFaults = new FaultLog(LOG, System::nanoTime);

    /**
     * Puts the parts together.
     *
     * @param tollgate   decides; stays the caller's to close
     * @param identities say who asks
     * @param messages   say what a rejected user reads
     * @param rejections answer
     * @param excluded   requests that pass uncounted
     * @param report     tells others of decisions
     * @param beans      what expressions know as {@code @name}; null for none
     */
    public RateLimitEngine(Tollgate tollgate, Identities identities, MessageResolver messages, RejectionHandler rejections,
            Predicate<GuardedRequest> excluded, DecisionReport report, BeanFactory beans) {
        this.tollgate = Objects.requireNonNull(tollgate, "tollgate");
        this.identities = Objects.requireNonNull(identities, "identities");
        this.messages = Objects.requireNonNull(messages, "messages");
        this.rejections = Objects.requireNonNull(rejections, "rejections");
        this.excluded = Objects.requireNonNull(excluded, "excluded");
        this.report = Objects.requireNonNull(report, "report");
        this.beans = beans;
    }

    /** The limiter's store, for a log line. */
    String store() {
        return tollgate.store();
    }

    /**
     * The limiter's rule, registered once.
     *
     * @param guarded the annotation's
     * @return what calls of it are counted by
     * @throws IllegalArgumentException the limiter refuses its values; the message says which and why
     */
    public Rule register(GuardedRule guarded) {
        Rule known = rules.get(guarded);
        return known != null ? known : rules.computeIfAbsent(guarded, rule -> {
            Rule.Builder builder = tollgate.rule(rule.module(), rule.rule())
                    .interval(rule.interval())
                    .limit(rule.limit())
                    .messageKey(rule.messageKey());
            return (rule.onFault() == null ? builder : builder.onFault(rule.onFault())).register();
        });
    }

    /** Decides a call, and remembers it for the request, of which further dispatches aren't counted again. Null if the call may be made. */
    RateLimited decideOnce(Call call) {
        OncePerRequest once = new OncePerRequest(call);
        return once.earlier() != null ? once.earlier() : once.remember(decide(call, once.open()));
    }

    /** The same without waiting; completes with null if the call may be made. */
    CompletionStage<RateLimited> decideOnceAsync(Call call) {
        OncePerRequest once = new OncePerRequest(call);
        return once.earlier() != null
                ? CompletableFuture.completedFuture(once.earlier()) : decideAsync(call, once.open()).thenApply(once::remember);
    }

    /** Decides a call that is counted whenever it is made. Null if it may be made. */
    RateLimited decide(Call call) {
        return first(decide(call, call.method().rules()));
    }

    /** The same without waiting. */
    CompletionStage<RateLimited> decideAsync(Call call) {
        return decideAsync(call, call.method().rules()).thenApply(RateLimitEngine::first);
    }

    private List<RateLimited> decide(Call call, List<GuardedRule> open) {
        Charge charge = charge(call, open);
        return charge.isEmpty() ? Collections.emptyList() : conclude(call, charge, charge.acquire(tollgate));
    }

    private CompletionStage<List<RateLimited>> decideAsync(Call call, List<GuardedRule> open) {
        Charge charge = charge(call, open);
        return charge.isEmpty() ? CompletableFuture.completedFuture(Collections.emptyList())
                : charge.acquireAsync(tollgate).thenApply(decisions -> conclude(call, charge, decisions));
    }

    private Charge charge(Call call, List<GuardedRule> open) {
        Charge charge = new Charge();
        if (!excluded.test(call.request())) {
            for (GuardedRule rule : open) {
                if (call.isCounted(rule, identities, beans)) {
                    charge.add(rule, register(rule), call.identity(rule, identities, beans));
                }
            }
        }
        return charge;
    }

    /** Every rejection, the one that answers first. */
    private List<RateLimited> conclude(Call call, Charge charge, List<Decision> decisions) {
        List<RateLimited> limited = new ArrayList<>();
        int tightest = Decision.tightest(decisions);
        for (int i = 0; i < decisions.size(); i++) {
            GuardedRule rule = charge.rule(i);
            Decision decision = decisions.get(i);
            report.tell(rule, decision, charge.identity(i), call.request());
            if (!decision.isAllowed()) {
                limited.add(i == tightest ? 0 : limited.size(),
                        new RateLimited(rule, decision, charge.identity(i), text(rule, decision, call.request())));
            }
        }
        return limited;
    }

    private static RateLimited first(List<RateLimited> limited) {
        return limited.isEmpty() ? null : limited.get(0);
    }

    private String text(GuardedRule rule, Decision decision, GuardedRequest request) {
        boolean isUnavailable = RateLimited.isUnavailable(decision);
        String key = isUnavailable ? UNAVAILABLE_MESSAGE_KEY : rule.messageKey();
        try {
            String text = messages.resolve(key, rule, request.locale());
            return text != null ? text : key;
        } catch (Exception | LinkageError e) {
            messageFaults.error("tollgate: no text for " + rule.guarded() + ", the raw key is shown", e);
            return key;
        }
    }

    /** Writes the answer; never throws. */
    void answer(Rejection rejection, RejectionResponse response) {
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
