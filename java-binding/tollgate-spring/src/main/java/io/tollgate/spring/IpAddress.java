package io.tollgate.spring;

import java.util.Arrays;

/**
 * An IPv4 or IPv6 address from its literal. The JDK's own parser asks a name server about what is no literal, and takes {@code 1.2} and
 * {@code 010.0.0.1} for addresses, which others read otherwise. An IPv4 address in IPv6 ({@code ::ffff:10.0.0.1}) is the IPv4 address.
 * Immutable.
 */
final class IpAddress {
    private static final int V4_BYTES = 4;
    private static final int V6_BYTES = 16;
    private static final int V6_GROUPS = 8;
    /** Bits before the IPv4 address in {@code ::ffff:0:0/96}. */
    static final int MAPPED_BITS = 96;

    private final byte[] bytes;

    private IpAddress(byte[] bytes) {
        this.bytes = bytes;
    }

    /** The address, without its zone ({@code %eth0}); null where the text isn't one. */
    static IpAddress parse(String text) {
        if (text == null || text.isEmpty()) {
            return null;
        }
        if (text.indexOf(':') < 0) {
            byte[] v4 = new byte[V4_BYTES];
            return readV4(text, v4, 0) ? new IpAddress(v4) : null;
        }
        int zone = text.indexOf('%');
        byte[] v6 = readV6(zone < 0 ? text : text.substring(0, zone));
        return v6 == null ? null : new IpAddress(isMapped(v6) ? Arrays.copyOfRange(v6, MAPPED_BITS / 8, V6_BYTES) : v6);
    }

    boolean isV6() {
        return bytes.length == V6_BYTES;
    }

    int bits() {
        return bytes.length * 8;
    }

    /** The first address of the network of that many leading bits. */
    IpAddress network(int bits) {
        byte[] network = bytes.clone();
        for (int i = 0; i < network.length; i++) {
            int kept = Math.max(0, Math.min(8, bits - i * 8));
            network[i] &= (byte) (0xff << 8 - kept);
        }
        return new IpAddress(network);
    }

    /** Four numbers of 0 to 255 in decimal; a leading zero would be octal for some. */
    private static boolean readV4(String text, byte[] to, int offset) {
        int at = 0;
        for (int i = 0; i < V4_BYTES; i++) {
            int start = at;
            int number = 0;
            while (at < text.length() && at - start < 3 && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
                number = number * 10 + text.charAt(at++) - '0';
            }
            boolean zeroLed = at - start > 1 && text.charAt(start) == '0';
            if (at == start || zeroLed || number > 255) {
                return false;
            }
            to[offset + i] = (byte) number;
            if (i < V4_BYTES - 1 && (at == text.length() || text.charAt(at++) != '.')) {
                return false;
            }
        }
        return at == text.length();
    }

    private static byte[] readV6(String text) {
        int gap = text.indexOf("::");
        if (gap < 0) {
            byte[] all = readGroups(text);
            return all != null && all.length == V6_BYTES ? all : null;
        }
        byte[] before = readGroups(text.substring(0, gap));
        byte[] after = readGroups(text.substring(gap + 2));
        // The gap stands for one group at least. An IPv4 tail may only come last.
        if (before == null || after == null || before.length + after.length > V6_BYTES - 2 || text.lastIndexOf('.', gap) >= 0) {
            return null;
        }
        byte[] all = Arrays.copyOf(before, V6_BYTES);
        System.arraycopy(after, 0, all, V6_BYTES - after.length, after.length);
        return all;
    }

    /** Groups between colons, the last perhaps an IPv4 address; no bytes for no text, null for anything else. */
    private static byte[] readGroups(String text) {
        if (text.isEmpty()) {
            return new byte[0];
        }
        String[] groups = text.split(":", V6_GROUPS + 1);
        boolean tail = groups[groups.length - 1].indexOf('.') >= 0;
        byte[] bytes = new byte[groups.length * 2 + (tail ? 2 : 0)];
        for (int i = 0; i < groups.length; i++) {
            if (tail && i == groups.length - 1) {
                return readV4(groups[i], bytes, i * 2) ? bytes : null;
            }
            int group = hexadecimal(groups[i]);
            if (group < 0) {
                return null;
            }
            bytes[i * 2] = (byte) (group >> 8);
            bytes[i * 2 + 1] = (byte) group;
        }
        return bytes;
    }

    private static int hexadecimal(String digits) {
        if (digits.isEmpty() || digits.length() > 4) {
            return -1;
        }
        int number = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            // Character.digit knows digits of other scripts too.
            int digit = c < 0x80 ? Character.digit(c, 16) : -1;
            if (digit < 0) {
                return -1;
            }
            number = number << 4 | digit;
        }
        return number;
    }

    private static boolean isMapped(byte[] v6) {
        for (int i = 0; i < 10; i++) {
            if (v6[i] != 0) {
                return false;
            }
        }
        return v6[10] == -1 && v6[11] == -1;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IpAddress && Arrays.equals(bytes, ((IpAddress) other).bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** One text for one address: as RFC 5952 writes it. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        if (!isV6()) {
            for (int i = 0; i < V4_BYTES; i++) {
                text.append(i == 0 ? "" : ".").append(bytes[i] & 0xff);
            }
            return text.toString();
        }
        int gap = longestZeros();
        int afterGap = gap + zerosFrom(gap);
        for (int i = 0; i < V6_GROUPS; i++) {
            if (i == gap) {
                text.append("::");
            } else if (i < gap || i >= afterGap) {
                text.append(i == 0 || i == afterGap ? "" : ":").append(Integer.toHexString(group(i)));
            }
        }
        return text.toString();
    }

    /** Where the longest run of two zero groups or more begins, the first of several; out of reach where there is none. */
    private int longestZeros() {
        int best = V6_GROUPS;
        int length = 1;
        for (int i = 0; i < V6_GROUPS; i++) {
            if (zerosFrom(i) > length) {
                best = i;
                length = zerosFrom(i);
            }
        }
        return best;
    }

    private int zerosFrom(int start) {
        int at = start;
        while (at < V6_GROUPS && group(at) == 0) {
            at++;
        }
        return at - start;
    }

    private int group(int i) {
        return (bytes[i * 2] & 0xff) << 8 | bytes[i * 2 + 1] & 0xff;
    }
}
