package io.tollgate.spring.webflux;

import io.tollgate.spring.RateLimitGate;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerResult;
import org.springframework.web.reactive.HandlerResultHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers a rejection that a controller's publisher ends with, before any {@code @ExceptionHandler} hears of it: else a host's
 * {@code @ExceptionHandler(Exception.class)} would make an error of it. The result itself is left to the handler that Spring would have taken.
 */
public final class RateLimitResultHandler implements HandlerResultHandler, Ordered {
    private final RateLimitGate gate;
    private final Others<HandlerResultHandler> handlers;

    /**
     * A handler.
     *
     * @param gate    answers
     * @param context where Spring's handlers are, for exchanges that name no context of their own
     */
    public RateLimitResultHandler(RateLimitGate gate, ApplicationContext context) {
        this.gate = gate;
        this.handlers = new Others<>(HandlerResultHandler.class, this, context);
    }

    /** Before Spring's own. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public boolean supports(HandlerResult result) {
        return result.getHandler() instanceof HandlerMethod;
    }

    @Override
    public Mono<Void> handleResult(ServerWebExchange exchange, HandlerResult result) {
        for (HandlerResultHandler handler : handlers.of(exchange)) {
            if (handler.supports(result)) {
                return handler.handleResult(exchange, result)
                        .onErrorResume(failure -> ReactiveRejectionResponse.answer(gate, failure, exchange));
            }
        }
        return Mono.error(new IllegalStateException("No HandlerResultHandler for " + result.getReturnValue()));
    }
}
