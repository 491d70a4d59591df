package io.tollgate.spring.webflux;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import java.util.LinkedHashSet;
import java.util.Set;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.result.method.AbstractHandlerMethodMapping;
import org.springframework.web.server.ServerWebExchange;

/**
 * Counts the guarded handler methods once the handler mappings are there, and has the gate say so. A child context, such as the actuator's,
 * is reported for itself if it guards something.
 */
public final class RateLimitAnnouncer implements ApplicationListener<ContextRefreshedEvent> {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitAnnouncer.class);

    private final ApplicationContext context;
    private final GuardedMethods methods;
    private final RateLimitGate gate;

    /**
     * An announcer.
     *
     * @param context that it belongs to
     * @param methods tell what is guarded
     * @param gate    says it
     */
    public RateLimitAnnouncer(ApplicationContext context, GuardedMethods methods, RateLimitGate gate) {
        this.context = context;
        this.methods = methods;
        this.gate = gate;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        ApplicationContext refreshed = event.getApplicationContext();
        boolean own = refreshed == context;
        Set<GuardedMethod> guarded = new LinkedHashSet<>();
        try {
            guarded.addAll(handlers(refreshed, methods));
        } catch (Exception | LinkageError e) {
            LOG.error("tollgate: the guarded methods of {} can't be counted", refreshed.getDisplayName(), e);
        }
        for (GuardedMethod method : guarded) {
            gate.expectAsync(method);
            if (isBlind(method)) {
                LOG.error("tollgate: {} is NOT LIMITED by what its rules ask of the request: they look at arguments too, or something is "
                        + "returned in its place, and then a method that returns no Mono or Flux has to take the ServerWebExchange", method);
            }
        }
        if (own || !guarded.isEmpty()) {
            gate.announce(guarded, own ? "" : " of " + refreshed.getDisplayName());
        }
    }

    /**
     * The guarded handler methods of a context, its parents' left out.
     *
     * @param from    the context
     * @param methods tell what is guarded
     * @return in the order of the mappings
     */
    public static Set<GuardedMethod> handlers(ApplicationContext from, GuardedMethods methods) {
        Set<GuardedMethod> guarded = new LinkedHashSet<>();
        for (AbstractHandlerMethodMapping<?> mapping : from.getBeansOfType(AbstractHandlerMethodMapping.class, true, false).values()) {
            for (HandlerMethod handler : mapping.getHandlerMethods().values()) {
                GuardedMethod found = methods.find(handler.getBean(), type(from, handler), handler.getMethod());
                if (found != null) {
                    guarded.add(found);
                }
            }
        }
        return guarded;
    }

    /** A controller behind a JDK proxy is still a bean's name here; what it was made from is known without making it. */
    private static Class<?> type(ApplicationContext from, HandlerMethod handler) {
        if (handler.getBean() instanceof String) {
            Class<?> target = AutoProxyUtils.determineTargetClass(
                    (ConfigurableListableBeanFactory) from.getAutowireCapableBeanFactory(), (String) handler.getBean());
            if (target != null) {
                return target;
            }
        }
        return handler.getBeanType();
    }

    /** Whether the aspect has to decide it, needs the request for that, and can't get it. */
    private static boolean isBlind(GuardedMethod method) {
        if (!method.isByInvocation() || !method.usesRequest() || Publisher.class.isAssignableFrom(method.method().getReturnType())) {
            return false;
        }
        for (Class<?> parameter : method.method().getParameterTypes()) {
            if (ServerWebExchange.class.isAssignableFrom(parameter)) {
                return false;
            }
        }
        return true;
    }
}
