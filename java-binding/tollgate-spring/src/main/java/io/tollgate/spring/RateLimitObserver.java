package io.tollgate.spring;

import io.tollgate.Decision;

/**
 * Hears of every decision of rules with {@link RateLimit#monitor()}. All beans of this type are told, on the thread of the call: be quick. What
 * one throws is logged and changes nothing.
 *
 * <pre>{@code
 * @Bean
 * RateLimitObserver decisions(MeterRegistry meters) {
 *     return (rule, decision, identity, request) ->
 *             meters.counter("rate.limit", "rule", rule.toString(), "outcome", decision.outcome().name()).increment();
 * }
 * }</pre>
 */
@FunctionalInterface
public interface RateLimitObserver {
    /**
     * A decision was made.
     *
     * @param rule     that was asked
     * @param decision allowed or not
     * @param identity who was counted: the user, address, tenant or key, as the rule counts by; null for nobody
     * @param request  the request, empty outside of any; not to be kept beyond this call
     */
    void decided(GuardedRule rule, Decision decision, String identity, GuardedRequest request);
}
