package io.tollgate.spring.javax;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.HttpServletRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.server.RequestPath;
import org.springframework.util.PathMatcher;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.springframework.web.util.UriUtils;
import org.springframework.web.util.UrlPathHelper;

/** Asks Spring itself whether an interceptor is there for a path, without a request. */
final class PathOf {
    private static final Logger LOG = LoggerFactory.getLogger(PathOf.class);
    /** Where Spring keeps the path of a request: as text, and since Spring 5.3 in parts, which Spring 7 alone reads. */
    private static final String TEXT = UrlPathHelper.class.getName() + ".PATH";
    private static final String PARTS = "org.springframework.web.util.ServletRequestPathUtils.PATH";

    private PathOf() {}

    /** True where Spring can't be asked. */
    static boolean isMatchedBy(MappedInterceptor interceptor, String pattern, String httpMethod, AbstractHandlerMapping mapping) {
        String path = example(pattern);
        // By request since Spring 5.3, before that by path; the one way was taken away where the other is needed.
        Method byRequest = ReflectionUtils.findMethod(MappedInterceptor.class, "matches", HttpServletRequest.class);
        Method byPath = ReflectionUtils.findMethod(MappedInterceptor.class, "matches", String.class, PathMatcher.class);
        try {
            if (byRequest != null) {
                return (Boolean) ReflectionUtils.invokeMethod(byRequest, interceptor, request(path, httpMethod));
            }
            return byPath == null || (Boolean) ReflectionUtils.invokeMethod(byPath, interceptor, path, mapping.getPathMatcher());
        } catch (RuntimeException e) {
            LOG.debug("tollgate: whether {} is there for {} isn't known", interceptor, path, e);
            return true;
        }
    }

    /** A path that the pattern means: {@code /orders/x} for {@code /orders/{id}}. */
    private static String example(String pattern) {
        String path = pattern.replaceAll("\\{[^/]*}", "x").replaceAll("\\*+|\\?", "x");
        return path.startsWith("/") ? path : '/' + path;
    }

    /** A request of which only path and method are known. */
    private static HttpServletRequest request(String path, String httpMethod) {
        RequestPath parts = RequestPath.parse(URI.create(UriUtils.encodePath(path, StandardCharsets.UTF_8)), "");
        return (HttpServletRequest) Proxy.newProxyInstance(PathOf.class.getClassLoader(), new Class<?>[] {HttpServletRequest.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "getMethod":
                            return httpMethod;
                        case "getAttribute":
                            return TEXT.equals(arguments[0]) ? path : PARTS.equals(arguments[0]) ? parts : null;
                        default:
                            return null;
                    }
                });
    }
}
