package io.tollgate.spring.webflux;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.coverage.HandlerSource;
import io.tollgate.spring.coverage.MappedHandler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.result.method.AbstractHandlerMethodMapping;
import org.springframework.web.server.ServerWebExchange;

/** The handler methods of Spring WebFlux. The adapter stands before each, whatever mapping it comes from. */
public final class WebFluxHandlers implements HandlerSource {
    private static final Logger LOG = LoggerFactory.getLogger(WebFluxHandlers.class);

    private final GuardedMethods methods;
    private final RateLimitGate gate;
    private final Set<GuardedMethod> seen = ConcurrentHashMap.newKeySet();

    /**
     * A source.
     *
     * @param methods tell what is guarded
     * @param gate    is told which methods requests reach
     */
    public WebFluxHandlers(GuardedMethods methods, RateLimitGate gate) {
        this.methods = methods;
        this.gate = gate;
    }

    @Override
    public Collection<MappedHandler> handlers(ApplicationContext context) {
        List<MappedHandler> handlers = new ArrayList<>();
        for (AbstractHandlerMethodMapping<?> mapping : context.getBeansOfType(AbstractHandlerMethodMapping.class, true, false).values()) {
            for (HandlerMethod handler : mapping.getHandlerMethods().values()) {
                handlers.add(new MappedHandler(handler.getBean(), handler.getBeanType(), handler.getMethod(), null));
                GuardedMethod guarded = methods.find(handler.getBean(), handler.getBeanType(), handler.getMethod());
                if (guarded != null && seen.add(guarded)) {
                    expect(guarded);
                }
            }
        }
        return handlers;
    }

    private void expect(GuardedMethod method) {
        gate.expectAsync(method);
        if (isBlind(method)) {
            LOG.error("tollgate: {} is NOT LIMITED by what its rules ask of the request: they look at arguments too, or something is "
                    + "returned in its place. Have it return a Mono or a Flux, or take the ServerWebExchange", method);
        }
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
