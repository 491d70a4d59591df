package io.tollgate.spring.webflux;

import io.tollgate.spring.LimiterUnavailableException;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RateLimitedException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers a rejection that a controller throws rather than returns, before the host's own advice. Only an {@code @ExceptionHandler} in the
 * controller itself comes before it.
 */
@ControllerAdvice
@Order(Ordered.HIGHEST_PRECEDENCE)
public class RateLimitExceptionAdvice {
    private final RateLimitGate gate;

    /**
     * An advice.
     *
     * @param gate answers
     */
    public RateLimitExceptionAdvice(RateLimitGate gate) {
        this.gate = gate;
    }

    /**
     * Answers.
     *
     * @param failure  one of the two, or what was made of one
     * @param exchange where
     * @return completes when the answer is written
     */
    @ExceptionHandler({RateLimitedException.class, LimiterUnavailableException.class})
    public Mono<Void> answer(Throwable failure, ServerWebExchange exchange) {
        return ReactiveRejectionResponse.answer(gate, failure, exchange);
    }
}
