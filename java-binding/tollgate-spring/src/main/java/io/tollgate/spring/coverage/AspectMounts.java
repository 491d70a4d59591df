package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.RateLimitAdvisor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Set;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AbstractAdvisorAutoProxyCreator;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Whether calls of a bean's method come by the aspect. Looks at the proxies that are there and foretells those that aren't yet. */
final class AspectMounts {
    private final ConfigurableListableBeanFactory beans;
    private final boolean hasAdvisor;
    private final boolean hasCreator;
    private final boolean makesSubclasses;

    AspectMounts(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
        this.hasAdvisor = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RateLimitAdvisor.class, true, false).length > 0;
        // A child context that lacks one has no proxies, whatever its parent has.
        Collection<AbstractAdvisorAutoProxyCreator> creators =
                beans.getBeansOfType(AbstractAdvisorAutoProxyCreator.class, true, false).values();
        this.hasCreator = !creators.isEmpty();
        boolean subclasses = false;
        for (AbstractAdvisorAutoProxyCreator creator : creators) {
            subclasses |= creator.isProxyTargetClass();
        }
        this.makesSubclasses = subclasses;
    }

    /** What keeps the aspect from the method; null if nothing does. */
    Finding obstacle(String name, GuardedMethod guarded) {
        Method method = guarded.method();
        if (Modifier.isStatic(method.getModifiers())) {
            return new Finding(Gap.STATIC, "it is static, and a proxy stands before instances only");
        }
        if (Modifier.isPrivate(method.getModifiers())) {
            return new Finding(Gap.PRIVATE, "it is private, and a proxy doesn't see calls of it");
        }
        if (!hasAdvisor) {
            return new Finding(Gap.NO_AOP, "the application has no AOP, and it is no handler of requests");
        }
        Object bean = made(name);
        return bean == null ? foretold(name, guarded) : seen(bean, guarded);
    }

    /** The bean if it is there by now; nothing is made for this. */
    private Object made(String name) {
        Object bean = beans.containsSingleton(name) ? beans.getSingleton(name) : null;
        // A factory's product may not be there yet.
        return bean instanceof FactoryBean && !(bean instanceof Advised) ? null : bean;
    }

    private static Finding seen(Object bean, GuardedMethod guarded) {
        if (!RateLimitAdvisor.isMountedOn(bean)) {
            return Modifier.isFinal(guarded.type().getModifiers())
                    ? finalClass() : new Finding(Gap.NOT_PROXIED, "the aspect didn't reach its bean, which was made before the aspect "
                            + "was there, or is kept from proxies");
        }
        if (bean instanceof Advised && (Proxy.isProxyClass(bean.getClass()) || !((Advised) bean).isProxyTargetClass())) {
            return inInterface(guarded, ((Advised) bean).getProxiedInterfaces());
        }
        return inSubclass(guarded, bean.getClass().getClassLoader());
    }

    private Finding foretold(String name, GuardedMethod guarded) {
        if (!hasCreator) {
            return new Finding(Gap.NOT_PROXIED, "nothing makes proxies in the context that its bean lives in");
        }
        Class<?> type = guarded.type();
        if (type.isInterface()) {
            return null;
        }
        Set<Class<?>> interfaces = RateLimitAdvisor.proxiedInterfaces(type);
        boolean isSubclass = makesSubclasses || interfaces.isEmpty()
                || beans.containsBeanDefinition(name) && AutoProxyUtils.shouldProxyTargetClass(beans, name);
        if (!isSubclass) {
            return inInterface(guarded, interfaces.toArray(new Class<?>[0]));
        }
        return Modifier.isFinal(type.getModifiers()) ? finalClass() : inSubclass(guarded, type.getClassLoader());
    }

    private static Finding inInterface(GuardedMethod guarded, Class<?>[] interfaces) {
        for (Class<?> contract : interfaces) {
            for (Method candidate : contract.getMethods()) {
                if (candidate.getName().equals(guarded.method().getName())
                        && AopUtils.getMostSpecificMethod(candidate, guarded.type()).equals(guarded.method())) {
                    return null;
                }
            }
        }
        return new Finding(Gap.NOT_IN_INTERFACE, "its bean's proxy implements interfaces, none of which has it");
    }

    private static Finding inSubclass(GuardedMethod guarded, ClassLoader loader) {
        Method method = guarded.method();
        Class<?> declaring = method.getDeclaringClass();
        if (Modifier.isFinal(method.getModifiers())) {
            return new Finding(Gap.FINAL_METHOD, "it is final, and its bean's proxy is a subclass");
        }
        boolean isOpen = Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers());
        if (!isOpen && (loader != declaring.getClassLoader()
                || !ClassUtils.getPackageName(declaring).equals(ClassUtils.getPackageName(guarded.type())))) {
            return new Finding(Gap.PACKAGE_PRIVATE, "it is package-private, and its bean's proxy belongs to another package or class loader");
        }
        return null;
    }

    private static Finding finalClass() {
        return new Finding(Gap.FINAL_CLASS, "its class is final, and a proxy would have to be a subclass");
    }
}
