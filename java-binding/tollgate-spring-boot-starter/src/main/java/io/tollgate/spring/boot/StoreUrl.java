package io.tollgate.spring.boot;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Where counts are kept: {@code tollgate.redis.url}, else the Redis that the host itself is configured for, else memory. Only what
 * the host really says counts: Spring Boot's own defaults name a Redis on localhost that nobody asked for.
 */
final class StoreUrl {
    private static final String MEMORY = "memory:";
    /** Greedy up to the last @, since passwords may hold one. */
    private static final Pattern URL = Pattern.compile("(rediss?)://(?:(.*)@)?(\\[[^]]*]|[^:/?#@]*)(?::(\\d+))?(?:/(\\d*))?(?:[?#].*)?");

    private final Binder binder;

    private StoreUrl(Environment environment) {
        this.binder = Binder.get(environment);
    }

    /** Never null; throws where the host's settings make no URL. */
    static String of(Environment environment, TollgateProperties properties) {
        String url = properties.getRedis().getUrl();
        return StringUtils.hasText(url) ? url.trim() : new StoreUrl(environment).ofHost();
    }

    private String ofHost() {
        if (isSet("cluster.nodes") || isSet("cluster.nodes[0]")) {
            return places(ssl() ? "rediss-cluster" : "redis-cluster", "cluster.nodes", "0");
        }
        if (isSet("sentinel.master")) {
            return ofSentinels();
        }
        if (isSet("url")) {
            return ofUrl(text("url"));
        }
        if (isSet("host") || isSet("port") || isSet("password") || isSet("username") || isSet("database") || isSet("ssl")) {
            String host = isSet("host") ? text("host") : "localhost";
            boolean bareIpv6 = host.indexOf(':') >= 0 && !host.startsWith("[");
            return url(scheme(ssl()), user(text("username")), text("password"),
                    (bareIpv6 ? '[' + host + ']' : host) + ':' + number("port", "6379"), number("database", "0"));
        }
        return MEMORY;
    }

    private String ofSentinels() {
        String password = text("sentinel.password");
        String login = StringUtils.hasText(password) ? "&sentinelPassword=" + encode(password) : "";
        return places(ssl() ? "rediss-sentinel" : "redis-sentinel", "sentinel.nodes", number("database", "0"))
                + "?sentinelMasterId=" + text("sentinel.master").trim() + login;
    }

    private String places(String scheme, String property, String database) {
        List<String> nodes = binder.bind("spring.redis." + property, Bindable.listOf(String.class)).orElseGet(Collections::emptyList);
        return url(scheme, user(text("username")), text("password"),
                nodes.stream().map(String::trim).collect(Collectors.joining(",")), database);
    }

    private String ofUrl(String text) {
        Matcher url = URL.matcher(text);
        if (!url.matches() || url.group(3).isEmpty()) {
            // Not the value: there may be a password in it.
            throw new IllegalArgumentException("property spring.redis.url is no redis://[user:password@]host[:port] or rediss:// URL. "
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
        return url(scheme(ssl() || url.group(1).equals("rediss")), user, password,
                url.group(3) + ':' + (url.group(4) != null ? url.group(4) : "6379"), number("database", path));
    }

    private static String scheme(boolean tls) {
        return tls ? "rediss" : "redis";
    }

    private static String url(String scheme, String user, String password, String places, String database) {
        StringBuilder url = new StringBuilder(scheme).append("://");
        if (StringUtils.hasText(password)) {
            url.append(StringUtils.hasText(user) ? encode(user) : "").append(':').append(encode(password)).append('@');
        }
        return url.append(places).append('/').append(database).toString();
    }

    /** Spring Boot before 2.5 leaves the user out; so does tollgate there, to log in as the host does. */
    private static String user(String user) {
        String properties = "org.springframework.boot.autoconfigure.data.redis.RedisProperties";
        ClassLoader loader = StoreUrl.class.getClassLoader();
        boolean ignored = ClassUtils.isPresent(properties, loader)
                && !ClassUtils.hasMethod(ClassUtils.resolveClassName(properties, loader), "getUsername");
        return ignored ? null : user;
    }

    private boolean isSet(String name) {
        return StringUtils.hasText(text(name));
    }

    private String text(String name) {
        return binder.bind("spring.redis." + name, String.class).orElse(null);
    }

    private boolean ssl() {
        return binder.bind("spring.redis.ssl", Boolean.class).orElse(false);
    }

    private String number(String name, String otherwise) {
        return isSet(name) ? String.valueOf(binder.bind("spring.redis." + name, Integer.class).get()) : otherwise;
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
