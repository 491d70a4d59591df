package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Outcome;
import io.tollgate.Tollgate;
import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.boot.RuoYiLimiter.AjaxResult;
import io.tollgate.spring.boot.RuoYiLimiter.LimitType;
import io.tollgate.spring.boot.RuoYiLimiter.RateLimiter;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.annotation.AliasFor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What the guide says to whoever comes from RuoYi's annotation: the same requests, the same answers; and where they differ. */
class RuoYiMigrationTest {
    private static final String OLD = "rate_limit:";
    private static final String OLD_METHOD = Before.SmsController.class.getName() + "-";
    private static final String OURS = "ratelimit:ruoyi:SmsController.";
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
    void addressesHaveTheirOwnWindows() {
        for (int window = 0; window < 2; window++) {
            for (String address : new String[] {"203.0.113.7", "203.0.113.8"}) {
                assertThat(hosts.same("/sms/code", "X-Forwarded-For", address)).contains("sent");
                assertThat(hosts.same("/sms/code", "X-Forwarded-For", address)).contains("sent");
                assertThat(hosts.same("/sms/code", "X-Forwarded-For", address)).contains(RuoYiLimiter.TOO_OFTEN, "500");
                assertThat(hosts.same("/sms/code", "X-Forwarded-For", address)).contains(RuoYiLimiter.TOO_OFTEN, "500");
            }
            // Theirs stops counting at the first rejection, ours tells how often somebody tried.
            assertThat(redis.command("GET", OLD + "203.0.113.7-" + OLD_METHOD + "smsCode")).isEqualTo("3");
            assertThat(redis.command("HGET", OURS + "smsCode:203.0.113.7", "count")).isEqualTo("4");
            SideBySide.endWindows(redis, 120, OLD + "203.0.113.7-" + OLD_METHOD + "smsCode", OLD + "203.0.113.8-" + OLD_METHOD + "smsCode",
                    OURS + "smsCode:203.0.113.7", OURS + "smsCode:203.0.113.8");
        }
    }

    @Test
    void whatEverybodySharesIsShared() {
        for (int window = 0; window < 2; window++) {
            for (int i = 0; i < 3; i++) {
                assertThat(hosts.same("/sms/report?usercode=u" + i, "X-Forwarded-For", "203.0.113." + i)).contains("report");
            }
            assertThat(hosts.same("/sms/report?usercode=u3", "X-Forwarded-For", "203.0.113.3")).contains(RuoYiLimiter.TOO_OFTEN);
            // A method is a rule of its own.
            assertThat(hosts.same("/sms/code", "X-Forwarded-For", "203.0.113.3")).contains("sent");
            SideBySide.endWindows(redis, 60, OLD + OLD_METHOD + "report", OURS + "report:*");
            redis.command("DEL", OLD + "203.0.113.3-" + OLD_METHOD + "smsCode");
            redis.command("DEL", OURS + "smsCode:203.0.113.3");
        }
    }

    @Test
    void theDefaultsAreThoseOfRuoYi() {
        for (int i = 0; i < 100; i++) {
            assertThat(hosts.same("/sms/list")).contains("list");
        }
        assertThat(hosts.same("/sms/list")).contains(RuoYiLimiter.TOO_OFTEN);
        SideBySide.endWindows(redis, 60, OLD + OLD_METHOD + "list", OURS + "list:*");
        assertThat(hosts.same("/sms/list")).contains("list");
    }

    @Test
    void aKeyOfOnesOwnBecomesTheRulesName() {
        assertThat(hosts.same("/sms/export")).contains("exported");
        assertThat(hosts.same("/sms/export")).contains(RuoYiLimiter.TOO_OFTEN);
        assertThat(redis.command("EXISTS", "export:" + OLD_METHOD + "export")).isEqualTo("1");
        assertThat(redis.command("HGET", "ratelimit:ruoyi:Sms.export:*", "count")).isEqualTo("2");
    }

