package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Any Java string is a user, and different strings are different users. */
class UserTest {
    private final Tollgate tollgate = Tollgate.open("memory:");

    @AfterEach
    void close() {
        tollgate.close();
    }

    @Test
    void strangeStringsAreUsersOfTheirOwn() {
        Set<String> users = new LinkedHashSet<>(Arrays.asList(
                "?", "??", "a", "a\0", "\0", "\0\0", "a\0b", "张三", "é", "e\u0301", "\ud83d\ude00", "\ud83d", "\ude00",
                "\ude00\ud83d", "\ud83d\ud83d\ude00", "\ud83d\ude00\ude00", "a\ud800", "\ud800a", "\udfff", "\ufffd", "\uffff",
                "u:1", "u%3A1", "{u}", "config", repeat("x", 255), repeat("x", 256), repeat("x", 257), repeat("x", 100_000),
                repeat("x", 100_001), repeat("\ud83d\ude00", 50_000), repeat("\ud800", 100_000), repeat("张", 100_000)));
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(1).register();
        for (String user : users) {
            assertThat(tollgate.acquire(rule, user).count()).isEqualTo(1);
        }
        for (String user : users) {
            assertThat(tollgate.acquire(rule, user).outcome()).isEqualTo(Outcome.LIMITED);
        }
    }

    @Test
    void randomStringsOfSurrogatesStayDistinct() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(1).register();
        Set<String> users = new LinkedHashSet<>();
        char[] alphabet = {'a', '?', '\0', 'é', '张', '\ud83d', '\ud800', '\ude00', '\udfff'};
        while (users.size() < 20_000) {
            char[] user = new char[1 + random.nextInt(8)];
            for (int i = 0; i < user.length; i++) {
                user[i] = alphabet[random.nextInt(alphabet.length)];
            }
            users.add(new String(user));
        }
        for (String user : users) {
            assertThat(tollgate.acquire(rule, user).count()).as("seed %d", seed).isEqualTo(1);
        }
    }

    @Test
    void ordinaryTextIsUtf8() {
        for (String text : new String[] {"", "u1", "é", "张三", "\ud83d\ude00", "a\ud83d\ude00é张\0z", "\u07ff\u0800\uffff"}) {
            assertThat(Wtf8.encode(text)).isEqualTo(text.getBytes(StandardCharsets.UTF_8));
        }
        assertThat(Wtf8.encode(null)).isNull();
    }

    @Test
    void aLoneSurrogateIsThreeBytes() {
        assertThat(Wtf8.encode("\ud800")).containsExactly(0xed, 0xa0, 0x80);
        assertThat(Wtf8.encode("\udbff")).containsExactly(0xed, 0xaf, 0xbf);
        assertThat(Wtf8.encode("\udc00")).containsExactly(0xed, 0xb0, 0x80);
        assertThat(Wtf8.encode("\udfff")).containsExactly(0xed, 0xbf, 0xbf);
        assertThat(Wtf8.encode("a\udc00é张\ud83d\ude00\ud83d")).containsExactly(
                0x61, 0xed, 0xb0, 0x80, 0xc3, 0xa9, 0xe5, 0xbc, 0xa0, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0xbd);
    }

    @Test
    void everyCharacterIsAsInUtf8() {
        for (int plane = 0; plane <= 16; plane++) {
            StringBuilder text = new StringBuilder();
            for (int c = plane << 16; c < (plane + 1) << 16; c++) {
                if (c < 0xd800 || c > 0xdfff) {
                    text.appendCodePoint(c);
                }
            }
            // The surrogate in front sends it through the encoder of our own.
            byte[] bytes = Wtf8.encode('\udfff' + text.toString());
            assertThat(Arrays.copyOfRange(bytes, 3, bytes.length)).isEqualTo(text.toString().getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String repeat(String text, int times) {
        StringBuilder all = new StringBuilder(text.length() * times);
        for (int i = 0; i < times; i++) {
            all.append(text);
        }
        return all.toString();
    }
}
