package io.tollgate.spring;

/** What a rule counts by. Each value has a counter of its own. */
public enum LimitBy {
    /** The user, as the {@link IdentityResolver}s know it. */
    USER,
    /** The client's address. Forwarded headers count only where they come from a proxy in {@code tollgate.trusted-proxies}. */
    IP,
    /** Everybody together: one counter, {@code *}. */
    GLOBAL,
    /** The tenant, as the {@link TenantResolver} knows it. */
    TENANT,
    /** What {@link RateLimit#key()} evaluates to. */
    EXPRESSION
}