    @Test
    void theRecipeMakesTheOneOutOfTheOther() {
        String imports = "import com.ruoyi.common.annotation.RateLimiter;\n"
                + "import com.ruoyi.common.enums.LimitType;\nimport java.util.List;\n";
        String rest = "    @RateLimiter(key = \"sms:\", limitType = LimitType.IP)\n    @RateLimiter(\n        time = 60)\n";
        Map<String, String> files = new LinkedHashMap<>();
        files.put("ratelimiter.sed", Guide.block("ruoyi-sed"));
        files.put("SmsController.java", Guide.block("ruoyi-before"));
        files.put("Rest.java", imports + rest);
        files.put("Other.java", "// count = 3, time = 4\n");
        String left = Shell.run(files, Guide.block("ruoyi-sed-run"));
        assertThat(files).containsEntry("SmsController.java", Guide.block("ruoyi-after"))
                .containsEntry("Other.java", "// count = 3, time = 4\n")
                .containsEntry("Rest.java", "import io.tollgate.spring.LimitBy;\nimport io.tollgate.spring.RateLimit;\n"
                        + "import java.util.List;\n"
                        + "    @RateLimit(by = LimitBy.IP, interval = 60, limit = 100)\n    @RateLimiter(\n        time = 60)\n");
        assertThat(left.trim()).as("what is left for one's hands").isEqualTo("./Rest.java:5:    @RateLimiter(");
    }

    @Test
    void theBridgeKeepsTheAnnotationsAsTheyAre() {
        try (Host bridged = start(redis, Bridged.SmsController.class)) {
            redis.command("FLUSHALL");
            SideBySide both = new SideBySide(hosts.before, bridged);
            assertThat(both.same("/sms/code", "X-Forwarded-For", "203.0.113.7")).contains("sent");
            assertThat(both.same("/sms/code", "X-Forwarded-For", "203.0.113.7")).contains("sent");
            assertThat(both.same("/sms/code", "X-Forwarded-For", "203.0.113.7")).contains(RuoYiLimiter.TOO_OFTEN);
            assertThat(both.same("/sms/code", "X-Forwarded-For", "203.0.113.8")).contains("sent");
            both.same("/sms/list");
            assertThat(redis.command("HGET", "ratelimit:config", "ruoyi.SmsController.smsCode.interval")).isEqualTo("120");
            assertThat(redis.command("HGET", "ratelimit:config", "ruoyi.SmsController.list.interval")).isEqualTo("60");
            assertThat(redis.command("HGET", "ratelimit:config", "ruoyi.SmsController.list.limit")).isEqualTo("100");
            assertThat(redis.command("EXISTS", OURS + "list:*")).isEqualTo("1");
        }
    }

