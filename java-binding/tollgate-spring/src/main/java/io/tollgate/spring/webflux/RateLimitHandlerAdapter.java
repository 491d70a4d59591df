package io.tollgate.spring.webflux;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RateLimited;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerAdapter;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Asks the gate before a guarded handler method runs, then leaves it to the adapter that Spring would have taken. It is asked when the
 * handler is known and CORS is done. All other handlers cost a type check and one cached look-up. No thread waits: a
 * request goes on when its decision comes, on one of Reactor's {@code parallel} threads.
 */
public final class RateLimitHandlerAdapter implements HandlerAdapter, Ordered {
    private final GuardedMethods methods;
    private final RateLimitGate gate;
    private final Others<HandlerAdapter> adapters;

    /**
     * An adapter.
     *
     * @param methods tell what is guarded
     * @param gate    decides
     * @param context where Spring's adapters are, for exchanges that name no context of their own
     */
    public RateLimitHandlerAdapter(GuardedMethods methods, RateLimitGate gate, ApplicationContext context) {
        this.methods = methods;
        this.gate = gate;
        this.adapters = new Others<>(HandlerAdapter.class, this, context);
    }

    /** Before Spring's own. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public boolean supports(Object handler) {
        return handler instanceof HandlerMethod && guard((HandlerMethod) handler) != null;
    }

    @Override
    public Mono<HandlerResult> handle(ServerWebExchange exchange, Object handler) {
        HandlerMethod called = (HandlerMethod) handler;
        GuardedMethod method = guard(called);
        return RequestSources.collect(exchange, method, called)
                .flatMap(request -> await(gate.admitAsync(method, called.getBean(), request).toCompletableFuture()))
                .flatMap(limited -> limited.isPresent()
                        ? ReactiveRejectionResponse.answer(gate, limited.get(), exchange).then(Mono.<HandlerResult>empty())
                        : proceed(exchange, handler));
    }

    private GuardedMethod guard(HandlerMethod handler) {
        return methods.find(handler.getBean(), handler.getBeanType(), handler.getMethod());
    }

    private static Mono<Optional<RateLimited>> await(CompletableFuture<RateLimited> decision) {
        Mono<Optional<RateLimited>> answer = Mono.fromFuture(decision.thenApply(Optional::ofNullable));
        // The host's own work doesn't belong among the threads that carry decisions.
        return decision.isDone() ? answer : answer.publishOn(Schedulers.parallel());
    }

    private Mono<HandlerResult> proceed(ServerWebExchange exchange, Object handler) {
        for (HandlerAdapter adapter : adapters.of(exchange)) {
            if (adapter.supports(handler)) {
                return adapter.handle(exchange, handler);
            }
        }
        return Mono.error(new IllegalStateException("No HandlerAdapter: " + handler));
    }
}
