package io.tollgate.spring.webflux;

import io.tollgate.spring.CurrentRequest;
import io.tollgate.spring.GuardedRequest;
import org.springframework.web.server.ServerWebExchange;

/** A reactive request belongs to no thread; a method that takes a {@link ServerWebExchange} tells it. */
public final class WebFluxCurrentRequest implements CurrentRequest {
    @Override
    public GuardedRequest get() {
        return null;
    }

    /** Null also where nothing was collected for the exchange yet: then the subscription is left to do so. */
    @Override
    public GuardedRequest get(Object[] arguments) {
        for (Object argument : arguments) {
            if (argument instanceof ServerWebExchange) {
                return RequestSources.known((ServerWebExchange) argument);
            }
        }
        return null;
    }
}
