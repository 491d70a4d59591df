package io.tollgate.spring;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The text of a header's value. */
final class HeaderText {
    private HeaderText() {}

    /** Servers give a header's bytes as ISO 8859-1; where they are UTF-8, as services send them, that is meant. */
    static String utf8(String value) {
        boolean ascii = true;
        for (int i = 0; i < value.length(); i++) {
            if (value.charAt(i) > 0xff) {
                return value;
            }
            ascii &= value.charAt(i) < 0x80;
        }
        if (ascii) {
            return value;
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value.getBytes(StandardCharsets.ISO_8859_1))).toString();
        } catch (CharacterCodingException e) {
            return value;
        }
    }
}
