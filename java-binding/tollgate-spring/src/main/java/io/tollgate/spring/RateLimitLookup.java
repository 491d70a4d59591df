package io.tollgate.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Finds the annotation that guards a method, however the class behind it is proxied, inherited or composed. */
final class RateLimitLookup {
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

    /** The nearest annotation of a specific method: its own, an overridden or implemented method's, then the class's. Null if none. */
    static RateLimit find(Class<?> type, Method method) {
        RateLimit found = AnnotatedElementUtils.findMergedAnnotation(method, RateLimit.class);
        if (found == null) {
            found = implemented(type, method);
        }
        return found != null ? found : AnnotatedElementUtils.findMergedAnnotation(type, RateLimit.class);
    }

    /** The class may implement an interface with a method that it inherits from a superclass which doesn't know that interface. */
    private static RateLimit implemented(Class<?> type, Method method) {
        for (Class<?> contract : ClassUtils.getAllInterfacesForClassAsSet(type)) {
            for (Method candidate : contract.getMethods()) {
                if (implementedBy(method, candidate, type)) {
                    RateLimit found = AnnotatedElementUtils.findMergedAnnotation(candidate, RateLimit.class);
                    if (found != null) {
                        return found;
                    }
                }
            }
        }
        return null;
    }

    private static boolean implementedBy(Method method, Method candidate, Class<?> type) {
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
}
