package io.tollgate.spring.webflux;

import io.tollgate.spring.RateLimitGate;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/** Answers a rejection that nothing nearer has answered: one from a functional endpoint or a filter. */
public final class RateLimitExceptionHandler implements WebExceptionHandler, Ordered {
    private final RateLimitGate gate;

    /**
     * A handler.
     *
     * @param gate answers
     */
    public RateLimitExceptionHandler(RateLimitGate gate) {
        this.gate = gate;
    }

    /** Before the host's own. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        return ReactiveRejectionResponse.answer(gate, failure, exchange);
    }
}
