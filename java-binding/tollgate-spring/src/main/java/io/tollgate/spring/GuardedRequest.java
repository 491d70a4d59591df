package io.tollgate.spring;

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
     * @return for example an {@code HttpServletRequest}
     */
    Object nativeRequest();
}
