package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.IdentityResolver;
import io.tollgate.spring.RateLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Reactive applications on a real Redis: shared, stopped, frozen. */
class WebFluxRedisTest {
    /** More than there are threads of any kind that could wait. */
    private static final int PENDING = 100;

    @Test
    void hostsShareCountsAndAnOperatorRulesThemAll() {
        try (RedisServer redis = new RedisServer(null).start();
                Host one = ReactiveHost.start(Orders.class, "tollgate.redis.url=redis://127.0.0.1:" + redis.port());
                Host two = ReactiveHost.start(Orders.class, "spring.redis.port=" + redis.port(), "spring.redis.host=127.0.0.1",
                        "spring.data.redis.port=" + redis.port(), "spring.data.redis.host=127.0.0.1")) {
            assertThat(one.get("/list?usercode=u").text()).startsWith("list");
            assertThat(two.get("/list?usercode=u").isRejection()).isTrue();
            assertThat(redis.command("HGET", "ratelimit:wms:Orders.list:u", "count")).isEqualTo("2");
            redis.command("HSET", "ratelimit:config", "wms.Orders.list.check", "false");
            assertThat(two.get("/list?usercode=u").text()).startsWith("list");
        }
    }

    @Test
    void whatFollowsADecisionRunsOnReactorsThreads() {
        try (RedisServer redis = new RedisServer(null).start();
                Host host = ReactiveHost.start(Orders.class, Prices.class, Asked.class, "tollgate.redis.url=redis://127.0.0.1:" + redis.port())) {
            for (int i = 0; i < 20; i++) {
                assertThat(host.get("/list?usercode=thread" + i).text()).matches("list on (parallel|reactor)-.*");
                assertThat(host.get("/price?item=" + i).text()).matches("price on (parallel|reactor)-.*");
            }
        }
    }

    @Test
    void aRedisThatGoesAndComesBackNeedsNoRestart() {
        try (RedisServer redis = new RedisServer(null).start();
                Output output = new Output();
                Host host = ReactiveHost.start(Orders.class, "tollgate.redis.url=redis://127.0.0.1:" + redis.port())) {
            assertThat(host.get("/list?usercode=before").text()).startsWith("list");
            assertThat(host.get("/list?usercode=before").isRejection()).isTrue();
            redis.stop();
            for (int i = 0; i < 5; i++) {
                assertThat(host.get("/list?usercode=before").text()).startsWith("list");
            }
            RedisServer.await(() -> errors(output) > 0);
            assertThat(errors(output)).isLessThanOrEqualTo(3);
            redis.start();
            RedisServer.await(() -> host.get("/list?usercode=after").isRejection());
        }
    }

    @Test
    void underDenyAFaultIsARejectionThatBlamesNobody() {
        try (Host host = ReactiveHost.start(Orders.class, Prices.class, Asked.class, "tollgate.redis.url=redis://127.0.0.1:" + RedisServer.freePort(),
                "tollgate.on-fault=deny", "tollgate.connect-timeout=0")) {
            Http denied = host.get("/list?usercode=u");
            assertThat(denied.isRejection()).isTrue();
            assertThat(denied.text()).doesNotContain("too often");
            Http behind = host.get("/price?item=1");
            assertThat(behind.isRejection()).isTrue();
            assertThat(behind.text()).isEqualTo(denied.text());
            assertThat(host.get("/list").text()).startsWith("list");
        }
    }

    @Test
    void whileRedisIsFrozenNothingWaitsForIt() throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(2 * PENDING);
        try (RedisServer redis = new RedisServer(null).start();
                Host host = ReactiveHost.start(Orders.class, Prices.class, Asked.class, "tollgate.deadline=60s",
                        "tollgate.redis.url=redis://127.0.0.1:" + redis.port())) {
            assertThat(host.get("/list?usercode=warm").text()).startsWith("list");
            assertThat(host.get("/price?item=warm").text()).startsWith("price");
            Asked asked = host.bean(Asked.class);
            int before = asked.count.get();
            redis.signal("STOP");
            List<CompletableFuture<String>> pending = new ArrayList<>();
            try {
                for (int i = 0; i < PENDING; i++) {
                    String user = "frozen" + i;
                    pending.add(CompletableFuture.supplyAsync(() -> host.get("/list?usercode=" + user).text(), clients));
                    pending.add(CompletableFuture.supplyAsync(() -> host.get("/price?item=" + user).text(), clients));
                }
                // Each of them has come as far as the question, though none has an answer.
                RedisServer.await(() -> asked.count.get() == before + 2 * PENDING);
                for (int i = 0; i < 20; i++) {
                    assertThat(host.get("/plain").text()).isEqualTo("plain");
                }
                assertThat(pending).noneMatch(CompletableFuture::isDone);
            } finally {
                redis.signal("CONT");
            }
            for (CompletableFuture<String> answer : pending) {
                assertThat(answer.get()).matches("(list|price) on .*");
            }
        } finally {
            clients.shutdown();
        }
    }

    private static long errors(Output output) {
        return Stream.of(output.all().split("\n")).filter(line -> line.contains(" ERROR ") && line.contains("wms.Orders.list")).count();
    }

    private static String on(String what) {
        return what + " on " + Thread.currentThread().getName();
    }

    @RestController
    static class Orders {
        @Autowired(required = false)
        private Prices prices;

        @RateLimit(interval = 60)
        @GetMapping("/list")
        Mono<String> list() {
            return Mono.just(on("list"));
        }

        @GetMapping("/price")
        Mono<String> price(@RequestParam("item") String item) {
            return prices.price(item);
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }
    }

    @Service
    static class Prices {
        @RateLimit(key = "#p0", condition = "@asked.isAsked(#p0)", interval = 60)
        public Mono<String> price(String item) {
            return Mono.just(on("price"));
        }
    }

    @Configuration
    static class Asked {
        final AtomicInteger count = new AtomicInteger();

        @Bean
        Asking asked() {
            return new Asking(count);
        }

        /** Asked for every request's identity, after which the decision is waited for. */
        @Bean
        @Order(IdentityResolver.REQUEST_ORDER - 1)
        IdentityResolver counting() {
            return (request, method) -> {
                count.incrementAndGet();
                return null;
            };
        }
    }

    /** For an expression. */
    static class Asking {
        private final AtomicInteger count;

        Asking(AtomicInteger count) {
            this.count = count;
        }

        public boolean isAsked(String item) {
            count.incrementAndGet();
            return true;
        }
    }
}
