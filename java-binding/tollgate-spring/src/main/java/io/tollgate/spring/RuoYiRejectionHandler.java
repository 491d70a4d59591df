package io.tollgate.spring;

import java.io.IOException;

/**
 * The answer that RuoYi's front end understands, which shows {@code msg} for code 500: status 200, {@code application/json;charset=UTF-8},
 * {@code {"code":500,"msg":"…"}}, never to be cached.
 */
public final class RuoYiRejectionHandler implements RejectionHandler {
    @Override
    public void handle(Rejection rejection, RejectionResponse response) throws IOException {
        response.status(200);
        response.header("Cache-Control", "no-store");
        response.body("application/json;charset=UTF-8", body(rejection.text()));
    }

    static String body(String text) {
        return "{\"code\":500,\"msg\":" + JsonText.quoted(text) + "}";
    }
}
