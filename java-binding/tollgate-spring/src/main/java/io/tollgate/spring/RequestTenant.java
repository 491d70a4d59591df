package io.tollgate.spring;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The tenant from the request itself. What the host sets (the session, a request attribute) goes before what a client sends (a header, a
 * parameter). Immutable.
 */
public final class RequestTenant implements TenantResolver {
    private static final List<IdentitySource> ORDER =
            Arrays.asList(IdentitySource.SESSION, IdentitySource.REQUEST, IdentitySource.HEADER, IdentitySource.PARAMETER);

    private final RequestIdentity sources;

    /**
     * A resolver.
     *
     * @param names what the sources look at; a source whose name is missing or blank is off
     */
    public RequestTenant(Map<IdentitySource, String> names) {
        this.sources = new RequestIdentity(ORDER, names);
    }

    @Override
    public String resolve(GuardedRequest request) {
        return sources.resolve(request);
    }

    /**
     * Whether it can ever know a tenant.
     *
     * @return false if no source has a name
     */
    public boolean isConfigured() {
        return sources.isConfigured();
    }
}
