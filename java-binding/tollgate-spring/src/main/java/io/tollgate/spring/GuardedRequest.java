package io.tollgate.spring;

import java.security.Principal;
import java.util.List;
import java.util.Locale;

/** What of a request the limiter needs, whichever API carries it. For the thread that handles the request. */
public interface GuardedRequest {
    /**
     * A parameter of the query, the form body or a multipart part.
     *
     * @param name its name
     * @return its first value, null if there is none
     */
    String parameter(String name);

    /**
     * A header.
     *
     * @param name its name, in any case
     * @return its lines in the order in which they came; empty if there is none
     */
    List<String> headers(String name);

    /**
     * The first line of a header.
     *
     * @param name its name, in any case
     * @return null if there is none
     */
    default String header(String name) {
        List<String> lines = headers(name);
        return lines.isEmpty() ? null : lines.get(0);
    }

    /**
     * A header as it was received, also where the host hides it from its own code, as Spring's {@code ForwardedHeaderFilter} does.
     *
     * @param name its name, in any case
     * @return its lines in the order in which they came; empty if there is none
     */
    default List<String> receivedHeaders(String name) {
        return headers(name);
    }

    /**
     * The request's method.
     *
     * @return like {@code POST}; null outside a request
     */
    String httpMethod();

    /**
     * The path that was asked for.
     *
     * @return with the context path, without the query, as it came; null outside a request
     */
    String uri();

    /**
     * The part of {@link #uri()} that leads to the application.
     *
     * @return like {@code /shop}; empty for none, and outside a request
     */
    default String contextPath() {
        return "";
    }

    /**
     * The address that the connection came from, a proxy's where there is one; whatever a header says.
     *
     * @return an IP address; null where it isn't known
     */
    String remoteAddress();

    /**
     * Who logged in.
     *
     * @return null if nobody has
     */
    Principal principal();

    /**
     * An attribute of the session. Never creates a session.
     *
     * @param name its name
     * @return null if there is no session or no such attribute
     */
    Object sessionAttribute(String name);

    /**
     * An attribute of the request.
     *
     * @param name its name
     * @return null if there is none
     */
    Object attribute(String name);

    /**
     * Sets an attribute that all further dispatches of this request see.
     *
     * @param name  its name
     * @param value its value
     */
    void setAttribute(String name, Object value);

    /**
     * The locale that the host has chosen for this request.
     *
     * @return the locale
     */
    Locale locale();

    /**
     * The request itself.
     *
     * @return for example an {@code HttpServletRequest}; null outside a request
     */
    Object nativeRequest();
}
