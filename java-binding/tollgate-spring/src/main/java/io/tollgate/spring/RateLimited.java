package io.tollgate.spring;

import io.tollgate.Decision;
import io.tollgate.Outcome;

/** What is told of a call that was turned away. A fallback method may take it as its last parameter. Immutable. */
public class RateLimited {
    private final GuardedRule rule;
    private final Decision decision;
    private final String user;
    private final String text;

    RateLimited(GuardedRule rule, Decision decision, String user, String text) {
        this.rule = rule;
        this.decision = decision;
        this.user = user;
        this.text = text;
    }

    /**
     * The rule that turned it away; of several the one that does so for the longest time.
     *
     * @return the rule
     */
    public GuardedRule rule() {
        return rule;
    }

    /**
     * The method that was to be called.
     *
     * @return the method
     */
    public GuardedMethod method() {
        return rule.guarded();
    }

    /**
     * The numbers behind it; {@code decision().resetAfterMillis()} tells when to come back.
     *
     * @return the decision
     */
    public Decision decision() {
        return decision;
    }

    /**
     * Who was counted.
     *
     * @return the user, address, tenant or key, as the rule counts by
     */
    public String user() {
        return user;
    }

    /**
     * What the user is to read, in the language of the request.
     *
     * @return never null
     */
    public String text() {
        return text;
    }

    /**
     * Whether nobody asked too often: the store can't answer, and the rule's fault policy is {@code deny}.
     *
     * @return true if the limiter is at fault
     */
    public boolean isUnavailable() {
        return isUnavailable(decision);
    }

    /**
     * What {@link RateLimitedException} or {@link LimiterUnavailableException} carries.
     *
     * @param failure one of them, or what was made of one
     * @return null if neither is there, however deep
     */
    public static RateLimited in(Throwable failure) {
        Throwable next = failure;
        // Causes may run in a circle; nobody wraps deeper than this.
        for (int depth = 0; next != null && depth < 16; depth++) {
            if (next instanceof RateLimitedException) {
                return ((RateLimitedException) next).limited();
            }
            if (next instanceof LimiterUnavailableException) {
                return ((LimiterUnavailableException) next).limited();
            }
            next = next.getCause();
        }
        return null;
    }

    static boolean isUnavailable(Decision decision) {
        return decision.outcome() == Outcome.FAULT_DENIED;
    }
}
