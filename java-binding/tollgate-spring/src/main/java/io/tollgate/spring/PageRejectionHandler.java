package io.tollgate.spring;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.springframework.util.InvalidMimeTypeException;
import org.springframework.util.MimeType;
import org.springframework.util.MimeTypeUtils;

/**
 * Answers whoever wants a page with one, and everybody else otherwise. A page is wanted by a request whose {@code Accept} rates {@code
 * text/html} above JSON, as a browser's does that opens a link or sends a form, and that isn't {@code X-Requested-With:
 * XMLHttpRequest}. <code>*&#47;*</code>, or no {@code Accept}, wants nothing in particular. Immutable.
 */
public final class PageRejectionHandler implements RejectionHandler {
    private static final MimeType HTML = MimeTypeUtils.TEXT_HTML;
    private static final MimeType JSON = MimeTypeUtils.APPLICATION_JSON;
    private static final MimeType PROBLEM = new MimeType("application", "problem+json");
    /** A quality as RFC 9110 has it. */
    private static final Pattern QUALITY = Pattern.compile("0(\\.[0-9]{0,3})?|1(\\.0{0,3})?");

    private final RejectionHandler pages;
    private final RejectionHandler others;

    /**
     * A handler.
     *
     * @param pages  answers who wants a page
     * @param others answers everybody else
     */
    public PageRejectionHandler(RejectionHandler pages, RejectionHandler others) {
        this.pages = Objects.requireNonNull(pages, "pages");
        this.others = Objects.requireNonNull(others, "others");
    }

    @Override
    public void handle(Rejection rejection, RejectionResponse response) throws Exception {
        (wantsPage(rejection.request()) ? pages : others).handle(rejection, response);
    }

    static boolean wantsPage(GuardedRequest request) {
        if ("XMLHttpRequest".equalsIgnoreCase(request.header("X-Requested-With"))) {
            return false;
        }
        String accept = String.join(",", request.headers("Accept"));
        return quality(accept, HTML) > Math.max(quality(accept, JSON), quality(accept, PROBLEM));
    }

    /** What the most specific range that includes a type says of it, 0 to 1; 0 where none does. */
    private static double quality(String accept, MimeType type) {
        double quality = 0;
        int best = -1;
        for (String text : MimeTypeUtils.tokenize(accept)) {
            MimeType range = parse(text);
            if (range != null && range.includes(type)) {
                int specific = range.isWildcardType() ? 0 : range.isWildcardSubtype() ? 1 : 2;
                String q = range.getParameter("q");
                if (specific > best && (q == null || QUALITY.matcher(q).matches())) {
                    best = specific;
                    quality = q == null ? 1 : Double.parseDouble(q);
                }
            }
        }
        return quality;
    }

    /** Null for what is no media range: the others still count. */
    private static MimeType parse(String range) {
        try {
            return MimeTypeUtils.parseMimeType(range);
        } catch (InvalidMimeTypeException e) {
            return null;
        }
    }
}
