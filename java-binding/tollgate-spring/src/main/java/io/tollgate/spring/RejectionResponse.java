package io.tollgate.spring;

import java.io.IOException;

/** The response to a rejected request, whichever API carries it. */
public interface RejectionResponse {
    /**
     * Sets the status.
     *
     * @param code like 429
     */
    void status(int code);

    /**
     * Sets a header, in place of one of this name.
     *
     * @param name  like {@code Retry-After}
     * @param value its value
     */
    void header(String name, String value);

    /**
     * Writes the body, in UTF-8. Comes last.
     *
     * @param contentType with {@code charset=UTF-8}
     * @param body        the text
     * @throws IOException the client is gone
     */
    void body(String contentType, String body) throws IOException;

    /**
     * The response itself.
     *
     * @return for example an {@code HttpServletResponse}
     */
    Object nativeResponse();
}
