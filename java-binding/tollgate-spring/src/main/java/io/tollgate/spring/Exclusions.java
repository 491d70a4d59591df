package io.tollgate.spring;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.util.AntPathMatcher;
import org.springframework.util.StringUtils;

/**
 * Requests that pass uncounted: calls between services, which carry a header, and paths that no user reaches.
 *
 * <pre>{@code
 * Exclusions internal = new Exclusions("X-Internal-Call=a secret", Arrays.asList("/internal/**", "/actuator/**"));
 * }</pre>
 *
 * <p>A client can send any header: the edge must take this one from requests that come from outside, or the header needs a value that
 * is a secret. A path that can be read in two ways (encoded slashes, {@code ;}, {@code //}, {@code ..}) is never excluded. Immutable.
 */
public final class Exclusions {
    private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Pattern ENCODED_SEPARATOR = Pattern.compile("%(2[fF]|5[cC])");
    /** Whatever one part of the way resolves and another doesn't: a parameter, an empty or a dotted segment, what is encoded twice. */
    private static final Pattern AMBIGUOUS = Pattern.compile("[;\\\\%\\p{Cntrl}\ufffd]|//|/\\.\\.?(/|$)");

    private final String header;
    private final byte[] secret;
    private final List<String> paths = new ArrayList<>();
    private final AntPathMatcher matcher = new AntPathMatcher();

    /**
     * What is excluded.
     *
     * @param header the header that marks a request, {@code X-Internal-Call} for any value or {@code X-Internal-Call=value} for that
     *               one; null or blank for none
     * @param paths  Ant patterns of paths within the application ({@code /internal/**}); none to exclude none
     * @throws IllegalArgumentException a value isn't one; the message names the property that it comes from
     */
    public Exclusions(String header, Collection<String> paths) {
        String marker = StringUtils.hasText(header) ? header.trim() : null;
        int equals = marker == null ? -1 : marker.indexOf('=');
        this.header = equals < 0 ? marker : marker.substring(0, equals).trim();
        // The value isn't repeated: it may be a secret.
        if (marker != null && !HEADER_NAME.matcher(this.header).matches()) {
            throw new IllegalArgumentException("tollgate.exclude.header: \"" + this.header + "\" is no header's name. Give a name such as "
                    + "X-Internal-Call, or a name and the value that counts: X-Internal-Call=value.");
        }
        String value = equals < 0 ? null : marker.substring(equals + 1).trim();
        if (value != null && value.isEmpty()) {
            throw new IllegalArgumentException("tollgate.exclude.header: " + marker + " names no value. Give the value that counts behind "
                    + "the =, or leave the = out if any value counts.");
        }
        this.secret = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
        for (String path : paths) {
            if (path == null || !path.trim().startsWith("/")) {
                throw new IllegalArgumentException("tollgate.exclude.paths: \"" + path + "\" begins with no slash and would exclude "
                        + "nothing. Give a path within the application, such as /internal/**.");
            }
            this.paths.add(path.trim());
        }
    }

    /**
     * Whether a request passes uncounted.
     *
     * @param request the request
     * @return true if it carries the header, or asks for one of the paths without any doubt
     */
    public boolean covers(GuardedRequest request) {
        return header != null && isMarked(request) || !paths.isEmpty() && isOnPath(request);
    }

    private boolean isMarked(GuardedRequest request) {
        boolean marked = false;
        for (String line : request.headers(header)) {
            // In constant time: how long a comparison takes tells how much of a guess was right.
            marked |= secret == null || MessageDigest.isEqual(secret, HeaderText.utf8(line).trim().getBytes(StandardCharsets.UTF_8));
        }
        return marked;
    }

    private boolean isOnPath(GuardedRequest request) {
        String path = plainPath(request.uri(), request.contextPath());
        if (path != null) {
            for (String pattern : paths) {
                if (matcher.match(pattern, path)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The decoded path within the application; null where container, framework and this could read it differently. */
    private static String plainPath(String uri, String contextPath) {
        if (uri == null || contextPath == null || !uri.startsWith(contextPath) || ENCODED_SEPARATOR.matcher(uri).find()) {
            return null;
        }
        String path;
        try {
            path = StringUtils.uriDecode(uri.substring(contextPath.length()), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return null;
        }
        return path.startsWith("/") && !AMBIGUOUS.matcher(contextPath + path).find() ? path : null;
    }
}
