package io.tollgate.spring.javax;

import io.tollgate.spring.GuardedRequest;
import java.security.Principal;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import javax.servlet.ServletRequest;
import javax.servlet.ServletRequestWrapper;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.filter.ForwardedHeaderFilter;
import org.springframework.web.servlet.support.RequestContextUtils;
import org.springframework.web.util.WebUtils;

/** A servlet request as the limiter sees it. */
final class ServletGuardedRequest implements GuardedRequest {
    private static final Logger LOG = LoggerFactory.getLogger(ServletGuardedRequest.class);

    private final HttpServletRequest request;

    ServletGuardedRequest(HttpServletRequest request) {
        this.request = request;
    }

    /** None where the body can't be read, as Tomcat has it: the host will meet that itself, and answers it. */
    @Override
    public String parameter(String name) {
        try {
            return request.getParameter(name);
        } catch (RuntimeException e) {
            LOG.debug("tollgate: the parameters of {} can't be read", request.getRequestURI(), e);
            return null;
        }
    }

    @Override
    public List<String> headers(String name) {
        return headers(request, name);
    }

    @Override
    public List<String> receivedHeaders(String name) {
        return headers(received(), name);
    }

    private static List<String> headers(HttpServletRequest request, String name) {
        Enumeration<String> lines = request.getHeaders(name);
        return lines == null ? Collections.emptyList() : Collections.list(lines);
    }

    @Override
    public String httpMethod() {
        return request.getMethod();
    }

    @Override
    public String uri() {
        return request.getRequestURI();
    }

    @Override
    public String contextPath() {
        return request.getContextPath();
    }

    @Override
    public String remoteAddress() {
        return received().getRemoteAddr();
    }

    /** Spring's filter takes any client's word for where it comes from. */
    private HttpServletRequest received() {
        HttpServletRequest received = request;
        ServletRequest next = request;
        while (next instanceof ServletRequestWrapper) {
            boolean isForwarded = next.getClass().getEnclosingClass() == ForwardedHeaderFilter.class;
            next = ((ServletRequestWrapper) next).getRequest();
            if (isForwarded && next instanceof HttpServletRequest) {
                received = (HttpServletRequest) next;
            }
        }
        return received;
    }

    @Override
    public Principal principal() {
        return request.getUserPrincipal();
    }

    @Override
    public Object sessionAttribute(String name) {
        HttpSession session = request.getSession(false);
        return session == null ? null : session.getAttribute(name);
    }

    @Override
    public Object attribute(String name) {
        return request.getAttribute(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        request.setAttribute(name, value);
        if (WebUtils.isIncludeRequest(request)) {
            setAgainAfterInclude(name, value, null);
        }
    }

    /**
     * Once an include is over, the DispatcherServlet removes what it has added to the attributes; the callbacks run after that. One
     * include may lie in another, so it is done at each level.
     */
    private void setAgainAfterInclude(String name, Object value, RequestAttributes ended) {
        RequestAttributes dispatch = RequestContextHolder.getRequestAttributes();
        if (dispatch != null && dispatch != ended) {
            dispatch.registerDestructionCallback(name, () -> {
                request.setAttribute(name, value);
                setAgainAfterInclude(name, value, dispatch);
            }, RequestAttributes.SCOPE_REQUEST);
        }
    }

    @Override
    public Locale locale() {
        return RequestContextUtils.getLocale(request);
    }

    @Override
    public Object nativeRequest() {
        return request;
    }
}
