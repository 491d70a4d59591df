package io.tollgate.spring.webflux;

import io.tollgate.spring.GuardedRequest;
import io.tollgate.spring.SubscribedRequest;
import org.reactivestreams.Subscription;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Lets the aspect find the request in Reactor's context. It comes last of all filters, so that it sees the exchange as the handlers
 * do, with the login that other filters have put into it.
 */
public final class RequestContextFilter implements WebFilter, Ordered {
    /** After the host's own. */
    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        SubscribedRequest request = method -> RequestSources.collect(exchange, method, null).cast(GuardedRequest.class);
        return new WithRequest(chain.filter(exchange), request);
    }

    /** Reactor's own operator for it hasn't the same name in all versions. */
    private static final class WithRequest extends Mono<Void> {
        private final Mono<Void> source;
        private final SubscribedRequest request;

        WithRequest(Mono<Void> source, SubscribedRequest request) {
            this.source = source;
            this.request = request;
        }

        @Override
        public void subscribe(CoreSubscriber<? super Void> subscriber) {
            Context context = subscriber.currentContext().put(SubscribedRequest.KEY, request);
            source.subscribe(new CoreSubscriber<Void>() {
                @Override
                public Context currentContext() {
                    return context;
                }

                @Override
                public void onSubscribe(Subscription subscription) {
                    subscriber.onSubscribe(subscription);
                }

                @Override
                public void onNext(Void nothing) {
                    subscriber.onNext(nothing);
                }

                @Override
                public void onError(Throwable failure) {
                    subscriber.onError(failure);
                }

                @Override
                public void onComplete() {
                    subscriber.onComplete();
                }
            });
        }
    }
}
