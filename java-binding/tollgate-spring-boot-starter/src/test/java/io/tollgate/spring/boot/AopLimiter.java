package io.tollgate.spring.boot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.Collections;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.stereotype.Component;
import org.springframework.util.ReflectionUtils;

/** A limiter as teams write them: an aspect, a template, a script; a key by expression, a message that is returned, a fallback. */
final class AopLimiter {
    private AopLimiter() {}

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface AccessLimit {
        String key();

        int limit() default 3;

        int expire() default 30;

        String message() default "false";

        String fallback() default "";
    }

    @Aspect
    @Component
    static class AccessLimitAspect {
        private static final DefaultRedisScript<Long> COUNT = new DefaultRedisScript<>(
                "local seen = redis.call('INCR', KEYS[1]) "
                + "if seen == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end "
                + "return seen", Long.class);

        private final StringRedisTemplate redis;
        private final BeanFactory beans;

        AccessLimitAspect(StringRedisTemplate redis, BeanFactory beans) {
            this.redis = redis;
            this.beans = beans;
        }

        @Around(value = "@annotation(limits)", argNames = "call,limits")
        public Object limit(ProceedingJoinPoint call, AccessLimit limits) throws Throwable {
            Long seen = redis.execute(COUNT, Collections.singletonList("limit:" + key(call, limits)), String.valueOf(limits.expire()));
            if (seen == null || seen <= limits.limit()) {
                return call.proceed();
            }
            if (limits.fallback().isEmpty()) {
                return limits.message();
            }
            Method method = ((MethodSignature) call.getSignature()).getMethod();
            Method fallback = ReflectionUtils.findMethod(method.getDeclaringClass(), limits.fallback(), method.getParameterTypes());
            ReflectionUtils.makeAccessible(fallback);
            return fallback.invoke(call.getTarget(), call.getArgs());
        }

        private Object key(ProceedingJoinPoint call, AccessLimit limits) {
            MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(null,
                    ((MethodSignature) call.getSignature()).getMethod(), call.getArgs(), new DefaultParameterNameDiscoverer());
            context.setBeanResolver(new BeanFactoryResolver(beans));
            return new SpelExpressionParser().parseExpression(limits.key()).getValue(context);
        }
    }
}
