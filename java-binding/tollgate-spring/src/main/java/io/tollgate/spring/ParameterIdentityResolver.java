package io.tollgate.spring;

import org.springframework.core.Ordered;
import org.springframework.util.StringUtils;

/**
 * The user is a request parameter's first value. Whoever sends the request can forge it, unless the host overwrites it.
 */
public final class ParameterIdentityResolver implements IdentityResolver, Ordered {
    private final String name;

    /**
     * A resolver.
     *
     * @param name of the parameter; null or blank switches this resolver off
     */
    public ParameterIdentityResolver(String name) {
        this.name = StringUtils.hasText(name) ? name : null;
    }

    @Override
    public String resolve(GuardedRequest request, GuardedMethod method) {
        return name == null ? null : request.parameter(name);
    }

    @Override
    public int getOrder() {
        return PARAMETER_ORDER;
    }
}
