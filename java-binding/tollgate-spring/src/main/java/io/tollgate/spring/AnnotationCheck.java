package io.tollgate.spring;

import java.lang.reflect.Method;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ReflectionUtils;

/** Reads the annotations of all beans once they are there, so that one that can't mean anything keeps the application from starting. */
public final class AnnotationCheck implements SmartInitializingSingleton {
    private static final Logger LOG = LoggerFactory.getLogger(AnnotationCheck.class);

    private final ConfigurableListableBeanFactory beans;
    private final GuardedMethods methods;

    /**
     * A check.
     *
     * @param beans   to look at
     * @param methods read annotations
     */
    public AnnotationCheck(ConfigurableListableBeanFactory beans, GuardedMethods methods) {
        this.beans = beans;
        this.methods = methods;
    }

    /** Throws {@link InvalidRateLimitException} for the first annotation that is wrong. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = type(name);
            if (type != null && !type.getName().startsWith("org.springframework.")) {
                for (Method method : methods(type)) {
                    methods.read(type, method);
                }
            }
        }
    }

    private Class<?> type(String name) {
        try {
            return AutoProxyUtils.determineTargetClass(beans, name);
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
