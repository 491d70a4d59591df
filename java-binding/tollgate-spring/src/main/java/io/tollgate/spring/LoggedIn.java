package io.tollgate.spring;

import java.security.Principal;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.util.ClassUtils;

/** Who logged in, with and without Spring Security. */
final class LoggedIn {
    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.core.context.SecurityContextHolder", LoggedIn.class.getClassLoader());

    private LoggedIn() {}

    /** Null if nobody has. */
    static Principal principal(GuardedRequest request) {
        Principal principal = request.principal();
        return SECURITY ? Security.check(principal) : principal;
    }

    /** Apart, so that its types are loaded only where they are. */
    private static final class Security {
        static Principal check(Principal ofRequest) {
            Principal principal = isSomebody(ofRequest) ? ofRequest : SecurityContextHolder.getContext().getAuthentication();
            return isSomebody(principal) ? principal : null;
        }

        private static boolean isSomebody(Principal principal) {
            if (principal instanceof Authentication) {
                return !(principal instanceof AnonymousAuthenticationToken) && ((Authentication) principal).isAuthenticated();
            }
            return principal != null;
        }
    }
}
