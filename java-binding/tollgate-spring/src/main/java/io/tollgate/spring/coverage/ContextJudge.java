package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.GuardedRule;
import io.tollgate.spring.LimitBy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;

/** Says of each guarded method of one context what stands before it. */
final class ContextJudge {
    private static final Logger LOG = LoggerFactory.getLogger(ContextJudge.class);

    private final GuardedMethods methods;
    private final BooleanSupplier knowsTenants;

    ContextJudge(GuardedMethods methods, BooleanSupplier knowsTenants) {
        this.methods = methods;
        this.knowsTenants = knowsTenants;
    }

    List<MethodCoverage> judge(ApplicationContext context, BeanWalk walk, Collection<HandlerSource> sources) {
        Map<GuardedMethod, List<MappedHandler>> handlers = handlers(context, sources);
        AspectMounts aspects = new AspectMounts((ConfigurableListableBeanFactory) context.getAutowireCapableBeanFactory());
        List<MethodCoverage> found = new ArrayList<>(walk.unreadable());
        for (Map.Entry<String, Set<GuardedMethod>> bean : walk.guarded().entrySet()) {
            for (GuardedMethod guarded : bean.getValue()) {
                List<MappedHandler> mapped = handlers.getOrDefault(guarded, Collections.emptyList());
                // The rest of a controller that carries the annotation itself isn't meant.
                if (!mapped.isEmpty() || !guarded.isHandlersOnly()) {
                    found.add(judge(bean.getKey(), guarded, mapped, aspects));
                }
            }
            handlers.keySet().removeAll(bean.getValue());
        }
        // What a mapping knows of a bean can be more than the bean's definition tells.
        handlers.forEach((guarded, mapped) -> {
            Object bean = mapped.get(0).bean();
            found.add(judge(bean instanceof String ? (String) bean : bean.getClass().getName(), guarded, mapped, aspects));
        });
        return found;
    }

    private Map<GuardedMethod, List<MappedHandler>> handlers(ApplicationContext context, Collection<HandlerSource> sources) {
        Map<GuardedMethod, List<MappedHandler>> handlers = new LinkedHashMap<>();
        for (HandlerSource source : sources) {
            try {
                for (MappedHandler handler : source.handlers(context)) {
                    GuardedMethod guarded = methods.find(handler.bean(), type(context, handler), handler.method());
                    if (guarded != null) {
                        handlers.computeIfAbsent(guarded, key -> new ArrayList<>()).add(handler);
                    }
                }
            } catch (Exception | LinkageError e) {
                LOG.error("tollgate: the guarded methods of {} can't be counted", context.getDisplayName(), e);
            }
        }
        return handlers;
    }

    /** A controller behind a proxy of interfaces can still be a bean's name here; what is behind the name the beans know. */
    private static Class<?> type(ApplicationContext context, MappedHandler handler) {
        Class<?> type = handler.bean() instanceof String ? BeanWalk.type(
                (ConfigurableListableBeanFactory) context.getAutowireCapableBeanFactory(), (String) handler.bean()) : null;
        return type == null ? handler.type() : type;
    }

    private MethodCoverage judge(String name, GuardedMethod guarded, List<MappedHandler> mapped, AspectMounts aspects) {
        String shadow = null;
        for (MappedHandler handler : mapped) {
            shadow = shadow == null ? handler.shadow() : shadow;
        }
        boolean isAsked = !mapped.isEmpty() && shadow == null;
        Finding obstacle = aspects.obstacle(name, guarded);
        EnumSet<Mount> mounts = EnumSet.noneOf(Mount.class);
        if (isAsked && !guarded.isByInvocation()) {
            mounts.add(Mount.INTERCEPTOR);
        }
        if (obstacle == null && (!guarded.isHandlersOnly() || isAsked && guarded.isByInvocation())) {
            mounts.add(Mount.ASPECT);
        }
        if (!mounts.isEmpty()) {
            return isOfNoTenant(guarded) ? MethodCoverage.open(name, guarded, new Finding(Gap.NO_TENANT,
                    "it counts by tenant, and nothing says whose a request is: all pass uncounted"))
                    : MethodCoverage.covered(name, guarded, !mapped.isEmpty(), mounts);
        }
        if (shadow != null) {
            return MethodCoverage.open(name, guarded, new Finding(Gap.SHADOWED, "requests of it aren't counted: " + shadow));
        }
        return MethodCoverage.open(name, guarded, mapped.isEmpty() ? obstacle : obstacle.ofHandler());
    }

    private boolean isOfNoTenant(GuardedMethod guarded) {
        for (GuardedRule rule : guarded.rules()) {
            if (rule.by() == LimitBy.TENANT) {
                return !knowsTenants.getAsBoolean();
            }
        }
        return false;
    }
}
