package io.tollgate.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/** What is returned in place of a call that was turned away. */
@FunctionalInterface
interface Substitute {
    /** The value for the caller; throws what a fallback throws. */
    Object get(Object target, Object[] arguments, RateLimited limited) throws Throwable;

    /** Null if a call is to be rejected. */
    static Substitute of(Class<?> type, Method method, RateLimit limits) {
        if (StringUtils.hasText(limits.fallback())) {
            return fallback(type, method, limits.fallback().trim());
        }
        return limits.onReject() == OnReject.RETURN_MESSAGE ? message(type, method) : null;
    }

    /** A method of the same class. */
    static Substitute fallback(Class<?> type, Method method, String name) {
        Class<?>[] parameters = method.getParameterTypes();
        Class<?>[] extended = Arrays.copyOf(parameters, parameters.length + 1);
        extended[parameters.length] = RateLimited.class;
        Method told = ReflectionUtils.findMethod(type, name, extended);
        Method found = told != null ? told : ReflectionUtils.findMethod(type, name, parameters);
        if (found == null || found.equals(method)) {
            throw new InvalidRateLimitException(type, method, "fallback", name, found == null ? "names no such method" : "names itself",
                    "Write " + name + " in " + type.getSimpleName() + " with the parameters of " + method.getName()
                            + ", and RateLimited as one more if you like.", null);
        }
        if (method.getReturnType() != void.class && !ClassUtils.isAssignable(method.getReturnType(), found.getReturnType())) {
            throw new InvalidRateLimitException(type, method, "fallback", name, "returns " + found.getReturnType().getName(),
                    "Have it return " + method.getReturnType().getName() + '.', null);
        }
        ReflectionUtils.makeAccessible(found);
        return (target, arguments, limited) -> {
            Object[] all = arguments;
            if (told != null) {
                all = Arrays.copyOf(arguments, arguments.length + 1, Object[].class);
                all[arguments.length] = limited;
            }
            try {
                return found.invoke(target, all);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        };
    }

    /** The text, as the method's type can hold it. */
    static Substitute message(Class<?> type, Method method) {
        ResolvableType returned = ResolvableType.forMethodReturnType(method, type);
        Class<?> raw = returned.resolve(Object.class);
        Function<String, Object> holder = null;
        if (raw.isAssignableFrom(String.class)) {
            holder = text -> text;
        } else if (returned.getGeneric(0).resolve(Object.class).isAssignableFrom(String.class)) {
            holder = asynchronous(raw);
        }
        if (holder == null) {
            throw new InvalidRateLimitException(type, method, "onReject", "RETURN_MESSAGE", "can't return a text as " + returned,
                    "Have it return a String or an Object, or a future or publisher of one, or name a fallback.", null);
        }
        Function<String, Object> held = holder;
        return (target, arguments, limited) -> held.apply(limited.text());
    }

    /** Null for a type that isn't known. */
    static Function<String, Object> asynchronous(Class<?> raw) {
        if (raw == CompletableFuture.class || raw == CompletionStage.class || raw == Future.class) {
            return CompletableFuture::completedFuture;
        }
        if (raw == Callable.class) {
            return text -> (Callable<String>) () -> text;
        }
        return ReactiveCalls.isPublisher(raw) ? ReactiveCalls.holder(raw) : null;
    }
}
