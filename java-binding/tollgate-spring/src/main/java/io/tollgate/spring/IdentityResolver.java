package io.tollgate.spring;

/**
 * Says who asks. Every bean of this type takes part, in Spring's order ({@code @Order} on the class, {@code Ordered}): the
 * first that knows somebody has the word. tollgate's own look at a request parameter ({@value #PARAMETER_ORDER}) and at the
 * session ({@value #SESSION_ORDER}); a bean without an order comes after both. Where nobody knows, the request passes uncounted.
 *
 * <pre>{@code
 * @Component
 * @Order(IdentityResolver.PARAMETER_ORDER - 1)   // before the parameter
 * class TokenIdentity implements IdentityResolver {
 *     public String resolve(GuardedRequest request, GuardedMethod method) {
 *         Principal user = ((HttpServletRequest) request.nativeRequest()).getUserPrincipal();
 *         return user == null ? null : user.getName();
 *     }
 * }
 * }</pre>
 */
@FunctionalInterface
public interface IdentityResolver {
    /** The order of {@link ParameterIdentityResolver}. */
    int PARAMETER_ORDER = 100;
    /** The order of {@link SessionIdentityResolver}. */
    int SESSION_ORDER = 200;

    /**
     * Called for guarded methods only, before the host's own interceptors.
     *
     * @param request the request
     * @param method  what it is about to call
     * @return the user; null, blank, {@code null} and {@code undefined} are nobody, and the next one is asked
     */
    String resolve(GuardedRequest request, GuardedMethod method);
}
