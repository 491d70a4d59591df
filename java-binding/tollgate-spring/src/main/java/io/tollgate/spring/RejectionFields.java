package io.tollgate.spring;

import io.tollgate.Decision;
import java.nio.charset.StandardCharsets;

/** The status and the header fields of a rejection in HTTP's own words. */
final class RejectionFields {
    /** The largest integer of a structured field. */
    private static final long MAX_INTEGER = 999_999_999_999_999L;

    private RejectionFields() {}

    static int status(boolean unavailable) {
        return unavailable ? 503 : 429;
    }

    static void write(Rejection rejection, RejectionResponse response) {
        response.status(status(rejection.isUnavailable()));
        Decision decision = rejection.decision();
        long wait = secondsUntil(decision.resetAfterMillis());
        // Where nothing was counted there is no window to speak of.
        if (decision.resetAfterMillis() > 0) {
            String policy = structuredString(rejection.rule().toString());
            long limit = Math.min(decision.limit(), MAX_INTEGER);
            response.header("RateLimit-Policy", policy + ";q=" + limit + ";w=" + decision.interval());
            response.header("RateLimit", policy + ";r=" + Math.min(decision.remaining(), MAX_INTEGER) + ";t=" + wait);
        }
        response.header("Retry-After", String.valueOf(wait));
        response.header("Cache-Control", "no-store");
    }

    /** Whole seconds, rounded up; at least 1, also where no window is known. */
    static long secondsUntil(long millis) {
        long seconds = millis / 1000 + (millis % 1000 > 0 ? 1 : 0);
        return Math.min(Math.max(seconds, 1), MAX_INTEGER);
    }

    /** A String of RFC 9651; what it can't hold is percent-encoded. */
    static String structuredString(String text) {
        StringBuilder string = new StringBuilder("\"");
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (b == '"' || b == '\\') {
                string.append('\\').append((char) b);
            } else if (b >= ' ' && b <= '~') {
                string.append((char) b);
            } else {
                string.append(String.format("%%%02X", b));
            }
        }
        return string.append('"').toString();
    }
}