    @Test
    void bothSideBySideTheOldOneDecidesUntilTheSwitchIsThrown() {
        Shell.run(redis, Guide.block("ruoyi-shadow"));
        try (Host both = start(redis, OldRedis.class, RuoYiLimiter.RateLimiterAspect.class, Both.SmsController.class)) {
            List<String> answers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                answers.add(both.get("/sms/code").text());
            }
            assertThat(answers.subList(0, 2)).allMatch(answer -> answer.contains("sent"));
            assertThat(answers.subList(2, 4)).allMatch(answer -> answer.contains(RuoYiLimiter.TOO_OFTEN));
            assertThat(both.bean(Tollgate.class).stats().count(Outcome.SHADOWED)).isEqualTo(2);
            String seen = Shell.run(redis, Guide.block("ruoyi-look"));
            assertThat(seen).contains("rate_limit:127.0.0.1-" + Both.SmsController.class.getName() + "-smsCode")
                    .contains("ratelimit:ruoyi:SmsController.smsCode:127.0.0.1")
                    .contains("ruoyi.SmsController.smsCode.check\nshadow");

            Shell.run(redis, Guide.block("ruoyi-switch"));
            assertThat(both.get("/sms/code").text()).contains(RuoYiLimiter.TOO_OFTEN);
            assertThat(both.bean(Tollgate.class).stats().count(Outcome.LIMITED)).isEqualTo(1);
        }
    }

    @Test
    void withoutRedisTheOldOneFailsAndOursPassesLoudlyOrFailsAlikeUnderDeny() {
        RedisServer mortal = new RedisServer(null).start();
        try (Output output = new Output();
                SideBySide loose = new SideBySide(before(mortal), after(mortal));
                SideBySide strict = new SideBySide(before(mortal), start(mortal, After.SmsController.class, "tollgate.on-fault=deny"))) {
            loose.same("/sms/code");
            strict.same("/sms/code");
            mortal.stop();
            RedisServer.await(() -> loose.before.get("/sms/code").text().contains(RuoYiLimiter.OUT_OF_ORDER));
            // A connection that breaks may be noticed by the first hit only; what that gets is the policy's too.
            for (int i = 0; i < 4; i++) {
                assertThat(loose.after.get("/sms/code").text()).contains("sent");
            }
            RedisServer.await(() -> Arrays.stream(output.all().split("\n"))
                    .anyMatch(line -> line.contains(" ERROR ") && line.contains("ruoyi.SmsController.smsCode")));
            RedisServer.await(() -> strict.before.get("/sms/code").text().contains(RuoYiLimiter.OUT_OF_ORDER));
            assertThat(strict.same("/sms/code")).contains(RuoYiLimiter.OUT_OF_ORDER, "500");
        }
    }

    @Test
    void aCounterThatLostItsExpiryBlocksForEverThereAndHealsHere() {
        String old = OLD + OLD_METHOD + "report";
        String ours = OURS + "report:*";
        redis.command("SET", old, "57");
        redis.command("HSET", ours, "count", "57");
        for (int i = 0; i < 3; i++) {
            assertThat(hosts.same("/sms/report")).contains(RuoYiLimiter.TOO_OFTEN);
        }
        assertThat(redis.command("TTL", old)).as("it has no end").isEqualTo("-1");
        SideBySide.endWindows(redis, 60, ours);
        assertThat(hosts.after.get("/sms/report").text()).contains("report");
        assertThat(hosts.before.get("/sms/report").text()).contains(RuoYiLimiter.TOO_OFTEN);
    }

    @Test
    void whoForgesAnAddressEvadesTheOldOneAlone() {
        for (int i = 0; i < 3; i++) {
            String forwarded = "198.51.100." + i + ", 203.0.113.7";
            assertThat(SideBySide.send(hosts.before, "/sms/code", "X-Forwarded-For", forwarded).text()).contains("sent");
            assertThat(SideBySide.send(hosts.after, "/sms/code", "X-Forwarded-For", forwarded).text())
                    .contains(i < 2 ? "sent" : RuoYiLimiter.TOO_OFTEN);
        }
    }

    @Test
    void aRequestWhoseArgumentsAreInvalidIsCountedHereAlone() {
        assertThat(hosts.same("/sms/page?size=many")).contains("500").doesNotContain(RuoYiLimiter.TOO_OFTEN);
        assertThat(hosts.before.get("/sms/page?size=many").text()).doesNotContain(RuoYiLimiter.TOO_OFTEN);
        assertThat(hosts.after.get("/sms/page?size=many").text()).contains(RuoYiLimiter.TOO_OFTEN);
        assertThat(redis.command("EXISTS", OLD + OLD_METHOD + "page")).isEqualTo("0");
        assertThat(redis.command("HGET", OURS + "page:*", "count")).isEqualTo("2");
    }

    private static Host before(RedisServer redis) {
        return Host.start(OldRedis.class, RuoYiLimiter.RateLimiterAspect.class, RuoYiLimiter.GlobalExceptionHandler.class,
                Before.SmsController.class, "old.redis.port=" + redis.port());
    }

    private static Host after(RedisServer redis) {
        return start(redis, After.SmsController.class);
    }

    /** With the properties that the guide gives, beside what such an application has anyway. */
    private static Host start(RedisServer redis, Object... more) {
        List<Object> parts = new ArrayList<>(Arrays.asList(Guide.block("ruoyi-properties").trim().split("\n")));
        parts.addAll(Arrays.asList("spring.messages.basename=migrating/messages", "old.redis.port=" + redis.port()));
        for (String redisOf : new String[] {"spring.redis", "spring.data.redis"}) {
            parts.addAll(Arrays.asList(redisOf + ".host=127.0.0.1", redisOf + ".port=" + redis.port(), redisOf + ".database=0"));
        }
        parts.add(RuoYiLimiter.GlobalExceptionHandler.class);
        parts.addAll(Arrays.asList(more));
        return Host.start(parts.toArray());
    }

    static class Before {
        @RestController
        static class SmsController {
            // shown: ruoyi-before
            @RateLimiter(time = 120, count = 2, limitType = LimitType.IP)
            @GetMapping("/sms/code")
            public AjaxResult smsCode() {
                return AjaxResult.success("sent");
            }

            @RateLimiter(count = 3)
            @GetMapping("/sms/report")
            public AjaxResult report() {
                return AjaxResult.success("report");
            }

            @RateLimiter
            @GetMapping("/sms/list")
            public AjaxResult list() {
                return AjaxResult.success("list");
            }
            // end

            @RateLimiter(key = "export:", time = 60, count = 1)
            @GetMapping("/sms/export")
            public AjaxResult export() {
                return AjaxResult.success("exported");
            }

            @RateLimiter(count = 1)
            @GetMapping("/sms/page")
            public AjaxResult page(@RequestParam("size") int size) {
                return AjaxResult.success("page of " + size);
            }
        }
    }

    static class After {
        @RestController
        static class SmsController {
            // shown: ruoyi-after
            @RateLimit(by = LimitBy.IP, interval = 120, limit = 2)
            @GetMapping("/sms/code")
            public AjaxResult smsCode() {
                return AjaxResult.success("sent");
            }

            @RateLimit(by = LimitBy.GLOBAL, interval = 60, limit = 3)
            @GetMapping("/sms/report")
            public AjaxResult report() {
                return AjaxResult.success("report");
            }

            @RateLimit(by = LimitBy.GLOBAL, interval = 60, limit = 100)
            @GetMapping("/sms/list")
            public AjaxResult list() {
                return AjaxResult.success("list");
            }
            // end

            @RateLimit(by = LimitBy.GLOBAL, rule = "Sms.export", interval = 60, limit = 1)
            @GetMapping("/sms/export")
            public AjaxResult export() {
                return AjaxResult.success("exported");
            }

            @RateLimit(by = LimitBy.GLOBAL, interval = 60, limit = 1)
            @GetMapping("/sms/page")
            public AjaxResult page(@RequestParam("size") int size) {
                return AjaxResult.success("page of " + size);
            }
        }
    }

    static class Both {
        @RestController
        static class SmsController {
            @RateLimiter(time = 120, count = 2, limitType = LimitType.IP)
            @RateLimit(by = LimitBy.IP, interval = 120, limit = 2)
            @GetMapping("/sms/code")
            public AjaxResult smsCode() {
                return AjaxResult.success("sent");
            }
        }
    }

    static class Bridged {
        // shown: ruoyi-bridge
        @RateLimit(by = LimitBy.GLOBAL)
        @Target(ElementType.METHOD)
        @Retention(RetentionPolicy.RUNTIME)
        public @interface RateLimiter {
            @AliasFor(annotation = RateLimit.class, attribute = "interval")
            long time() default 60;

            @AliasFor(annotation = RateLimit.class, attribute = "limit")
            long count() default 100;

            @AliasFor(annotation = RateLimit.class, attribute = "by")
            LimitBy limitType() default LimitBy.GLOBAL;
        }
        // end

        @RestController
        static class SmsController {
            @RateLimiter(time = 120, count = 2, limitType = LimitBy.IP)
            @GetMapping("/sms/code")
            public AjaxResult smsCode() {
                return AjaxResult.success("sent");
            }

            @RateLimiter
            @GetMapping("/sms/list")
            public AjaxResult list() {
                return AjaxResult.success("list");
            }
        }
    }
}
