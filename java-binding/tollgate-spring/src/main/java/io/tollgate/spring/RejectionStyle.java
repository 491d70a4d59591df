package io.tollgate.spring;

import java.util.function.Supplier;

/** How a rejected request is answered, {@code tollgate.rejection.style}. */
public enum RejectionStyle {
    /** 200 and {@code {"error":"…","successful":0}}, see {@link JsonRejectionHandler}. */
    LEGACY(JsonRejectionHandler::new),
    /** 200 and {@code {"code":500,"msg":"…"}}, see {@link RuoYiRejectionHandler}. */
    RUOYI(RuoYiRejectionHandler::new),
    /** 429 or 503 and {@code application/problem+json}, see {@link HttpRejectionHandler}. */
    HTTP(HttpRejectionHandler::new),
    /** 429 or 503 and a page, see {@link HtmlRejectionHandler}. */
    HTML(HtmlRejectionHandler::new);

    private final Supplier<RejectionHandler> handler;

    RejectionStyle(Supplier<RejectionHandler> handler) {
        this.handler = handler;
    }

    /**
     * Answers in this style.
     *
     * @return a handler
     */
    public RejectionHandler handler() {
        return handler.get();
    }
}
