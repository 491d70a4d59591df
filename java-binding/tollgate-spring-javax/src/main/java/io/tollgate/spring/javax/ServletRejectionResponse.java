package io.tollgate.spring.javax;

import io.tollgate.spring.RejectionResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.ServletOutputStream;
import javax.servlet.http.HttpServletResponse;

/** A servlet response as a rejection sees it. */
final class ServletRejectionResponse implements RejectionResponse {
    private final HttpServletResponse response;

    ServletRejectionResponse(HttpServletResponse response) {
        this.response = response;
    }

    @Override
    public void status(int code) {
        response.setStatus(code);
    }

    @Override
    public void header(String name, String value) {
        response.setHeader(name, value);
    }

    @Override
    public void body(String contentType, String body) throws IOException {
        response.setContentType(contentType);
        ServletOutputStream out;
        try {
            out = response.getOutputStream();
        } catch (IllegalStateException e) {
            // A filter, or the page that includes this request, has taken the writer.
            response.getWriter().write(body);
            return;
        }
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setContentLength(bytes.length);
        out.write(bytes);
    }

    @Override
    public Object nativeResponse() {
        return response;
    }
}
