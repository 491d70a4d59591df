package io.tollgate.spring;

/** A text as JSON, without a library for it. */
final class JsonText {
    private JsonText() {}

    /** In quotes; escapes what JSON, JavaScript and UTF-8 can't carry: control characters, line separators, lone surrogates. */
    static String quoted(String text) {
        StringBuilder json = new StringBuilder(text.length() + 16).append('"');
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
        return json.append('"').toString();
    }
}
