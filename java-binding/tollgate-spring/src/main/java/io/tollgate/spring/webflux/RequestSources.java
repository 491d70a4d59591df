package io.tollgate.spring.webflux;

import io.tollgate.spring.GuardedMethod;
import java.security.Principal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpEntity;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebSession;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import org.springframework.web.server.session.CookieWebSessionIdResolver;
import org.springframework.web.server.session.DefaultWebSessionManager;
import org.springframework.web.server.session.WebSessionIdResolver;
import org.springframework.web.server.session.WebSessionManager;
import reactor.core.publisher.Mono;

/** Collects what tells who sent a request, without waiting: form, session and principal. */
final class RequestSources {
    private static final Logger LOG = LoggerFactory.getLogger(RequestSources.class);
    private static final String COLLECTED = WebFluxGuardedRequest.class.getName();
    private static final WebSessionIdResolver SESSION_COOKIE = new CookieWebSessionIdResolver();

    private RequestSources() {}

    /** What was collected for the exchange before; null if nothing was. */
    static WebFluxGuardedRequest known(ServerWebExchange exchange) {
        return (WebFluxGuardedRequest) exchange.getAttributes().get(COLLECTED);
    }

    /** For an answer, which needs nothing that has to be waited for. */
    static WebFluxGuardedRequest knownOrPlain(ServerWebExchange exchange) {
        WebFluxGuardedRequest known = known(exchange);
        return known != null ? known : new WebFluxGuardedRequest(exchange);
    }

    /**
     * The request with what the method's rules may ask of it.
     *
     * @param handler what the request is about to reach; null where that has been reached, and the body is its own
     */
    static Mono<WebFluxGuardedRequest> collect(ServerWebExchange exchange, GuardedMethod method, HandlerMethod handler) {
        WebFluxGuardedRequest known = known(exchange);
        if (known != null) {
            return Mono.just(known);
        }
        WebFluxGuardedRequest request = new WebFluxGuardedRequest(exchange);
        if (!method.usesCaller()) {
            return Mono.just(request);
        }
        return Mono.when(form(exchange, handler, request), session(exchange, request), principal(exchange, request))
                .then(Mono.fromSupplier(() -> {
                    exchange.getAttributes().put(COLLECTED, request);
                    return request;
                }));
    }

    /** A form that can't be read is none: the host meets the same error in it, and answers it. */
    private static Mono<Void> form(ServerWebExchange exchange, HandlerMethod handler, WebFluxGuardedRequest request) {
        if (handler == null || !isForm(exchange) || bindsBody(handler)) {
            return Mono.empty();
        }
        return exchange.getFormData().doOnNext(request::form).then().onErrorResume(e -> {
            LOG.debug("tollgate: the form of {} can't be read", request.uri(), e);
            return Mono.empty();
        });
    }

    private static boolean isForm(ServerWebExchange exchange) {
        try {
            MediaType type = exchange.getRequest().getHeaders().getContentType();
            return type != null && MediaType.APPLICATION_FORM_URLENCODED.isCompatibleWith(type);
        } catch (InvalidMediaTypeException e) {
            return false;
        }
    }

    /** Whether the method reads the body itself, which can be read once. */
    private static boolean bindsBody(HandlerMethod handler) {
        for (MethodParameter parameter : handler.getMethodParameters()) {
            if (parameter.hasParameterAnnotation(RequestBody.class) || HttpEntity.class.isAssignableFrom(parameter.getParameterType())) {
                return true;
            }
        }
        return false;
    }

    /** Only where the client names a session: else asking would make one. */
    private static Mono<Void> session(ServerWebExchange exchange, WebFluxGuardedRequest request) {
        return Mono.defer(() -> sessionIds(exchange).resolveSessionIds(exchange).isEmpty()
                        ? Mono.<WebSession>empty() : exchange.getSession().filter(WebSession::isStarted))
                .doOnNext(request::session).then()
                .onErrorResume(e -> Mono.fromRunnable(() -> request.sessionFailed(e)));
    }

    private static WebSessionIdResolver sessionIds(ServerWebExchange exchange) {
        ApplicationContext context = exchange.getApplicationContext();
        if (context == null || !context.containsBean(WebHttpHandlerBuilder.WEB_SESSION_MANAGER_BEAN_NAME)) {
            return SESSION_COOKIE;
        }
        WebSessionManager manager = context.getBean(WebHttpHandlerBuilder.WEB_SESSION_MANAGER_BEAN_NAME, WebSessionManager.class);
        return manager instanceof DefaultWebSessionManager
                ? ((DefaultWebSessionManager) manager).getSessionIdResolver() : SESSION_COOKIE;
    }

    private static Mono<Void> principal(ServerWebExchange exchange, WebFluxGuardedRequest request) {
        return Mono.defer(() -> exchange.<Principal>getPrincipal()).doOnNext(request::principal).then()
                .onErrorResume(e -> Mono.fromRunnable(() -> request.principalFailed(e)));
    }
}
