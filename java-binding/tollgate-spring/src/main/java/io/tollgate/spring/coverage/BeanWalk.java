package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.InvalidRateLimitException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.TargetClassAware;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ReflectionUtils;

/** One walk over the beans of a context: their classes, and the guarded methods of each. Makes none of them. */
final class BeanWalk {
    private static final Logger LOG = LoggerFactory.getLogger(BeanWalk.class);

    private final Set<Class<?>> types = new LinkedHashSet<>();
    private final Map<String, Set<GuardedMethod>> guarded = new LinkedHashMap<>();
    private final List<MethodCoverage> unreadable = new ArrayList<>();

    private BeanWalk() {}

    /**
     * Walks.
     *
     * @throws InvalidRateLimitException for the first annotation that is wrong, if the walk is strict
     */
    static BeanWalk over(ConfigurableListableBeanFactory beans, GuardedMethods methods, boolean isStrict) {
        BeanWalk walk = new BeanWalk();
        for (Iterator<String> names = beans.getBeanNamesIterator(); names.hasNext();) {
            String name = names.next();
            // What a scoped proxy stands for is a bean of its own, and the one that has the methods.
            Class<?> type = beans.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name)) ? null : type(beans, name);
            if (type != null) {
                walk.types.add(type);
                walk.read(name, type, methods, isStrict);
            }
        }
        return walk;
    }

    /** The classes of all beans, generated ones too. */
    Set<Class<?>> types() {
        return types;
    }

    /** By the bean's name. */
    Map<String, Set<GuardedMethod>> guarded() {
        return guarded;
    }

    List<MethodCoverage> unreadable() {
        return unreadable;
    }

    private void read(String name, Class<?> type, GuardedMethods methods, boolean isStrict) {
        if (type.getName().startsWith("org.springframework.")) {
            return;
        }
        Set<GuardedMethod> found = new LinkedHashSet<>();
        for (Method method : methods(type)) {
            try {
                GuardedMethod next = methods.read(type, method);
                if (next != null && isMeant(next)) {
                    found.add(next);
                }
            } catch (InvalidRateLimitException e) {
                if (isStrict) {
                    throw e;
                }
                unreadable.add(MethodCoverage.unreadable(name, type, method, e.problem() + ' ' + e.remedy()));
            }
        }
        if (!found.isEmpty()) {
            guarded.put(name, found);
        }
    }

    /** An annotation on a class means what the class offers to others. */
    static boolean isMeant(GuardedMethod guarded) {
        Method method = guarded.method();
        String declaring = method.getDeclaringClass().getName();
        return !guarded.isByType() || Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
                && !ReflectionUtils.isObjectMethod(method) && !declaring.startsWith("org.springframework.") && !declaring.startsWith("java.");
    }

    /** The class that a bean's methods run on, as far as it is known without making it; null if it isn't. */
    static Class<?> type(ConfigurableListableBeanFactory beans, String name) {
        try {
            Class<?> type = AutoProxyUtils.determineTargetClass(beans, name);
            Object made = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
            // Only the proxy itself knows what is behind it where the application made it.
            return made instanceof TargetClassAware ? AopProxyUtils.ultimateTargetClass(made) : type;
        } catch (RuntimeException | LinkageError e) {
            LOG.debug("tollgate: the class of bean {} isn't known", name, e);
            return null;
        }
    }

    private static Method[] methods(Class<?> type) {
        try {
            return ReflectionUtils.getUniqueDeclaredMethods(type);
        } catch (IllegalStateException | LinkageError e) {
            LOG.debug("tollgate: {} can't be looked into", type, e);
            return new Method[0];
        }
    }
}
