package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClientAddressTest {
    private static final List<String> PROXIES = Arrays.asList("10.0.0.0/8", "fd00::/8", " ::1 ");
    private final ClientAddress client = new ClientAddress(PROXIES, ClientAddress.X_FORWARDED_FOR, 64);
    private final ClientAddress rfc7239 = new ClientAddress(PROXIES, "forwarded", 64);

    @Test
    void withoutTrustedProxiesNoHeaderCounts() {
        ClientAddress plain = new ClientAddress(Collections.emptyList(), ClientAddress.X_FORWARDED_FOR, 64);
        TestRequest request = new TestRequest().from("127.0.0.1").header("X-Forwarded-For", "203.0.113.9")
                .header("Forwarded", "for=203.0.113.9");
        assertThat(plain.resolve(request)).isEqualTo("127.0.0.1");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        // From a client itself: whatever it says.
        "203.0.113.9 | 198.51.100.1            | 203.0.113.9",
        "203.0.113.9 | 10.0.0.1                | 203.0.113.9",
        // From a proxy: the right-most that isn't one.
        "10.0.0.1    | 203.0.113.9             | 203.0.113.9",
        "10.0.0.1    | 6.6.6.6, 203.0.113.9    | 203.0.113.9",
        "10.0.0.1    | 6.6.6.6,203.0.113.9, 10.9.9.9 ,fd00::7 | 203.0.113.9",
        "::1         | 6.6.6.6, 203.0.113.9    | 203.0.113.9",
        "10.0.0.1    | 203.0.113.9:1234        | 203.0.113.9",
        "10.0.0.1    | [2001:db8::7]:1234      | 2001:db8::/64",
        "10.0.0.1    | [2001:db8::7]           | 2001:db8::/64",
        "10.0.0.1    | 2001:db8::7             | 2001:db8::/64",
        "10.0.0.1    | ::ffff:203.0.113.9      | 203.0.113.9",
        "10.0.0.1    | ::ffff:10.0.0.2, 203.0.113.9, ::ffff:10.0.0.3 | 203.0.113.9",
        "10.0.0.1    | 6.6.6.6, , ,203.0.113.9, , | 203.0.113.9",
        // Proxies all the way: the first of them.
        "10.0.0.1    | 10.0.0.3, 10.0.0.2      | 10.0.0.3",
        // Where a proxy names nobody, it is the client itself.
        "10.0.0.1    | unknown                 | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, unknown        | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, _hidden, 10.0.0.2 | 10.0.0.2",
        "10.0.0.1    | 6.6.6.6, localhost      | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, 1.2.3.4:port   | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, 1.2.3.4:123456 | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, [::1           | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, ::1]           | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, [1.2.3.4]      | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, []             | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, [::1]x         | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6, 010.1.1.1      | 10.0.0.1",
        "10.0.0.1    | 6.6.6.6 7.7.7.7         | 10.0.0.1",
        "10.0.0.1    | '6.6.6.6, \"'           | 10.0.0.1",
        "10.0.0.1    | for=203.0.113.9         | 10.0.0.1",
        "10.0.0.1    | ,                       | 10.0.0.1",
    })
    void theRightmostUntrustedAddressIsTheClient(String remote, String header, String expected) {
        assertThat(client.resolve(new TestRequest().from(remote).header("X-Forwarded-For", header))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\'', value = {
        "for=203.0.113.9                              | 203.0.113.9",
        "for=6.6.6.6, For=203.0.113.9;proto=https     | 203.0.113.9",
        "for=6.6.6.6, proto=https; FOR=\"203.0.113.9:80\" ;by=_x | 203.0.113.9",
        "for=6.6.6.6, for=\"[2001:db8::7]\"           | 2001:db8::/64",
        "for=6.6.6.6, for=\"[2001:db8::7]:4711\"      | 2001:db8::/64",
        "for=6.6.6.6, for=\"[2001:db8::7]:_p\"        | 2001:db8::/64",
        "for=6.6.6.6, for=203.0.113.9, for=10.0.0.9   | 203.0.113.9",
        "for=6.6.6.6, for=203.0.113.9;host=\"a,b;for=c\\\",\" | 203.0.113.9",
        // A client's open quote can't swallow what the proxy has appended.
        "for=\", for=203.0.113.9                      | 203.0.113.9",
        "for=6.6.6.6;x=\", for=\"[2001:db8::7]:80\"   | 2001:db8::/64",
        "for=6.6.6.6;x=\"\\, for=\"203.0.113.9\"      | 203.0.113.9",
        "for=\"6.6.6.6\\\", for=203.0.113.9           | 203.0.113.9",
        // Nobody is named.
        "for=6.6.6.6, for=unknown                     | 10.0.0.1",
        "for=6.6.6.6, for=_hidden                     | 10.0.0.1",
        "for=6.6.6.6, for=\"_hidden:80\"              | 10.0.0.1",
        "for=6.6.6.6, by=203.0.113.9                  | 10.0.0.1",
        "for=6.6.6.6, for=203.0.113.9;for=203.0.113.8 | 10.0.0.1",
        "for=6.6.6.6, for=\"203.0.113.9               | 10.0.0.1",
        "for=6.6.6.6, for=203.0.113.9\"               | 10.0.0.1",
        "for=6.6.6.6, for=\"203\\.0.113.9\"           | 10.0.0.1",
        "for=6.6.6.6, 203.0.113.9                     | 10.0.0.1",
        "for=6.6.6.6, for                             | 10.0.0.1",
        "for=6.6.6.6, for=                            | 10.0.0.1",
        "for=6.6.6.6, for=\"                          | 10.0.0.1",
        "for=6.6.6.6, \\\"                            | 10.0.0.1",
    })
    void forwardedIsReadAsRfc7239HasIt(String header, String expected) {
        assertThat(rfc7239.resolve(new TestRequest().from("10.0.0.1").header("Forwarded", header))).isEqualTo(expected);
    }

    @Test
    void severalLinesAreOneList() {
        assertThat(client.resolve(new TestRequest().from("10.0.0.1").header("X-Forwarded-For", "6.6.6.6", "203.0.113.9", "10.0.0.2")))
                .isEqualTo("203.0.113.9");
        assertThat(rfc7239.resolve(new TestRequest().from("10.0.0.1").header("Forwarded", "for=\"", "for=203.0.113.9", "for=\"[::1]\"")))
                .isEqualTo("203.0.113.9");
    }

    @Test
    void onlyTheConfiguredHeaderIsRead() {
        TestRequest both = new TestRequest().from("10.0.0.1").header("X-Forwarded-For", "6.6.6.6").header("Forwarded", "for=7.7.7.7");
        assertThat(client.resolve(both)).isEqualTo("6.6.6.6");
        assertThat(rfc7239.resolve(both)).isEqualTo("7.7.7.7");
        assertThat(new ClientAddress(PROXIES, " X-Real-IP ", 64).resolve(both.header("X-Real-IP", "8.8.8.8"))).isEqualTo("8.8.8.8");
        assertThat(client.resolve(new TestRequest().from("10.0.0.1").header("Forwarded", "for=7.7.7.7"))).isEqualTo("10.0.0.1");
    }

    @ParameterizedTest
    @CsvSource({"64, 2001:db8:1:2::/64", "128, 2001:db8:1:2:3:4:5:6", "56, 2001:db8:1::/56", "1, ::/1"})
    void anIpv6ClientIsItsNetwork(int prefix, String expected) {
        ClientAddress networks = new ClientAddress(PROXIES, ClientAddress.X_FORWARDED_FOR, prefix);
        TestRequest request = new TestRequest().from("2001:db8:1:2:3:4:5:6%eth0");
        assertThat(networks.resolve(request)).isEqualTo(expected);
        assertThat(networks.address(request)).isEqualTo("2001:db8:1:2:3:4:5:6");
        assertThat(networks.resolve(request.from("::ffff:203.0.113.9"))).isEqualTo("203.0.113.9");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "localhost", "unix:/run/app.sock", "/run/app.sock"})
    void aConnectionWithoutAnAddressIsNobody(String remote) {
        TestRequest request = new TestRequest().from(remote).header("X-Forwarded-For", "203.0.113.9");
        assertThat(client.resolve(request)).isNull();
        assertThat(client.resolve(request.from(null))).isNull();
        assertThat(client.address(request)).isNull();
    }

    /** Whatever a client puts at the left of what trusted proxies append, in the same line or another, it is counted by its own address. */
    @Test
    void noForgedHeaderChangesTheCounter() {
        Random random = new Random(7239);
        String[] pieces = {"6.6.6.6", "for=", "for=6.6.6.6", "\"", "\\", ",", ";", " ", "10.0.0.5", "[::1]", ":80", "unknown", "_x", "=",
            "for=\"[", "]\"", "\t", "\u00e9", "::ffff:6.6.6.6", "%"};
        for (int i = 0; i < 50_000; i++) {
            boolean standard = random.nextBoolean();
            StringBuilder forged = new StringBuilder();
            for (int n = random.nextInt(12); n > 0; n--) {
                forged.append(pieces[random.nextInt(pieces.length)]);
            }
            String own = new String[] {"203.0.113.9", "[2001:db8::7]:80", "203.0.113.9:55"}[random.nextInt(3)];
            String appended = standard ? (own.indexOf(':') < 0 ? "for=" + own : "proto=http;for=\"" + own + '"') : own;
            if (random.nextBoolean()) {
                appended += standard ? ", for=10.0.0.2;by=\"[fd00::1]\"" : ", 10.0.0.2";
            }
            TestRequest request = new TestRequest().from("10.0.0.1");
            String name = standard ? "Forwarded" : "X-Forwarded-For";
            if (random.nextBoolean()) {
                request.header(name, forged + ", " + appended);
            } else {
                request.header(name, forged.toString(), appended);
            }
            assertThat((standard ? rfc7239 : client).resolve(request)).as(request.headers(name).toString())
                    .isEqualTo(own.startsWith("[") ? "2001:db8::/64" : "203.0.113.9");
        }
    }

    @Test
    void badValuesAreNamed() {
        for (String bad : new String[] {"proxy.example.com", "10.0.0.0/33", "", "10.0.0.0-10.0.0.9"}) {
            assertThatThrownBy(() -> new ClientAddress(Collections.singletonList(bad), ClientAddress.X_FORWARDED_FOR, 64))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll("tollgate.trusted-proxies", bad, "10.0.0.0/8");
        }
        for (int bad : new int[] {0, 129, -1}) {
            assertThatThrownBy(() -> new ClientAddress(PROXIES, ClientAddress.X_FORWARDED_FOR, bad))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll("tollgate.ipv6-prefix=" + bad, "1 to 128");
        }
        assertThatThrownBy(() -> new ClientAddress(PROXIES, " ", 64))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("tollgate.forwarded-header is empty");
    }
}
