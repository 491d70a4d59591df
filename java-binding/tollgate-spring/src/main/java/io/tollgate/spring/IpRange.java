package io.tollgate.spring;

/** Addresses that begin with the same bits: {@code 10.0.0.0/8}, or one address. Immutable. */
final class IpRange {
    private final IpAddress network;
    private final int bits;

    private IpRange(IpAddress network, int bits) {
        this.network = network;
        this.bits = bits;
    }

    /** The range that a text names; null where it names none. Bits behind the prefix don't matter. */
    static IpRange parse(String text) {
        int slash = text.indexOf('/');
        String literal = slash < 0 ? text : text.substring(0, slash);
        IpAddress address = IpAddress.parse(literal);
        if (address == null || literal.indexOf('%') >= 0) {
            return null;
        }
        if (slash < 0) {
            return new IpRange(address, address.bits());
        }
        String length = text.substring(slash + 1);
        if (!length.matches("[0-9]{1,3}")) {
            return null;
        }
        // Of an IPv4 address in IPv6 the prefix counts from the beginning of the IPv6 address.
        boolean mapped = !address.isV6() && literal.indexOf(':') >= 0;
        int bits = Integer.parseInt(length) - (mapped ? IpAddress.MAPPED_BITS : 0);
        return bits < 0 || bits > address.bits() ? null : new IpRange(address.network(bits), bits);
    }

    boolean contains(IpAddress address) {
        return address.isV6() == network.isV6() && address.network(bits).equals(network);
    }

    boolean isEverything() {
        return bits == 0;
    }

    @Override
    public String toString() {
        return network + "/" + bits;
    }
}
