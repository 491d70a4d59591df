package io.tollgate.spring.javax;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/** Whether this is the servlet API that Spring MVC itself speaks here: both may lie on one class path. */
final class OnServletApi implements Condition {
    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ClassLoader loader = context.getClassLoader();
        try {
            Class<?> request = ClassUtils.forName("javax.servlet.http.HttpServletRequest", loader);
            Class<?> response = ClassUtils.forName("javax.servlet.http.HttpServletResponse", loader);
            Class<?> interceptor = ClassUtils.forName("org.springframework.web.servlet.HandlerInterceptor", loader);
            return ClassUtils.hasMethod(interceptor, "preHandle", request, response, Object.class);
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
