package io.tollgate.spring;

import java.io.IOException;

/**
 * The answer that data grids of the EasyUI kind understand: status 200, {@code application/json;charset=UTF-8},
 * {@code {"error":"…","successful":0}}, never to be cached.
 */
public final class JsonRejectionHandler implements RejectionHandler {
    @Override
    public void handle(Rejection rejection, RejectionResponse response) throws IOException {
        response.status(200);
        response.header("Cache-Control", "no-store");
        response.body("application/json;charset=UTF-8", body(rejection.text()));
    }

    /** Escapes what JSON, JavaScript and UTF-8 can't carry: control characters, line separators, lone surrogates. */
    static String body(String text) {
        StringBuilder json = new StringBuilder(text.length() + 32).append("{\"error\":\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                json.append(c).append(text.charAt(++i));
            } else if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c == '\u2028' || c == '\u2029' || Character.isSurrogate(c)) {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append("\",\"successful\":0}").toString();
    }
}
