package io.tollgate.spring.boot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Collections;
import java.util.HashMap;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * A limiter that behaves as RuoYi's does: its annotation's attributes and defaults, its keys, its exceptions and its answers. Written for
 * the tests; nothing of it is RuoYi's.
 */
final class RuoYiLimiter {
    static final String TOO_OFTEN = "访问过于频繁，请稍候再试";
    static final String OUT_OF_ORDER = "服务器限流异常，请稍候再试";

    private RuoYiLimiter() {}

    enum LimitType {
        DEFAULT, IP
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface RateLimiter {
        String key() default "rate_limit:";

        int time() default 60;

        int count() default 100;

        LimitType limitType() default LimitType.DEFAULT;
    }

    /** A business failure. */
    static class ServiceException extends RuntimeException {
        ServiceException(String message) {
            super(message);
        }
    }

    /** What the front end reads. */
    static class AjaxResult extends HashMap<String, Object> {
        static AjaxResult success(String message) {
            return of(200, message);
        }

        private static AjaxResult of(int code, String message) {
            AjaxResult result = new AjaxResult();
            result.put("code", code);
            result.put("msg", message);
            return result;
        }
    }

    @Aspect
    @Component
    static class RateLimiterAspect {
        private static final DefaultRedisScript<Long> COUNT = new DefaultRedisScript<>(
                "local seen = tonumber(redis.call('GET', KEYS[1]) or '0') "
                + "if seen > tonumber(ARGV[1]) then return seen end "
                + "seen = redis.call('INCR', KEYS[1]) "
                + "if seen == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end "
                + "return seen", Long.class);

        private final StringRedisTemplate redis;

        RateLimiterAspect(StringRedisTemplate redis) {
            this.redis = redis;
        }

        @Before(value = "@annotation(limiter)", argNames = "call,limiter")
        public void count(JoinPoint call, RateLimiter limiter) {
            Long seen;
            try {
                seen = redis.execute(COUNT, Collections.singletonList(key(call, limiter)),
                        String.valueOf(limiter.count()), String.valueOf(limiter.time()));
            } catch (RuntimeException e) {
                throw new IllegalStateException(OUT_OF_ORDER);
            }
            if (seen == null || seen > limiter.count()) {
                throw new ServiceException(TOO_OFTEN);
            }
        }

        private static String key(JoinPoint call, RateLimiter limiter) {
            String address = limiter.limitType() == LimitType.IP ? address() + "-" : "";
            return limiter.key() + address + call.getSignature().getDeclaringTypeName() + "-" + call.getSignature().getName();
        }

        /** The first of the forwarded addresses, whoever says so. */
        private static String address() {
            ServletRequestAttributes current = (ServletRequestAttributes) RequestContextHolder.currentRequestAttributes();
            String forwarded = current.getRequest().getHeader("X-Forwarded-For");
            return forwarded == null ? current.getRequest().getRemoteAddr() : forwarded.split(",")[0];
        }
    }

    @RestControllerAdvice
    static class GlobalExceptionHandler {
        @ExceptionHandler(RuntimeException.class)
        public AjaxResult failed(RuntimeException failure) {
            return AjaxResult.of(500, failure.getMessage());
        }
    }
}
