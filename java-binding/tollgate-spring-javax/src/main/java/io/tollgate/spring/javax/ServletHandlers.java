package io.tollgate.spring.javax;

import io.tollgate.spring.coverage.HandlerSource;
import io.tollgate.spring.coverage.MappedHandler;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMethodMapping;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;

/** The handler methods of Spring MVC, and whether the interceptor stands before each. */
public final class ServletHandlers implements HandlerSource {
    /** The name under which the starter mounts the interceptor. */
    static final String MOUNT = "tollgateMappedInterceptor";
    /** Public only in later Springs. */
    private static final Method INTERCEPTORS = ReflectionUtils.findMethod(AbstractHandlerMapping.class, "getAdaptedInterceptors");

    @Override
    public Collection<MappedHandler> handlers(ApplicationContext context) {
        List<MappedHandler> handlers = new ArrayList<>();
        for (Map.Entry<String, AbstractHandlerMethodMapping> bean
                : context.getBeansOfType(AbstractHandlerMethodMapping.class, true, false).entrySet()) {
            AbstractHandlerMethodMapping<?> mapping = bean.getValue();
            List<Object> mounts = mounts(mapping);
            for (Map.Entry<?, HandlerMethod> entry : mapping.getHandlerMethods().entrySet()) {
                HandlerMethod handler = entry.getValue();
                handlers.add(new MappedHandler(handler.getBean(), handler.getBeanType(), handler.getMethod(),
                        mounts.isEmpty() ? missing(context, bean.getKey()) : leftOut(mounts, mapping, entry.getKey())));
            }
        }
        return handlers;
    }

    /** The interceptor in a mapping, itself or behind path patterns. */
    private static List<Object> mounts(AbstractHandlerMapping mapping) {
        ReflectionUtils.makeAccessible(INTERCEPTORS);
        HandlerInterceptor[] interceptors = (HandlerInterceptor[]) ReflectionUtils.invokeMethod(INTERCEPTORS, mapping);
        List<Object> mounts = new ArrayList<>();
        for (HandlerInterceptor interceptor : interceptors == null ? new HandlerInterceptor[0] : interceptors) {
            if (interceptor instanceof RateLimitInterceptor || interceptor instanceof MappedInterceptor
                    && ((MappedInterceptor) interceptor).getInterceptor() instanceof RateLimitInterceptor) {
                mounts.add(interceptor);
            }
        }
        return mounts;
    }

    private static String missing(ApplicationContext context, String mapping) {
        boolean isReplaced = context.containsBean(MOUNT) && !(context.getBean(MOUNT) instanceof MappedInterceptor
                && ((MappedInterceptor) context.getBean(MOUNT)).getInterceptor() instanceof RateLimitInterceptor);
        return isReplaced ? "the application has a bean " + MOUNT + " of its own that doesn't hold the RateLimitInterceptor"
                : "handler mapping " + mapping + " doesn't have the RateLimitInterceptor";
    }

    /** Null if each path of a handler comes by one of the mounts. */
    private static String leftOut(List<Object> mounts, AbstractHandlerMapping mapping, Object info) {
        String httpMethod = httpMethod(info);
        for (String pattern : patterns(info)) {
            if (mounts.stream().noneMatch(mount -> mount instanceof RateLimitInterceptor
                    || PathOf.isMatchedBy((MappedInterceptor) mount, pattern, httpMethod, mapping))) {
                return "the path patterns of the MappedInterceptor leave " + pattern + " out";
            }
        }
        return null;
    }

    /** One that the handler answers: from Spring 7 on interceptors may choose by method. */
    private static String httpMethod(Object info) {
        Set<RequestMethod> methods = info instanceof RequestMappingInfo
                ? ((RequestMappingInfo) info).getMethodsCondition().getMethods() : Collections.emptySet();
        return methods.isEmpty() ? "GET" : methods.iterator().next().name();
    }

    @SuppressWarnings("unchecked")
    private static Collection<String> patterns(Object info) {
        if (!(info instanceof RequestMappingInfo)) {
            return Collections.emptySet();
        }
        // Since Spring 5.3 there are two kinds of patterns, of which a mapping has one.
        Method values = ReflectionUtils.findMethod(RequestMappingInfo.class, "getPatternValues");
        return values == null ? ((RequestMappingInfo) info).getPatternsCondition().getPatterns()
                : (Collection<String>) ReflectionUtils.invokeMethod(values, info);
    }
}
