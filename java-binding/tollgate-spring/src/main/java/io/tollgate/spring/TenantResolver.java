package io.tollgate.spring;

/**
 * Says whose request it is, for rules {@code by = LimitBy.TENANT}. A bean of this type replaces the look at what {@code
 * tollgate.tenant.*} names.
 *
 * <pre>{@code
 * @Bean
 * TenantResolver tenants() {
 *     return request -> TenantContext.current();
 * }
 * }</pre>
 */
@FunctionalInterface
public interface TenantResolver {
    /**
     * The tenant.
     *
     * @param request the request
     * @return null, blank, {@code null} and {@code undefined} are none: such a request passes uncounted
     */
    String resolve(GuardedRequest request);
}
