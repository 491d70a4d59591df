package io.tollgate.spring;

import org.springframework.core.Ordered;
import org.springframework.util.StringUtils;

/** The user is a session attribute, as its {@code toString()} says it. Never creates a session. */
public final class SessionIdentityResolver implements IdentityResolver, Ordered {
    private final String name;

    /**
     * A resolver.
     *
     * @param name of the attribute; null or blank switches this resolver off
     */
    public SessionIdentityResolver(String name) {
        this.name = StringUtils.hasText(name) ? name : null;
    }

    @Override
    public String resolve(GuardedRequest request, GuardedMethod method) {
        Object user = name == null ? null : request.sessionAttribute(name);
        return user == null ? null : user.toString();
    }

    @Override
    public int getOrder() {
        return SESSION_ORDER;
    }
}
