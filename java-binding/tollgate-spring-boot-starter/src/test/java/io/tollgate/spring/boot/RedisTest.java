package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Hosts on a real Redis, and on one that isn't there. */
class RedisTest {
    private static final String COUNTER = "ratelimit:wms:Orders.list:";

    @Test
    void hostsShareCountsAndAnOperatorRulesThemAll() {
        try (RedisServer redis = new RedisServer(null).start();
                Output output = new Output();
                Host one = Host.start(Orders.class, "tollgate.redis.url=redis://127.0.0.1:" + redis.port());
                Host two = Host.start(Orders.class, "spring.redis.port=" + redis.port(), "spring.redis.host=127.0.0.1")) {
            assertThat(output.lines("INFO")).hasSize(2)
                    .allMatch(("tollgate: redis 127.0.0.1:" + redis.port() + ", 1 guarded method")::equals);
            assertThat(one.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(two.get("/list?usercode=u").isRejection()).isTrue();
            assertThat(redis.command("HGET", COUNTER + "u", "count")).isEqualTo("2");
            assertThat(Integer.parseInt(redis.command("TTL", COUNTER + "u"))).isBetween(1, 60);
            assertThat(redis.command("HGET", "ratelimit:config", "wms.Orders.list.interval")).isEqualTo("60");

            redis.command("HSET", "ratelimit:config", "wms.Orders.list.check", "false");
            assertThat(one.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(two.get("/list?usercode=u").text()).isEqualTo("list");
            redis.command("HSET", "ratelimit:config", "wms.Orders.list.check", "true");
            assertThat(one.get("/list?usercode=u").isRejection()).isTrue();
        }
    }

    @Test
    void theHostsPasswordDatabaseAndTheKeyPrefixAreUsed() {
        String password = "p@ss:w/o%r d+ü#";
        try (RedisServer redis = new RedisServer(password).start()) {
            String encoded = "p%40ss:w%2Fo%25r%20d%2B%C3%BC%23";
            Object[][] settings = {
                {"spring.redis.host=127.0.0.1", "spring.redis.port=" + redis.port(), "spring.redis.password=" + password},
                {"spring.redis.url=redis://:" + encoded + "@127.0.0.1:" + redis.port(), "spring.redis.host=not.used.invalid"},
                {"spring.redis.url=redis://" + encoded.replace(":", "%3A") + "@127.0.0.1:" + redis.port()},
                {"tollgate.redis.url=redis://:" + encoded + "@127.0.0.1:" + redis.port() + "/3", "spring.redis.host=not.used.invalid"},
            };
            for (Object[] setting : settings) {
                redis.command("FLUSHALL");
                try (Host host = Host.start(Orders.class, setting[0], setting.length > 1 ? setting[1] : "a=b",
                        setting.length > 2 ? setting[2] : "a=b", "spring.redis.database=3", "tollgate.prefix=team:limits")) {
                    assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
                    assertThat(host.get("/list?usercode=u").isRejection()).isTrue();
                    assertThat(redis.command(3, "HGET", "team:limits:wms:Orders.list:u", "count")).isEqualTo("2");
                }
            }
        }
    }

    @Test
    void aRedisThatIsAbsentAtStartLetsRequestsPassUntilItComes() {
        try (RedisServer redis = new RedisServer(null);
                Output output = new Output();
                Host host = Host.start(Orders.class,
                        "tollgate.redis.url=redis://127.0.0.1:" + redis.port(), "tollgate.connect-timeout=50ms")) {
            assertThat(output.lines("INFO")).containsExactly("tollgate: redis 127.0.0.1:" + redis.port() + ", 1 guarded method");
            for (int i = 0; i < 3; i++) {
                assertThat(host.get("/list?usercode=absent").text()).isEqualTo("list");
            }
            assertOneOrFewErrorLines(output);
            redis.start();
            awaitLimiting(host, "came");
        }
    }

    @Test
    void aRedisThatGoesAndComesBackNeedsNoRestart() {
        try (RedisServer redis = new RedisServer(null).start();
                Output output = new Output();
                Host host = Host.start(Orders.class, "tollgate.redis.url=redis://127.0.0.1:" + redis.port())) {
            assertThat(host.get("/list?usercode=before").text()).isEqualTo("list");
            assertThat(host.get("/list?usercode=before").isRejection()).isTrue();
            redis.stop();
            for (int i = 0; i < 5; i++) {
                assertThat(host.get("/list?usercode=before").text()).isEqualTo("list");
            }
            assertOneOrFewErrorLines(output);
            redis.start();
            awaitLimiting(host, "after");
        }
    }

    @Test
    void underDenyAFaultIsARejection() {
        try (Host host = Host.start(Orders.class, "tollgate.redis.url=redis://127.0.0.1:" + RedisServer.freePort(),
                "tollgate.on-fault=deny", "tollgate.connect-timeout=0")) {
            assertThat(host.get("/list?usercode=u").isRejection()).isTrue();
            assertThat(host.get("/list").text()).isEqualTo("list");
        }
    }

    private static void awaitLimiting(Host host, String user) {
        RedisServer.await(() -> host.get("/list?usercode=" + user).isRejection());
    }

    /** Of the limiter's own log, which names the rule and the reason; it is written by a thread of its own. */
    private static void assertOneOrFewErrorLines(Output output) {
        RedisServer.await(() -> errorLines(output) > 0);
        assertThat(errorLines(output)).isLessThanOrEqualTo(3);
    }

    private static long errorLines(Output output) {
        return Stream.of(output.all().split("\n")).filter(line -> line.contains(" ERROR ") && line.contains("wms.Orders.list")).count();
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }
    }
}
