package io.tollgate.spring.boot;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** The Redis that a host's own properties name, as a URL: those of Spring Boot 2 or those of 3 and later, by their prefix. */
final class HostRedis {
    static final String BOOT_2 = "spring.redis.";
    static final String BOOT_3 = "spring.data.redis.";
    /** Greedy up to the last @, since passwords may hold one. */
    private static final Pattern URL = Pattern.compile("(rediss?)://(?:(.*)@)?(\\[[^]]*]|[^:/?#@]*)(?::(\\d+))?(?:/(\\d*))?(?:[?#].*)?");

    private final Binder binder;
    private final String prefix;

    HostRedis(Binder binder, String prefix) {
        this.binder = binder;
        this.prefix = prefix;
    }

    /** Null if the host says nothing under this prefix; throws where what it says makes no URL. */
    String url() {
        if (isSet("sentinel.master")) {
            return ofSentinels();
        }
        if (isSet("cluster.nodes") || isSet("cluster.nodes[0]")) {
            return ofNodes("-cluster", "cluster.nodes", "0", new ArrayList<>());
        }
        if (isSet("masterreplica.nodes") || isSet("masterreplica.nodes[0]")) {
            throw new IllegalArgumentException("property " + prefix + "masterreplica.nodes names servers without saying which is the master. "
                    + "Give tollgate.redis.url=redis://MASTER:PORT.");
        }
        if (isSet("url")) {
            return ofUrl(text("url"));
        }
        if (isSet("host") || isSet("port") || isSet("password") || isSet("username") || isSet("database") || saysTls()) {
            String host = isSet("host") ? text("host") : "localhost";
            boolean bareIpv6 = host.indexOf(':') >= 0 && !host.startsWith("[");
            return url(tls(), "", user(text("username")), text("password"),
                    (bareIpv6 ? '[' + host + ']' : host) + ':' + number("port", "6379"), number("database", "0"), new ArrayList<>());
        }
        return null;
    }

    private String ofSentinels() {
        List<String> options = new ArrayList<>();
        options.add("sentinelMasterId=" + text("sentinel.master").trim());
        String password = text("sentinel.password");
        if (StringUtils.hasText(password)) {
            String user = text("sentinel.username");
            if (StringUtils.hasText(user)) {
                options.add("sentinelUser=" + encode(user));
            }
            options.add("sentinelPassword=" + encode(password));
        }
        return ofNodes("-sentinel", "sentinel.nodes", number("database", "0"), options);
    }

    private String ofNodes(String kind, String property, String database, List<String> options) {
        List<String> nodes = binder.bind(prefix + property, Bindable.listOf(String.class)).orElseGet(Collections::emptyList);
        return url(tls(), kind, user(text("username")), text("password"),
                nodes.stream().map(String::trim).collect(Collectors.joining(",")), database, options);
    }

    private String ofUrl(String text) {
        Matcher url = URL.matcher(text);
        if (!url.matches() || url.group(3).isEmpty()) {
            // Not the value: there may be a password in it.
            throw new IllegalArgumentException("property " + prefix + "url is no redis://[user:password@]host[:port] or rediss:// URL. "
                    + "Correct it, or give tollgate.redis.url.");
        }
        String user = null;
        String password = null;
        if (url.group(2) != null) {
            int colon = url.group(2).indexOf(':');
            user = colon < 0 ? null : user(decode(url.group(2).substring(0, colon)));
            password = decode(url.group(2).substring(colon + 1));
        }
        String path = StringUtils.hasText(url.group(5)) ? url.group(5) : "0";
        return url(tls() || url.group(1).equals("rediss"), "", user, password,
                url.group(3) + ':' + (url.group(4) != null ? url.group(4) : "6379"), number("database", path), new ArrayList<>());
    }

    private String url(boolean tls, String kind, String user, String password, String places, String database, List<String> options) {
        StringBuilder url = new StringBuilder(tls ? "rediss" : "redis").append(kind).append("://");
        if (StringUtils.hasText(password)) {
            url.append(StringUtils.hasText(user) ? encode(user) : "").append(':').append(encode(password)).append('@');
        }
        url.append(places).append('/').append(database);
        if (tls && isSet(bundle())) {
            new PemBundle(binder, prefix + bundle(), text(bundle()).trim()).files()
                    .forEach((option, file) -> options.add(option + '=' + encode(file)));
        }
        return url.append(options.isEmpty() ? "" : "?" + String.join("&", options)).toString();
    }

    /** Spring Boot before 2.5 leaves the user out; so does tollgate there, to log in as the host does. */
    private String user(String user) {
        String properties = "org.springframework.boot.autoconfigure.data.redis.RedisProperties";
        ClassLoader loader = HostRedis.class.getClassLoader();
        boolean ignored = prefix.equals(BOOT_2) && ClassUtils.isPresent(properties, loader)
                && !ClassUtils.hasMethod(ClassUtils.resolveClassName(properties, loader), "getUsername");
        return ignored ? null : user;
    }

    private boolean isSet(String name) {
        return name != null && StringUtils.hasText(text(name));
    }

    private String text(String name) {
        return binder.bind(prefix + name, String.class).orElse(null);
    }

    private boolean saysTls() {
        return isSet(tlsSwitch()) || isSet(bundle());
    }

    /** A bundle alone switches TLS on, as Spring Boot has it. */
    private boolean tls() {
        return isSet(tlsSwitch()) ? binder.bind(prefix + tlsSwitch(), Boolean.class).get() : isSet(bundle());
    }

    private String tlsSwitch() {
        return prefix.equals(BOOT_2) ? "ssl" : "ssl.enabled";
    }

    /** Null where Spring Boot has no such property. */
    private String bundle() {
        return prefix.equals(BOOT_2) ? null : "ssl.bundle";
    }

    private String number(String name, String otherwise) {
        return isSet(name) ? String.valueOf(binder.bind(prefix + name, Integer.class).get()) : otherwise;
    }

    private static String encode(String text) {
        try {
            return URLEncoder.encode(text, "UTF-8").replace("+", "%20");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), "UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        } catch (IllegalArgumentException e) {
            // A percent sign that begins no escape stands for itself.
            return text;
        }
    }
}
