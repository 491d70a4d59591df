package io.tollgate.spring;

/**
 * Says who asks. Every bean of this type takes part, in Spring's order ({@code @Order} on the class, {@code Ordered}): the
 * first that knows somebody has the word. tollgate's own look at the request, at what {@code tollgate.identity.*} names, stands at {@value
 * #REQUEST_ORDER}; a bean without an order comes after it. Where nobody knows, the request passes uncounted.
 *
 * <pre>{@code
 * @Component
 * @Order(IdentityResolver.REQUEST_ORDER - 1)   // before tollgate's own
 * class TokenIdentity implements IdentityResolver {
 *     public String resolve(GuardedRequest request, GuardedMethod method) {
 *         return Tokens.userOf(request.header("Authorization"));
 *     }
 * }
 * }</pre>
 */
@FunctionalInterface
public interface IdentityResolver {
    /** The order of {@link RequestIdentity}. */
    int REQUEST_ORDER = 100;

    /**
     * Called for guarded methods only, before the host's own interceptors.
     *
     * @param request the request
     * @param method  what it is about to call
     * @return the user; null, blank, {@code null} and {@code undefined} are nobody, and the next one is asked
     */
    String resolve(GuardedRequest request, GuardedMethod method);
}
