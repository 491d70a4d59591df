package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.RateLimit;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.springframework.asm.Type;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/** Finds methods that nobody but their own class calls, past the proxy. Where it can't be sure it says nothing. */
final class SelfCalls {
    private final ApplicationClasses classes;
    private final Set<Class<?>> beans;
    private final Set<String> beanNames = new HashSet<>();

    SelfCalls(ApplicationClasses classes, Set<Class<?>> beans) {
        this.classes = classes;
        this.beans = beans;
        for (Class<?> bean : beans) {
            beanNames.add(Type.getInternalName(bean));
        }
    }

    /** Whether the method's own class calls it, on itself, and no other class of the application does. */
    boolean isSelfInvokedOnly(GuardedMethod guarded) {
        Method method = guarded.method();
        Set<String> owners = owners(guarded.type());
        if (!classes.isComplete() || isCalledByOthersCode(guarded.type(), method)) {
            return false;
        }
        boolean isCalledByItself = false;
        for (ClassFacts facts : classes.all()) {
            boolean isOwn = isOwn(facts.name(), guarded.type());
            if (isOwn && !Collections.disjoint(facts.types(), owners)) {
                // It may hold the proxy of itself.
                return false;
            }
            boolean calls = false;
            for (String owner : owners) {
                calls |= facts.calls(owner, method.getName(), method.getParameterCount());
            }
            if (calls && !isOwn && (!facts.isTest() || beanNames.contains(facts.name()))) {
                return false;
            }
            isCalledByItself |= calls && isOwn;
        }
        return isCalledByItself;
    }

    /** The class, what it extends, and what stands within it and isn't a bean of its own. */
    private boolean isOwn(String name, Class<?> type) {
        for (Class<?> next = type; next != null && next != Object.class; next = next.getSuperclass()) {
            String own = Type.getInternalName(next);
            if (name.equals(own) || name.startsWith(own + '$') && !beanNames.contains(name)) {
                return true;
            }
        }
        return false;
    }

    /** As which a caller may know it. */
    private Set<String> owners(Class<?> type) {
        Set<String> names = new HashSet<>();
        for (Class<?> bean : beans) {
            for (Class<?> next = bean; next != null && type.isAssignableFrom(next); next = next.getSuperclass()) {
                names.add(Type.getInternalName(next));
            }
        }
        for (Class<?> next = type; next != null && next != Object.class; next = next.getSuperclass()) {
            names.add(Type.getInternalName(next));
        }
        for (Class<?> contract : ClassUtils.getAllInterfacesForClassAsSet(type)) {
            names.add(Type.getInternalName(contract));
        }
        return names;
    }

    /** Whether code that isn't here calls it: for an annotation on it, or by a contract of somebody else's. */
    private boolean isCalledByOthersCode(Class<?> type, Method method) {
        for (Annotation annotation : method.getAnnotations()) {
            if (!isBystander(annotation.annotationType())) {
                return true;
            }
        }
        Set<Class<?>> contracts = new HashSet<>(ClassUtils.getAllInterfacesForClassAsSet(type));
        for (Class<?> next = type; next != null; next = next.getSuperclass()) {
            contracts.add(next);
        }
        for (Class<?> contract : contracts) {
            if (classes.get(Type.getInternalName(contract)) == null && hasMethod(contract, method)) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasMethod(Class<?> contract, Method method) {
        for (Method candidate : contract.getDeclaredMethods()) {
            if (candidate.getName().equals(method.getName()) && candidate.getParameterCount() == method.getParameterCount()) {
                return true;
            }
        }
        return false;
    }

    /** An annotation that has nobody call the method. */
    private static boolean isBystander(Class<? extends Annotation> type) {
        String name = type.getName();
        return AnnotatedElementUtils.hasAnnotation(type, RateLimit.class) || name.startsWith("io.tollgate.") || name.startsWith("java.")
                || name.startsWith("org.springframework.transaction.") || name.startsWith("org.springframework.cache.")
                || name.startsWith("org.springframework.security.") || name.equals("org.springframework.scheduling.annotation.Async")
                || name.endsWith(".Nullable") || name.endsWith(".NonNull");
    }
}
