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

    static String body(String text) {
        return "{\"error\":" + JsonText.quoted(text) + ",\"successful\":0}";
    }
}
