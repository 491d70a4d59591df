package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.OnReject;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.boot.AopLimiter.AccessLimit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** What the guide says to whoever comes from an aspect and a script: the same requests, the same answers; and where they differ. */
class AopMigrationTest {
    private static final String OURS = "ratelimit:wms:StockService.";
    private static RedisServer redis;
    private static SideBySide hosts;

    @BeforeAll
    static void start() {
        redis = new RedisServer(null).start();
        hosts = new SideBySide(before(redis), after(redis));
    }

    @AfterAll
    static void stop() {
        hosts.close();
        redis.close();
    }

    @BeforeEach
    void nobodyHasAskedYet() {
        redis.command("FLUSHALL");
    }

    @Test
    void aKeyOfTheArgumentsCountsAsItDidAndTheMessageIsReturned() {
        for (int window = 0; window < 2; window++) {
            for (String warehouse : new String[] {"A1", "B2"}) {
                for (int i = 0; i < 3; i++) {
                    assertThat(hosts.same("/stock?warehouse=" + warehouse)).isEqualTo("stock of " + warehouse);
                }
                assertThat(hosts.same("/stock?warehouse=" + warehouse)).isEqualTo("Busy");
                assertThat(hosts.same("/stock?warehouse=" + warehouse)).isEqualTo("Busy");
            }
            SideBySide.endWindows(redis, 30, "limit:A1", "limit:B2", OURS + "stock:A1", OURS + "stock:B2");
        }
    }

    @Test
    void aKeyOfABeanAndAnArgumentCountsAsItDidAndTheFallbackAnswers() {
        for (int window = 0; window < 2; window++) {
            for (String user : new String[] {"u1", "u2"}) {
                for (String item : new String[] {"i1", "i2"}) {
                    String path = "/price?item=" + item;
                    assertThat(hosts.same(path, "X-User", user)).isEqualTo("price of " + item);
                    assertThat(hosts.same(path, "X-User", user)).isEqualTo("last known price of " + item);
                    assertThat(hosts.same(path, "X-User", user)).isEqualTo("last known price of " + item);
                }
            }
            SideBySide.endWindows(redis, 60, "limit:u1-i1", "limit:u1-i2", "limit:u2-i1", "limit:u2-i2",
                    OURS + "price:u1-i1", OURS + "price:u1-i2", OURS + "price:u2-i1", OURS + "price:u2-i2");
        }
    }

    @Test
    void twoMethodsThatSharedAKeyShareARule() {
        assertThat(hosts.same("/export")).isEqualTo("exported");
        assertThat(hosts.same("/print")).isEqualTo("Busy");
        SideBySide.endWindows(redis, 30, "limit:reports", "ratelimit:wms:reports:*");
        assertThat(hosts.same("/print")).isEqualTo("printed");
        assertThat(hosts.same("/export")).isEqualTo("Busy");
    }

    @Test
    void withoutRedisTheOldOneFailsAndOursPassesLoudly() {
        RedisServer mortal = new RedisServer(null).start();
        try (Output output = new Output(); SideBySide both = new SideBySide(before(mortal), after(mortal))) {
            assertThat(both.same("/stock?warehouse=A1")).isEqualTo("stock of A1");
            mortal.stop();
            RedisServer.await(() -> both.before.get("/stock?warehouse=A1").status() == 500);
            for (int i = 0; i < 5; i++) {
                assertThat(both.after.get("/stock?warehouse=A1").text()).isEqualTo("stock of A1");
            }
            RedisServer.await(() -> Arrays.stream(output.all().split("\n"))
                    .anyMatch(line -> line.contains(" ERROR ") && line.contains("wms.StockService.stock")));
        }
    }

    @Test
    void aCounterThatLostItsExpiryBlocksForEverThereAndHealsHere() {
        redis.command("SET", "limit:A1", "57");
        redis.command("HSET", OURS + "stock:A1", "count", "57");
        for (int i = 0; i < 3; i++) {
            assertThat(hosts.same("/stock?warehouse=A1")).isEqualTo("Busy");
        }
        assertThat(redis.command("TTL", "limit:A1")).as("it has no end").isEqualTo("-1");
        SideBySide.endWindows(redis, 30, OURS + "stock:A1");
        assertThat(hosts.after.get("/stock?warehouse=A1").text()).isEqualTo("stock of A1");
        assertThat(hosts.before.get("/stock?warehouse=A1").text()).isEqualTo("Busy");
    }

