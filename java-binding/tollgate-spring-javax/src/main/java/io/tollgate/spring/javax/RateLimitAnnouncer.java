package io.tollgate.spring.javax;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.handler.AbstractHandlerMethodMapping;

/**
 * Counts the guarded methods once the handler mappings are there, and has the gate say so. A child context, such as a second
 * DispatcherServlet's, is reported for itself if it guards something.
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
            collect(refreshed, guarded);
        } catch (Exception | LinkageError e) {
            LOG.error("tollgate: the guarded methods of {} can't be counted", refreshed.getDisplayName(), e);
        }
        if (own || !guarded.isEmpty()) {
            gate.announce(guarded, own ? "" : " of " + refreshed.getDisplayName());
        }
    }

    private void collect(ApplicationContext from, Set<GuardedMethod> guarded) {
        for (AbstractHandlerMethodMapping<?> mapping
                : from.getBeansOfType(AbstractHandlerMethodMapping.class, true, false).values()) {
            for (HandlerMethod handler : mapping.getHandlerMethods().values()) {
                GuardedMethod found = methods.find(handler.getBean(), type(from, handler), handler.getMethod());
                if (found != null) {
                    guarded.add(found);
                }
            }
        }
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
}
