package io.tollgate;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Strings as the native side takes them: UTF-8, with three bytes for a surrogate that has no partner, so that different strings stay
 * different ({@link String#getBytes} turns each such surrogate into the same question mark).
 */
final class Wtf8 {
    private Wtf8() {}

    /** The bytes of {@code text}, null for null. */
    static byte[] encode(String text) {
        if (text == null) {
            return null;
        }
        int length = text.length();
        for (int i = 0; i < length; i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return encodeSurrogates(text, i);
            }
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] encodeSurrogates(String text, int first) {
        byte[] head = text.substring(0, first).getBytes(StandardCharsets.UTF_8);
        int length = text.length();
        // A char takes at most three bytes, a pair of them four.
        byte[] bytes = Arrays.copyOf(head, Math.addExact(head.length, Math.multiplyExact(3, length - first)));
        int at = head.length;
        for (int i = first; i < length; i++) {
            int c = text.codePointAt(i);
            if (c < 0x80) {
                bytes[at++] = (byte) c;
            } else if (c < 0x800) {
                bytes[at++] = (byte) (0xc0 | c >> 6);
                bytes[at++] = (byte) (0x80 | c & 0x3f);
            } else if (c < 0x10000) {
                bytes[at++] = (byte) (0xe0 | c >> 12);
                bytes[at++] = (byte) (0x80 | c >> 6 & 0x3f);
                bytes[at++] = (byte) (0x80 | c & 0x3f);
            } else {
                bytes[at++] = (byte) (0xf0 | c >> 18);
                bytes[at++] = (byte) (0x80 | c >> 12 & 0x3f);
                bytes[at++] = (byte) (0x80 | c >> 6 & 0x3f);
                bytes[at++] = (byte) (0x80 | c & 0x3f);
                i++;
            }
        }
        return Arrays.copyOf(bytes, at);
    }
}
