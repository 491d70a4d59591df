package io.tollgate.spring.javax;

import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RateLimited;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Answers a rejection by the aspect as one by the interceptor is answered. It comes before everything else that knows exceptions: else a
 * host's {@code @ExceptionHandler(Exception.class)} would make an error of it.
 */
public final class RateLimitExceptionResolver implements HandlerExceptionResolver, Ordered {
    private final RateLimitGate gate;

    /**
     * A resolver.
     *
     * @param gate answers
     */
    public RateLimitExceptionResolver(RateLimitGate gate) {
        this.gate = gate;
    }

    @Override
    public ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response, Object handler, Exception failure) {
        RateLimited limited = RateLimited.in(failure);
        if (limited == null || response.isCommitted()) {
            return null;
        }
        gate.answer(limited, new ServletGuardedRequest(request), new ServletRejectionResponse(response));
        return new ModelAndView();
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
