package io.tollgate.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.util.function.SingletonSupplier;

/**
 * The aspect: guards methods of any bean. A controller's method that the interceptor has decided on in this request is let through, so that
 * a request counts once; what needs arguments the interceptor leaves to the aspect.
 */
public final class RateLimitAdvisor extends StaticMethodMatcherPointcutAdvisor {
    private static final long serialVersionUID = 1;

    /**
     * An aspect. It is among the first beans, so what it needs is asked for with the first call.
     *
     * @param methods tell what is guarded
     * @param gate    decides
     * @param request knows the request that a call belongs to
     */
    public RateLimitAdvisor(Supplier<GuardedMethods> methods, Supplier<RateLimitGate> gate, CurrentRequest request) {
        super(new Limits(methods, gate, request));
        setClassFilter(type -> !type.getName().startsWith("org.springframework.") && !type.getName().startsWith("java."));
    }

    @Override
    public boolean matches(Method method, Class<?> type) {
        Class<?> user = RateLimitLookup.userClass(type, method);
        Method specific = RateLimitLookup.specific(user, method);
        RateLimitLookup.Found found = RateLimitLookup.find(user, specific);
        return !found.limits.isEmpty() && (!found.isOnType || Modifier.isPublic(specific.getModifiers()));
    }

    /** Whether calls of the bean come by this aspect. */
    static boolean isMountedOn(Object bean) {
        if (bean instanceof Advised) {
            for (Advisor advisor : ((Advised) bean).getAdvisors()) {
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
            GuardedRequest request = current.get();
            Call call = new Call(method, request == null ? NoRequest.INSTANCE : request, invocation.getArguments());
            if (!gate.isOpenFor(call)) {
                return invocation.proceed();
            }
            Class<?> returned = method.method().getReturnType();
            if (ReactiveCalls.isPublisher(returned)) {
                // Each subscription is a call of its own to the method, of one decision.
                return ReactiveCalls.when(returned, gate.checkAsync(call),
                        () -> proceed(((ProxyMethodInvocation) invocation).invocableClone()), limited -> substitute(target, call, limited));
            }
            RateLimited limited = gate.check(call);
            return limited == null ? invocation.proceed() : rejected(target, call, limited);
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
