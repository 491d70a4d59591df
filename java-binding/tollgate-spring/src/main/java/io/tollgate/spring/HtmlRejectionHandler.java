package io.tollgate.spring;

import java.io.IOException;
import java.util.Locale;

/**
 * A page for people whose browser asked for one: 429 or 503 and the header fields as {@link HttpRejectionHandler} has them, the text
 * alone in the request's language, nothing loaded from elsewhere, never to be cached.
 */
public final class HtmlRejectionHandler implements RejectionHandler {
    private static final String STYLE = "html{height:100%;color-scheme:light dark}"
            + "body{min-height:100%;margin:0;display:flex;align-items:center;justify-content:center;background:#f4f5f7;color:#23272f;"
            + "font:1.125rem/1.6 system-ui,-apple-system,\"Segoe UI\",\"PingFang SC\",\"Microsoft YaHei\",\"Noto Sans CJK SC\",sans-serif}"
            + "main{box-sizing:border-box;max-width:32rem;margin:1.5rem;padding:2rem 2.5rem;text-align:center;background:#fff;"
            + "border-top:4px solid #d97706;border-radius:8px;box-shadow:0 2px 12px rgba(0,0,0,.12);overflow-wrap:anywhere}"
            + "p{margin:0 0 .5rem;font-size:.875rem;letter-spacing:.1em;opacity:.65}h1{margin:0;font-size:1.25rem;font-weight:600}"
            + "@media(prefers-color-scheme:dark){body{background:#16181d;color:#e6e8eb}main{background:#22262e}}";

    @Override
    public void handle(Rejection rejection, RejectionResponse response) throws IOException {
        RejectionFields.write(rejection, response);
        response.body("text/html;charset=UTF-8", page(rejection.isUnavailable(), rejection.text(), rejection.request().locale()));
    }

    static String page(boolean unavailable, String text, Locale locale) {
        String shown = escaped(text);
        return "<!DOCTYPE html>\n<html lang=\"" + escaped(locale.toLanguageTag()) + "\" dir=\"auto\">\n<head>\n<meta charset=\"UTF-8\">\n"
                + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"robots\" content=\"noindex\">\n"
                + "<title>" + shown + "</title>\n<style>" + STYLE + "</style>\n</head>\n<body>\n<main>\n<p>"
                + RejectionFields.status(unavailable) + "</p>\n<h1>" + shown + "</h1>\n</main>\n</body>\n</html>\n";
    }

    /** Text is shown as it is, whatever stands in it. */
    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;").replace("'", "&#39;");
    }
}
