package io.tollgate.spring.webflux;

import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RateLimited;
import io.tollgate.spring.RejectionResponse;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A reactive response as a rejection sees it: what is said is kept, and written at the end. */
final class ReactiveRejectionResponse implements RejectionResponse {
    private final ServerHttpResponse response;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private int status = 200;
    private byte[] body;

    private ReactiveRejectionResponse(ServerHttpResponse response) {
        this.response = response;
    }

    /** Answers; completes when the answer is written. */
    static Mono<Void> answer(RateLimitGate gate, RateLimited limited, ServerWebExchange exchange) {
        return Mono.defer(() -> {
            ReactiveRejectionResponse answer = new ReactiveRejectionResponse(exchange.getResponse());
            gate.answer(limited, RequestSources.knownOrPlain(exchange), answer);
            return answer.writeTo(exchange);
        });
    }

    /** Answers what carries a rejection, and leaves all else, and what comes too late for an answer, as it is. */
    static Mono<Void> answer(RateLimitGate gate, Throwable failure, ServerWebExchange exchange) {
        RateLimited limited = RateLimited.in(failure);
        return limited == null || exchange.getResponse().isCommitted() ? Mono.error(failure) : answer(gate, limited, exchange);
    }

    @Override
    public void status(int code) {
        status = code;
    }

    @Override
    public void header(String name, String value) {
        headers.put(name, value);
    }

    @Override
    public void body(String contentType, String text) {
        headers.put(HttpHeaders.CONTENT_TYPE, contentType);
        body = text.getBytes(StandardCharsets.UTF_8);
    }

    /** The {@link ServerHttpResponse}. */
    @Override
    public Object nativeResponse() {
        return response;
    }

    private Mono<Void> writeTo(ServerWebExchange exchange) {
        headers.forEach(response.getHeaders()::set);
        if (body != null) {
            response.getHeaders().setContentLength(body.length);
        }
        // A status by its number is set in another way in each generation of Spring; a functional response knows how.
        return ServerResponse.status(status)
                .build((to, context) -> body == null
                        ? response.setComplete() : response.writeWith(Mono.fromSupplier(() -> response.bufferFactory().wrap(body))))
                .flatMap(answer -> answer.writeTo(exchange, NOTHING_TO_ENCODE));
    }

    private static final ServerResponse.Context NOTHING_TO_ENCODE = new ServerResponse.Context() {
        @Override
        public List<HttpMessageWriter<?>> messageWriters() {
            return Collections.emptyList();
        }

        @Override
        public List<ViewResolver> viewResolvers() {
            return Collections.emptyList();
        }
    };
}
