package io.tollgate.spring.webflux;

import io.tollgate.spring.GuardedRequest;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpMethod;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebSession;

/** An exchange as the limiter sees it. What has to be waited for is collected by {@link RequestSources} before anybody asks. */
final class WebFluxGuardedRequest implements GuardedRequest {
    private static final Logger LOG = LoggerFactory.getLogger(WebFluxGuardedRequest.class);

    private final ServerWebExchange exchange;
    private MultiValueMap<String, String> form = new LinkedMultiValueMap<>();
    private WebSession session;
    private Principal principal;
    private Throwable sessionFailure;
    private Throwable principalFailure;

    WebFluxGuardedRequest(ServerWebExchange exchange) {
        this.exchange = exchange;
    }

    void form(MultiValueMap<String, String> collected) {
        this.form = collected;
    }

    void session(WebSession collected) {
        this.session = collected;
    }

    void principal(Principal collected) {
        this.principal = collected;
    }

    void sessionFailed(Throwable failure) {
        this.sessionFailure = failure;
    }

    void principalFailed(Throwable failure) {
        this.principalFailure = failure;
    }

    /** Of the query, then of the form. None where the query can't be read: the host will meet that itself, and answers it. */
    @Override
    public String parameter(String name) {
        try {
            String value = exchange.getRequest().getQueryParams().getFirst(name);
            return value != null ? value : form.getFirst(name);
        } catch (RuntimeException e) {
            LOG.debug("tollgate: the query of {} can't be read", uri(), e);
            return null;
        }
    }

    @Override
    public List<String> headers(String name) {
        List<String> lines = new ArrayList<>();
        // HttpHeaders is no Map from Spring 7 on; this it has always had.
        exchange.getRequest().getHeaders().forEach((header, values) -> {
            if (header.equalsIgnoreCase(name)) {
                lines.addAll(values);
            }
        });
        return lines.isEmpty() ? Collections.emptyList() : lines;
    }

    @Override
    public String header(String name) {
        return exchange.getRequest().getHeaders().getFirst(name);
    }

    @Override
    public String httpMethod() {
        HttpMethod method = exchange.getRequest().getMethod();
        // Null only in Spring 5, which has the other.
        return method != null ? method.toString() : exchange.getRequest().getMethodValue();
    }

    @Override
    public String uri() {
        return exchange.getRequest().getURI().getRawPath();
    }

    @Override
    public String remoteAddress() {
        InetSocketAddress address = exchange.getRequest().getRemoteAddress();
        if (address == null) {
            return null;
        }
        // Unresolved where Spring has it from a forwarded header.
        return address.isUnresolved() ? address.getHostString() : address.getAddress().getHostAddress();
    }

    /** Throws what kept it from being read, as asking a servlet request would. */
    @Override
    public Principal principal() {
        if (principalFailure != null) {
            throw new IllegalStateException("the principal can't be read: " + principalFailure, principalFailure);
        }
        return principal;
    }

    /** Throws what kept the session from being read, as asking a servlet request would. */
    @Override
    public Object sessionAttribute(String name) {
        if (sessionFailure != null) {
            throw new IllegalStateException("the session can't be read: " + sessionFailure, sessionFailure);
        }
        return session == null ? null : session.getAttribute(name);
    }

    @Override
    public Object attribute(String name) {
        return exchange.getAttributes().get(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        if (value == null) {
            exchange.getAttributes().remove(name);
        } else {
            exchange.getAttributes().put(name, value);
        }
    }

    @Override
    public Locale locale() {
        Locale chosen = exchange.getLocaleContext().getLocale();
        return chosen != null ? chosen : Locale.getDefault();
    }

    /** The {@link ServerWebExchange}. */
    @Override
    public Object nativeRequest() {
        return exchange;
    }
}
