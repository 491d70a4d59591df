package io.tollgate.spring;

import java.security.Principal;

/** Where a request may say who asks, or which tenant. */
public enum IdentitySource {
    /** The first value of a request parameter. Whoever sends the request can forge it, unless the host overwrites it. */
    PARAMETER {
        @Override
        Object read(GuardedRequest request, String name) {
            return request.parameter(name);
        }
    },
    /** An attribute of the session. Never creates a session. */
    SESSION {
        @Override
        Object read(GuardedRequest request, String name) {
            return request.sessionAttribute(name);
        }
    },
    /** An attribute of the request, which a filter of the host sets. */
    REQUEST {
        @Override
        Object read(GuardedRequest request, String name) {
            return request.attribute(name);
        }
    },
    /** The first line of a header. Whoever sends the request can forge it, unless the edge overwrites it. */
    HEADER {
        @Override
        Object read(GuardedRequest request, String name) {
            String line = request.header(name);
            return line == null ? null : HeaderText.utf8(line);
        }
    },
    /** Who logged in: the request's principal, or else whom Spring Security knows on this thread. Needs no name; anonymous is nobody. */
    PRINCIPAL {
        @Override
        Object read(GuardedRequest request, String name) {
            Principal principal = LoggedIn.principal(request);
            return principal == null ? null : principal.getName();
        }
    };

    /** What stands there; null for nothing. */
    abstract Object read(GuardedRequest request, String name);

    /** What stands there as text; null for nothing and for what means nothing, like {@code undefined}. */
    String text(GuardedRequest request, String name) {
        Object value = read(request, name);
        String text = value == null ? null : value.toString();
        return IdentityChain.isPresent(text) ? text : null;
    }
}
