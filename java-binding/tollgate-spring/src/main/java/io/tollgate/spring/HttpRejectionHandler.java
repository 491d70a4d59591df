package io.tollgate.spring;

import java.io.IOException;

/**
 * The answer in HTTP's own words: 429, or 503 where the store can't answer and the policy is {@code deny}; {@code Retry-After}; the fields
 * of draft-ietf-httpapi-ratelimit-headers-11 where the request was counted, as tollgate's layer for tower writes them; and a body of RFC 9457,
 * never to be cached:
 *
 * <pre>{@code
 * HTTP/1.1 429 Too Many Requests
 * RateLimit-Policy: "wms.Order.list";q=1;w=3
 * RateLimit: "wms.Order.list";r=0;t=2
 * Retry-After: 2
 * Content-Type: application/problem+json;charset=UTF-8
 *
 * {"type":"about:blank","title":"Too Many Requests","status":429,"detail":"…"}
 * }</pre>
 */
public final class HttpRejectionHandler implements RejectionHandler {
    @Override
    public void handle(Rejection rejection, RejectionResponse response) throws IOException {
        RejectionFields.write(rejection, response);
        response.body("application/problem+json;charset=UTF-8", body(rejection.isUnavailable(), rejection.text()));
    }

    static String body(boolean unavailable, String text) {
        return "{\"type\":\"about:blank\",\"title\":" + (unavailable ? "\"Service Unavailable\"" : "\"Too Many Requests\"") + ",\"status\":"
                + RejectionFields.status(unavailable) + ",\"detail\":" + JsonText.quoted(text) + '}';
    }
}
