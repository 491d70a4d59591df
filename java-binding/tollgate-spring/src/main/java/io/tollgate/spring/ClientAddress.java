package io.tollgate.spring;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.StringUtils;

/**
 * The address of the client that a request comes from, which a client can't choose. A forwarded header counts only where the connection
 * comes from a trusted proxy; it is read from the right, and the first address that is no trusted proxy's is the client's. Where a trusted
 * proxy names nobody (no header, {@code unknown}, a hidden name, something malformed), that proxy itself is the client. No name is ever
 * looked up.
 *
 * <pre>{@code
 * ClientAddress client = new ClientAddress(Arrays.asList("10.0.0.0/8", "::1"), ClientAddress.X_FORWARDED_FOR, 64);
 * }</pre>
 *
 * <p>One address has one text: that of RFC 5952, without zone, IPv4 in IPv6 as IPv4. Immutable.
 */
public final class ClientAddress {
    /** The header that most proxies append to. */
    public static final String X_FORWARDED_FOR = "X-Forwarded-For";
    /** The header of RFC 7239. Any other name is read like {@link #X_FORWARDED_FOR}. */
    public static final String FORWARDED = "Forwarded";

    private static final Logger LOG = LoggerFactory.getLogger(ClientAddress.class);
    private static final int V6_BITS = 128;

    private final List<IpRange> trusted = new ArrayList<>();
    private final String header;
    private final boolean rfc7239;
    private final int ipv6Prefix;

    /**
     * A resolver.
     *
     * @param trustedProxies addresses ({@code ::1}) and ranges ({@code 10.0.0.0/8}); none to believe no header
     * @param header         the header that these proxies append to and that nobody else can set: {@value #X_FORWARDED_FOR}, {@value
     *                       #FORWARDED}, or another one like {@code X-Real-IP}
     * @param ipv6Prefix     how many bits of an IPv6 address tell clients apart, 1 to 128
     * @throws IllegalArgumentException a value isn't one; the message names the property that it comes from
     */
    public ClientAddress(Collection<String> trustedProxies, String header, int ipv6Prefix) {
        for (String proxy : trustedProxies) {
            IpRange range = proxy == null ? null : IpRange.parse(proxy.trim());
            if (range == null) {
                throw new IllegalArgumentException("tollgate.trusted-proxies: " + proxy + " is neither an address nor a range. Give "
                        + "literals such as 10.0.0.0/8, 192.168.1.7 or fd00::/8; names aren't looked up.");
            }
            if (range.isEverything()) {
                LOG.warn("tollgate: tollgate.trusted-proxies={} lets every client say which address is its own: name the proxies", proxy);
            }
            trusted.add(range);
        }
        if (!StringUtils.hasText(header)) {
            throw new IllegalArgumentException("tollgate.forwarded-header is empty. Give the header that your proxies append to, "
                    + "X-Forwarded-For or Forwarded; to believe none, leave tollgate.trusted-proxies empty.");
        }
        if (ipv6Prefix < 1 || ipv6Prefix > V6_BITS) {
            throw new IllegalArgumentException("tollgate.ipv6-prefix=" + ipv6Prefix + " is out of range. Give 1 to 128 bits: 64 for a "
                    + "host's network, 128 for each address.");
        }
        this.header = header.trim();
        this.rfc7239 = this.header.equalsIgnoreCase(FORWARDED);
        this.ipv6Prefix = ipv6Prefix;
    }

    /**
     * What a client is counted by: its IPv4 address, or the network of its IPv6 address, since a host may take any address of that.
     *
     * @param request the request
     * @return like {@code 203.0.113.9} or {@code 2001:db8:1:2::/64}; null where the connection has no address (a Unix socket, no request)
     */
    public String resolve(GuardedRequest request) {
        IpAddress client = client(request);
        if (client == null) {
            return null;
        }
        return client.isV6() && ipv6Prefix < V6_BITS ? client.network(ipv6Prefix) + "/" + ipv6Prefix : client.toString();
    }

    /**
     * The client's whole address, for a log or a record.
     *
     * @param request the request
     * @return like {@code 203.0.113.9} or {@code 2001:db8:1:2::7}; null as for {@link #resolve}
     */
    public String address(GuardedRequest request) {
        IpAddress client = client(request);
        return client == null ? null : client.toString();
    }

    private IpAddress client(GuardedRequest request) {
        IpAddress client = IpAddress.parse(request.remoteAddress());
        if (client == null || !isTrusted(client)) {
            return client;
        }
        for (String element : ForwardedHeader.lastFirst(request.receivedHeaders(header), rfc7239)) {
            IpAddress before = ForwardedHeader.address(element, rfc7239);
            if (before == null) {
                return client;
            }
            client = before;
            if (!isTrusted(client)) {
                return client;
            }
        }
        return client;
    }

    private boolean isTrusted(IpAddress address) {
        for (IpRange range : trusted) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }
}
