package io.tollgate.spring;

import java.io.Closeable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * The aspect: guards methods of any bean. A controller's method that the interceptor has decided on in this request is let through, so that
 * a request counts once; what needs arguments the interceptor leaves to the aspect.
 */
public final class RateLimitAdvisor extends StaticMethodMatcherPointcutAdvisor implements BeanFactoryAware {
    private static final long serialVersionUID = 1;

    private transient BeanFactory beans;

    /**
     * An aspect. It is among the first beans, so what it needs is asked for with the first call.
     *
     * @param methods tell what is guarded
     * @param gate    decides
     * @param request knows the request that a call belongs to
     */
    public RateLimitAdvisor(Supplier<GuardedMethods> methods, Supplier<RateLimitGate> gate, CurrentRequest request) {
        super(new Limits(methods, gate, request));
        setClassFilter(type -> !type.getName().startsWith("org.springframework.") && !type.getName().startsWith("java.")
                && (!Modifier.isFinal(type.getModifiers()) || Proxy.isProxyClass(type) || isProxiedByInterfaces(type)));
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        this.beans = beans;
    }

    /** Of a final class no subclass can be made: a host that works would no longer start. */
    private boolean isProxiedByInterfaces(Class<?> type) {
        return beans != null && beans.containsBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
                && !beans.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class).isProxyTargetClass()
                && !proxiedInterfaces(type).isEmpty();
    }

    /**
     * What a proxy of a class implements where proxies aren't made subclasses.
     *
     * @param type the class
     * @return its interfaces; empty if Spring makes a subclass for want of any that mean something
     */
    public static Set<Class<?>> proxiedInterfaces(Class<?> type) {
        Set<Class<?>> found = ClassUtils.getAllInterfacesForClassAsSet(type);
        for (Class<?> next : found) {
            if (next.getMethods().length > 0 && next != InitializingBean.class && next != DisposableBean.class
                    && next != Closeable.class && next != AutoCloseable.class && !Aware.class.isAssignableFrom(next)) {
                return found;
            }
        }
        return Collections.emptySet();
    }

    @Override
    public boolean matches(Method method, Class<?> type) {
        Class<?> user = RateLimitLookup.userClass(type, method);
        Method specific = RateLimitLookup.specific(user, method);
        RateLimitLookup.Found found = RateLimitLookup.find(user, specific);
        return !found.limits.isEmpty() && (!found.isOnType || Modifier.isPublic(specific.getModifiers()));
    }

    /**
     * Whether calls of a bean come by this aspect.
     *
     * @param bean the bean, or a factory that makes a proxy of it
     * @return false if it isn't proxied, or not for this
     */
    public static boolean isMountedOn(Object bean) {
        // A proxy may stand before a proxy.
        for (Object next = bean; next instanceof Advised; next = AopProxyUtils.getSingletonTarget(next)) {
            for (Advisor advisor : ((Advised) next).getAdvisors()) {
                Advice advice = advisor.getAdvice();
                if (advice instanceof Limits) {
                    return true;
                }
            }
        }
        return false;
    }

    private static final class Limits implements MethodInterceptor {
        private final Supplier<GuardedMethods> methods;
        private final Supplier<RateLimitGate> gate;
        private final CurrentRequest current;

        Limits(Supplier<GuardedMethods> methods, Supplier<RateLimitGate> gate, CurrentRequest current) {
            this.methods = SingletonSupplier.of(methods);
            this.gate = SingletonSupplier.of(gate);
            this.current = Objects.requireNonNull(current, "current");
        }

        @Override
        public Object invoke(MethodInvocation invocation) throws Throwable {
            Object target = invocation.getThis();
            GuardedMethod method = target == null ? null : methods.get().find(target, target.getClass(), invocation.getMethod());
            if (method == null) {
                return invocation.proceed();
            }
            RateLimitGate gate = this.gate.get();
            Object[] arguments = invocation.getArguments();
            GuardedRequest request = current.get(arguments);
            Call call = new Call(method, request == null ? NoRequest.INSTANCE : request, arguments);
            if (!gate.isOpenFor(call)) {
                return invocation.proceed();
            }
            Class<?> returned = method.method().getReturnType();
            if (ReactiveCalls.isPublisher(returned)) {
                // Each subscription is a call of its own to the method, of one decision.
                Supplier<Object> called = () -> proceed(((ProxyMethodInvocation) invocation).invocableClone());
                return request == null && method.usesRequest()
                        ? ReactiveCalls.whenSubscribed(returned, method, found -> ask(gate, new Call(method, found, arguments)), called,
                                limited -> substitute(target, call, limited))
                        : ReactiveCalls.when(returned, gate.checkAsync(call), called, limited -> substitute(target, call, limited));
            }
            if (ReactiveCalls.isNonBlockingThread()) {
                if (returned == CompletableFuture.class || returned == CompletionStage.class) {
                    MethodInvocation later = ((ProxyMethodInvocation) invocation).invocableClone();
                    return gate.checkAsync(call).thenCompose(
                            limited -> (CompletionStage<?>) (limited == null ? proceed(later) : substitute(target, call, limited)));
                }
                gate.warnOfWaiting(method);
            }
            RateLimited limited = gate.check(call);
            return limited == null ? invocation.proceed() : rejected(target, call, limited);
        }

        private static CompletableFuture<RateLimited> ask(RateLimitGate gate, Call call) {
            return gate.isOpenFor(call) ? gate.checkAsync(call) : CompletableFuture.completedFuture(null);
        }

        private static Object rejected(Object target, Call call, RateLimited limited) throws Throwable {
            Substitute substitute = limited.rule().substitute();
            if (substitute != null) {
                return substitute.get(target, call.arguments(), limited);
            }
            throw limited.isUnavailable() ? new LimiterUnavailableException(limited) : new RateLimitedException(limited);
        }

        private static Object substitute(Object target, Call call, RateLimited limited) {
            try {
                return rejected(target, call, limited);
            } catch (Throwable e) {
                throw ReactiveCalls.propagate(e);
            }
        }

        private static Object proceed(MethodInvocation invocation) {
            try {
                return invocation.proceed();
            } catch (Throwable e) {
                throw ReactiveCalls.propagate(e);
            }
        }
    }
}
