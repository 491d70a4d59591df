package io.tollgate.spring;

import reactor.core.publisher.Mono;

/**
 * Knows the request that a subscription works for. A reactive adapter puts one into Reactor's {@code Context} under {@link #KEY}, where the
 * aspect looks for it: there is no thread that a reactive request belongs to.
 *
 * <pre>{@code
 * SubscribedRequest request = context.getOrDefault(SubscribedRequest.KEY, null);
 * }</pre>
 */
@FunctionalInterface
public interface SubscribedRequest {
    /** Where in the context it is. */
    Class<SubscribedRequest> KEY = SubscribedRequest.class;

    /**
     * The request, with what can only be waited for collected.
     *
     * @param method what is about to be called
     * @return never empty, and never fails; what can't be read is said by the request, to whoever asks for it
     */
    Mono<GuardedRequest> collect(GuardedMethod method);
}
