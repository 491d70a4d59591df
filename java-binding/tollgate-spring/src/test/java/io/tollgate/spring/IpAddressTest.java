package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IpAddressTest {
    private static final long SEED = 20_240_607;

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1", "0.0.0.0, 0.0.0.0", "255.255.255.255, 255.255.255.255",
        "::, ::", "::1, ::1", "1::, 1::", "0:0:0:0:0:0:0:1, ::1", "2001:DB8:0:0:0:0:0:1, 2001:db8::1", "2001:0db8::0001, 2001:db8::1",
        // RFC 5952, 4.2.2 and 4.2.3: one zero group is written, of two runs the longer goes, of two alike the first.
        "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1", "2001:0:0:1:0:0:0:1, 2001:0:0:1::1", "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
        "1:2:3:4:5:6:7::, 1:2:3:4:5:6:7:0", "::2:3:4:5:6:7:8, 0:2:3:4:5:6:7:8",
        "::ffff:10.0.0.1, 10.0.0.1", "::ffff:a00:1, 10.0.0.1", "0:0:0:0:0:FFFF:10.0.0.1, 10.0.0.1", "64:ff9b::10.0.0.1, 64:ff9b::a00:1",
        "::10.0.0.1, ::a00:1", "fe80::1%eth0, fe80::1", "fe80:0:0:0:0:0:0:1%3, fe80::1", "::1%, ::1",
    })
    void oneAddressHasOneText(String literal, String text) {
        assertThat(IpAddress.parse(literal)).hasToString(text).isEqualTo(IpAddress.parse(text)).hasSameHashCodeAs(IpAddress.parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", " ", "localhost", "example.com", "1", "1.2", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.999999999999", "010.0.0.1", "1.2.3.00",
        "0x7f.0.0.1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.", ".1.2.3", "1..2.3", "-1.2.3.4", "1.2.3.4%eth0", "\u0661.2.3.4",
        ":", ":::", "1:", ":1", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:", "1::2::3", "::1::", "1:2:3:4:5:6:7:8::",
        "1:2:3:4::5:6:7:8", "12345::", "g::", "::-1", "::+1", "::1.2.3", "::1.2.3.4.5", "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4",
        "::ffff:256.0.0.1", "[::1]", "::1]", "\uff11::", "dead:beef", "unknown", "%eth0", ":%", "::1/64", "::\u0000",
    })
    void allElseIsNone(String text) {
        assertThat(IpAddress.parse(text)).isNull();
    }

    @Test
    void nothingIsNone() {
        assertThat(IpAddress.parse(null)).isNull();
    }

    @Test
    void everyAddressSurvivesItsText() throws UnknownHostException {
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = randomAddress(random);
            InetAddress oracle = InetAddress.getByAddress(bytes);
            IpAddress address = IpAddress.parse(oracle.getHostAddress());
            String text = address.toString();
            // A literal, so that nothing is looked up.
            assertThat(InetAddress.getByName(text)).as(text).isEqualTo(oracle);
            assertThat(IpAddress.parse(text)).isEqualTo(address).hasToString(text);
            assertThat(IpAddress.parse(text.toUpperCase(java.util.Locale.ROOT))).isEqualTo(address);
            assertThat(address.isV6()).isEqualTo(oracle.getAddress().length == 16);
        }
    }

    /** What has a colon is never looked up by the JDK, which so can tell whether it is an address. */
    @Test
    void spoiltLiteralsAreWhatTheJdkTakesThemFor() {
        Random random = new Random(SEED);
        String alphabet = "01af:::..9";
        int addresses = 0;
        for (int i = 0; i < 50_000; i++) {
            StringBuilder spoilt = new StringBuilder(IpAddress.parse("2001:db8::7").network(random.nextInt(129)).toString());
            if (random.nextBoolean()) {
                spoilt = new StringBuilder("1:2:3:4:5:6:7:8");
            }
            for (int n = random.nextInt(4); n >= 0; n--) {
                int at = random.nextInt(spoilt.length());
                if (random.nextBoolean()) {
                    spoilt.setCharAt(at, alphabet.charAt(random.nextInt(alphabet.length())));
                } else {
                    spoilt.insert(at, alphabet.charAt(random.nextInt(alphabet.length())));
                }
            }
            String text = spoilt.toString();
            // The JDK is lenient with zeros that lead.
            if (text.indexOf(':') >= 0 && !text.matches(".*(0[0-9a-f]{4}|[:.]0[0-9]{1,2}\\.|\\.0[0-9]).*")) {
                IpAddress ours = IpAddress.parse(text);
                addresses += ours == null ? 0 : 1;
                assertThat(ours == null ? null : ours.toString()).as(text).isEqualTo(jdk(text));
            }
        }
        assertThat(addresses).isGreaterThan(1_000);
    }

    private static String jdk(String text) {
        try {
            return IpAddress.parse(InetAddress.getByName(text).getHostAddress()).toString();
        } catch (UnknownHostException e) {
            return null;
        }
    }

    private static byte[] randomAddress(Random random) {
        byte[] bytes = new byte[random.nextInt(4) == 0 ? 4 : 16];
        random.nextBytes(bytes);
        for (int i = random.nextInt(12); i > 0; i--) {
            int at = random.nextInt(bytes.length / 2) * 2;
            Arrays.fill(bytes, at, at + 2, (byte) 0);
        }
        return bytes;
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.255.1.2, true", "10.0.0.0/8, 11.0.0.0, false", "10.0.0.0/8, ::ffff:10.1.1.1, true", "10.0.0.0/8, a00::, false",
        "10.9.9.9/8, 10.0.0.1, true", "192.0.2.128/25, 192.0.2.129, true", "192.0.2.128/25, 192.0.2.127, false",
        "192.0.2.7, 192.0.2.7, true", "192.0.2.7, 192.0.2.8, false", "192.0.2.7/32, 192.0.2.7, true", "0.0.0.0/0, 1.2.3.4, true",
        "0.0.0.0/0, ::1, false", "::/0, ::1, true", "::/0, 1.2.3.4, false", "::1, ::1, true", "::1, 0.0.0.1, false",
        "fd00::/8, fdff::1, true", "fd00::/8, fc00::1, false", "2001:db8::/33, 2001:db8:7fff::, true",
        "2001:db8::/33, 2001:db8:8000::, false",
        "::ffff:10.0.0.0/104, 10.1.2.3, true", "::ffff:10.0.0.0/104, 11.1.2.3, false", "::ffff:10.0.0.1, 10.0.0.1, true",
    })
    void aRangeHoldsWhatBeginsLikeIt(String range, String address, boolean holds) {
        assertThat(IpRange.parse(range).contains(IpAddress.parse(address))).isEqualTo(holds);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/255.0.0.0", "10.0.0/8", "proxy", "proxy/8", "::1/129",
        "::1/9999", "fe80::1%eth0", "::ffff:10.0.0.0/8", "10.0.0.0/8/8", "10.0.0.0 /8",
    })
    void whatIsNoRangeIsNone(String text) {
        assertThat(IpRange.parse(text)).isNull();
    }
}
