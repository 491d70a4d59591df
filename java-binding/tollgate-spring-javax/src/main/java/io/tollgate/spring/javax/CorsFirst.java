package io.tollgate.spring.javax;

import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.util.ClassUtils;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.handler.AbstractHandlerMethodMapping;
import org.springframework.web.servlet.support.RequestContextUtils;
import org.springframework.web.util.WebUtils;

/**
 * Has CORS done before the limiter. Spring does so from 5.3 on; before that it comes after all other interceptors, where a page of
 * another origin couldn't read its rejection, and a request that the host refuses would be counted.
 */
final class CorsFirst {
    private static final Logger LOG = LoggerFactory.getLogger(CorsFirst.class);
    /** Spring 5.3 brought this class, and has CORS done first: nothing is left to look for on the way of each request. */
    private static final boolean IS_DONE_BY_SPRING =
            ClassUtils.isPresent("org.springframework.web.util.ServletRequestPathUtils", CorsFirst.class.getClassLoader());

    private CorsFirst() {}

    /** False if the host refuses the origin; it has answered then. */
    static boolean admits(HttpServletRequest request, HttpServletResponse response, HandlerMethod called) {
        if (IS_DONE_BY_SPRING || !CorsUtils.isCorsRequest(request) || response.containsHeader(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN)) {
            return true;
        }
        try {
            ApplicationContext context = RequestContextUtils.findWebApplicationContext(request);
            if (context == null || WebUtils.isSameOrigin(new ServletServerHttpRequest(request))) {
                return true;
            }
            for (AbstractHandlerMethodMapping<?> mapping : BeanFactoryUtils.beansOfTypeIncludingAncestors(
                    context, AbstractHandlerMethodMapping.class, true, false).values()) {
                HandlerExecutionChain chain = mapping.getHandler(request);
                if (chain != null && called.equals(chain.getHandler())) {
                    return admits(request, response, chain);
                }
            }
        } catch (Exception e) {
            LOG.debug("tollgate: CORS is left to Spring for {}", called, e);
        }
        return true;
    }

    private static boolean admits(HttpServletRequest request, HttpServletResponse response, HandlerExecutionChain chain) throws Exception {
        HandlerInterceptor[] interceptors = chain.getInterceptors();
        if (interceptors != null) {
            for (HandlerInterceptor interceptor : interceptors) {
                // That is how Spring's own, which has no public class, is told from the others.
                if (interceptor instanceof CorsConfigurationSource) {
                    return interceptor.preHandle(request, response, chain.getHandler());
                }
            }
        }
        return true;
    }
}
