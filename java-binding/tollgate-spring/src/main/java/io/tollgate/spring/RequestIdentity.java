package io.tollgate.spring;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.springframework.core.Ordered;
import org.springframework.util.StringUtils;

/**
 * The user from the request itself: a parameter, an attribute, a header, whoever logged in; the first source that knows somebody has the
 * word. Immutable.
 *
 * <pre>{@code
 * Map<IdentitySource, String> names = new EnumMap<>(IdentitySource.class);
 * names.put(IdentitySource.SESSION, "usercode");
 * new RequestIdentity(Arrays.asList(IdentitySource.SESSION, IdentitySource.PRINCIPAL), names);
 * }</pre>
 */
public final class RequestIdentity implements IdentityResolver, Ordered {
    private final List<IdentitySource> order = new ArrayList<>();
    private final Map<IdentitySource, String> names = new EnumMap<>(IdentitySource.class);

    /**
     * A resolver.
     *
     * @param order the sources in the order in which they are asked
     * @param names what they look at; a source whose name is missing or blank is off, except {@link IdentitySource#PRINCIPAL}, which needs
     *              none
     */
    public RequestIdentity(Collection<IdentitySource> order, Map<IdentitySource, String> names) {
        for (IdentitySource source : order) {
            String name = names.get(source);
            if (StringUtils.hasText(name)) {
                this.names.put(source, name.trim());
            }
            if (StringUtils.hasText(name) || source == IdentitySource.PRINCIPAL) {
                this.order.add(source);
            }
        }
    }

    @Override
    public String resolve(GuardedRequest request, GuardedMethod method) {
        return resolve(request);
    }

    /** Null if no source knows. */
    String resolve(GuardedRequest request) {
        for (IdentitySource source : order) {
            String user = source.text(request, names.get(source));
            if (user != null) {
                return user;
            }
        }
        return null;
    }

    boolean isConfigured() {
        return !order.isEmpty();
    }

    @Override
    public int getOrder() {
        return REQUEST_ORDER;
    }
}
