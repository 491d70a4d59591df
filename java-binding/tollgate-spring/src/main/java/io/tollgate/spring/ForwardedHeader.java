package io.tollgate.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Reads who forwarded for whom, in the manner of {@code X-Forwarded-For} or of RFC 7239's {@code Forwarded}.
 *
 * <p>Proxies append at the right, and only what trusted ones have appended may be believed. So everything is read from the right: what a
 * client has put at the left, an unclosed quote for example, can't change how the rest is read.
 */
final class ForwardedHeader {
    private static final Pattern PORT = Pattern.compile(":([0-9]{1,5}|_[A-Za-z0-9._-]+)");

    private ForwardedHeader() {}

    /** The elements of a header's lines, the last first, without empty ones. */
    static List<String> lastFirst(List<String> lines, boolean rfc7239) {
        List<String> elements = new ArrayList<>();
        for (int line = lines.size() - 1; line >= 0; line--) {
            String text = lines.get(line);
            int end = text.length();
            while (end >= 0) {
                int start = lastElement(text, end, rfc7239);
                String element = text.substring(start, end).trim();
                if (!element.isEmpty()) {
                    elements.add(element);
                }
                end = start - 1;
            }
        }
        return elements;
    }

    /** Where the last element before {@code end} begins. */
    private static int lastElement(String text, int end, boolean quotes) {
        boolean quoted = false;
        for (int i = end - 1; i >= 0; i--) {
            char c = text.charAt(i);
            if (quotes && c == '"' && !isEscaped(text, i)) {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                return i + 1;
            }
        }
        return 0;
    }

    private static boolean isEscaped(String text, int at) {
        int slashes = 0;
        while (at - slashes > 0 && text.charAt(at - slashes - 1) == '\\') {
            slashes++;
        }
        return slashes % 2 == 1;
    }

    /** The address that an element names; null for {@code unknown}, a hidden name, and what is malformed. */
    static IpAddress address(String element, boolean rfc7239) {
        String node = rfc7239 ? forPart(element) : element;
        return node == null ? null : node(node);
    }

    /** The value of the one {@code for} among pairs; null where there is none, or more, or something is malformed. */
    private static String forPart(String element) {
        String found = null;
        int at = 0;
        while (at <= element.length()) {
            int end = endOfPair(element, at);
            String pair = element.substring(at, end).trim();
            at = end + 1;
            int equals = pair.indexOf('=');
            if (equals > 0 && pair.substring(0, equals).equalsIgnoreCase("for")) {
                String value = unquoted(pair.substring(equals + 1));
                if (found != null || value == null) {
                    return null;
                }
                found = value;
            }
        }
        return found;
    }

    private static int endOfPair(String element, int start) {
        boolean quoted = false;
        for (int i = start; i < element.length(); i++) {
            char c = element.charAt(i);
            if (quoted && c == '\\') {
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ';' && !quoted) {
                return i;
            }
        }
        return element.length();
    }

    /** No address needs an escape, so a value with one is none. */
    private static String unquoted(String value) {
        boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
        String inner = quoted ? value.substring(1, value.length() - 1) : value;
        return inner.indexOf('"') >= 0 || inner.indexOf('\\') >= 0 ? null : inner;
    }

    /** {@code 10.0.0.1}, {@code 10.0.0.1:80}, {@code ::1}, {@code [::1]}, {@code [::1]:80}. */
    private static IpAddress node(String text) {
        if (text.startsWith("[")) {
            int close = text.indexOf(']');
            if (close < 0 || !isPort(text.substring(close + 1))) {
                return null;
            }
            String v6 = text.substring(1, close);
            return v6.indexOf(':') < 0 ? null : IpAddress.parse(v6);
        }
        int colon = text.indexOf(':');
        if (colon < 0 || colon != text.lastIndexOf(':')) {
            return IpAddress.parse(text);
        }
        return isPort(text.substring(colon)) ? IpAddress.parse(text.substring(0, colon)) : null;
    }

    /** None, a number, or RFC 7239's hidden one. */
    private static boolean isPort(String text) {
        return text.isEmpty() || PORT.matcher(text).matches();
    }
}
