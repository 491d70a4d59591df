package io.tollgate.spring.boot;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Where counts are kept: {@code tollgate.redis.url}, else the Redis that the host itself is configured for, else memory. Only what
 * the host really says counts: Spring Boot's own defaults name a Redis on localhost that nobody asked for.
 *
 * <p>Where {@code spring.redis.*} and {@code spring.data.redis.*} are both set, those win that the host's own Spring Boot reads: the
 * former up to 2.7, the latter from 3.0 on. They are never mixed.
 */
final class StoreUrl {
    private static final String MEMORY = "memory:";

    private StoreUrl() {}

    /** Never null; throws where the host's settings make no URL. */
    static String of(Environment environment, TollgateProperties properties) {
        String url = properties.getRedis().getUrl();
        if (StringUtils.hasText(url)) {
            return url.trim();
        }
        // Spring 6, which Spring Boot 3 began with, brought this class.
        boolean later = ClassUtils.isPresent("org.springframework.aot.AotDetector", StoreUrl.class.getClassLoader());
        Binder binder = Binder.get(environment);
        String own = new HostRedis(binder, later ? HostRedis.BOOT_3 : HostRedis.BOOT_2).url();
        if (own != null) {
            return own;
        }
        String other = new HostRedis(binder, later ? HostRedis.BOOT_2 : HostRedis.BOOT_3).url();
        return other != null ? other : MEMORY;
    }
}