    @Test
    void aKeyOfNothingIsSharedByAllThereAndNobodysHere() {
        for (int i = 0; i < 4; i++) {
            assertThat(hosts.before.get("/stock").text()).isEqualTo(i < 3 ? "stock of null" : "Busy");
            assertThat(hosts.after.get("/stock").text()).isEqualTo("stock of null");
        }
        assertThat(redis.command("EXISTS", "limit:null")).isEqualTo("1");
        assertThat(redis.command("EXISTS", OURS + "stock:null")).isEqualTo("0");
    }

    private static Host before(RedisServer redis) {
        return Host.start(OldRedis.class, AopLimiter.AccessLimitAspect.class, CurrentUser.class, Before.StockService.class,
                Pages.class, "old.redis.port=" + redis.port());
    }

    private static Host after(RedisServer redis) {
        List<Object> parts = new ArrayList<>();
        for (String property : Guide.block("aop-properties").trim().split("\n")) {
            parts.add(property.replace(":6379", ":" + redis.port()));
        }
        parts.addAll(Arrays.asList(CurrentUser.class, After.StockService.class, Pages.class));
        return Host.start(parts.toArray());
    }

    /** What an application has to know who asks. */
    @Component("currentUser")
    static class CurrentUser {
        public String name() {
            return ((ServletRequestAttributes)
                    RequestContextHolder.currentRequestAttributes())
                    .getRequest().getHeader("X-User");
        }
    }

    /** What the pages ask, before and after. */
    interface Stocks {
        String stock(String warehouse);

        String price(String item);

        String export();

        String print();
    }

    @RestController
    static class Pages {
        @Autowired
        private Stocks stocks;

        @GetMapping("/stock")
        public String stock(@RequestParam(name = "warehouse", required = false) String warehouse) {
            return stocks.stock(warehouse);
        }

        @GetMapping("/price")
        public String price(@RequestParam("item") String item) {
            return stocks.price(item);
        }

        @GetMapping("/export")
        public String export() {
            return stocks.export();
        }

        @GetMapping("/print")
        public String print() {
            return stocks.print();
        }
    }

    static class Before {
        @Service
        static class StockService implements Stocks {
            // shown: aop-before
            @AccessLimit(key = "#warehouse", limit = 3, expire = 30, message = "Busy")
            public String stock(String warehouse) {
                return "stock of " + warehouse;
            }

            @AccessLimit(key = "@currentUser.name() + '-' + #item", limit = 1, expire = 60, fallback = "lastPrice")
            public String price(String item) {
                return "price of " + item;
            }

            @AccessLimit(key = "'reports'", limit = 1, message = "Busy")
            public String export() {
                return "exported";
            }

            @AccessLimit(key = "'reports'", limit = 1, message = "Busy")
            public String print() {
                return "printed";
            }
            // end

            public String lastPrice(String item) {
                return "last known price of " + item;
            }
        }
    }

    static class After {
        @Service
        static class StockService implements Stocks {
            // shown: aop-after
            @RateLimit(key = "#warehouse", limit = 3, interval = 30, message = "Busy", onReject = OnReject.RETURN_MESSAGE)
            public String stock(String warehouse) {
                return "stock of " + warehouse;
            }

            @RateLimit(key = "@currentUser.name() + '-' + #item", limit = 1, interval = 60, fallback = "lastPrice")
            public String price(String item) {
                return "price of " + item;
            }

            @RateLimit(rule = "reports", by = LimitBy.GLOBAL, limit = 1, interval = 30, message = "Busy",
                    onReject = OnReject.RETURN_MESSAGE)
            public String export() {
                return "exported";
            }

            @RateLimit(rule = "reports", by = LimitBy.GLOBAL, limit = 1, interval = 30, message = "Busy",
                    onReject = OnReject.RETURN_MESSAGE)
            public String print() {
                return "printed";
            }
            // end

            public String lastPrice(String item) {
                return "last known price of " + item;
            }
        }
    }
}
