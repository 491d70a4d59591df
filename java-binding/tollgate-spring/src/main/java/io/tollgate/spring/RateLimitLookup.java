package io.tollgate.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Finds the annotations that guard a method, however the class behind it is proxied, inherited or composed. */
final class RateLimitLookup {
    /** Nothing guards it. */
    static final Found NONE = new Found(Collections.emptyList(), false);

    private RateLimitLookup() {}

    /** The class as it was written: no generated subclass, and for a proxy that hides it the interface that it stands for. */
    static Class<?> userClass(Class<?> type, Method method) {
        if (Proxy.isProxyClass(type)) {
            return method.getDeclaringClass();
        }
        Class<?> user = type;
        for (Class<?> next = ClassUtils.getUserClass(user); next != user; next = ClassUtils.getUserClass(user)) {
            user = next;
        }
        return user;
    }

    /** The method that runs on the class; for a bridge the one that it leads to. */
    static Method specific(Class<?> type, Method method) {
        return AopUtils.getMostSpecificMethod(method, type);
    }

    /** The nearest annotations of a specific method: its own, an overridden or implemented method's, then the class's. */
    static Found find(Class<?> type, Method method) {
        if (method.getDeclaringClass() == Object.class) {
            return NONE;
        }
        List<RateLimit> found = on(method);
        for (Class<?> next = method.getDeclaringClass().getSuperclass(); found.isEmpty() && next != null; next = next.getSuperclass()) {
            found = onCounterpart(type, method, next);
        }
        for (Class<?> contract : ClassUtils.getAllInterfacesForClassAsSet(type)) {
            found = found.isEmpty() ? onCounterpart(type, method, contract) : found;
        }
        if (!found.isEmpty()) {
            return new Found(found, false);
        }
        found = onType(type);
        return found.isEmpty() ? NONE : new Found(found, true);
    }

    private static List<RateLimit> onType(Class<?> type) {
        for (Class<?> next = type; next != null; next = next.getSuperclass()) {
            List<RateLimit> found = on(next);
            if (!found.isEmpty()) {
                return found;
            }
        }
        for (Class<?> contract : ClassUtils.getAllInterfacesForClassAsSet(type)) {
            List<RateLimit> found = on(contract);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return Collections.emptyList();
    }

    private static List<RateLimit> onCounterpart(Class<?> type, Method method, Class<?> from) {
        for (Method candidate : from.getDeclaredMethods()) {
            if (!Modifier.isPrivate(candidate.getModifiers()) && !candidate.isBridge() && isCounterpart(method, candidate, type)) {
                List<RateLimit> found = on(candidate);
                if (!found.isEmpty()) {
                    return found;
                }
            }
        }
        return Collections.emptyList();
    }

    private static List<RateLimit> on(AnnotatedElement element) {
        if (element.getAnnotations().length == 0) {
            return Collections.emptyList();
        }
        return new ArrayList<>(AnnotatedElementUtils.getMergedRepeatableAnnotations(element, RateLimit.class, RateLimit.List.class));
    }

    private static boolean isCounterpart(Method method, Method candidate, Class<?> type) {
        if (!candidate.getName().equals(method.getName()) || candidate.getParameterCount() != method.getParameterCount()) {
            return false;
        }
        Class<?>[] parameters = method.getParameterTypes();
        for (int i = 0; i < parameters.length; i++) {
            // Of Api<T>.list(T) only the type that implements it knows what T is.
            if (ResolvableType.forMethodParameter(candidate, i, type).resolve(Object.class) != parameters[i]) {
                return false;
            }
        }
        return true;
    }

    /** What guards a method. */
    static final class Found {
        final List<RateLimit> limits;
        /** Whether it stands on the class rather than on the method. */
        final boolean isOnType;

        private Found(List<RateLimit> limits, boolean isOnType) {
            this.limits = limits;
            this.isOnType = isOnType;
        }
    }
}
