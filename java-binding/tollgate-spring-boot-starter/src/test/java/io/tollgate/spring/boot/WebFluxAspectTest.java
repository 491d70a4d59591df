package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.OnReject;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimited;
import io.tollgate.spring.RateLimitedException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The aspect in a reactive application: on services, and on controllers where the adapter can't know enough. */
class WebFluxAspectTest {
    private static final String REJECTION = "{\"error\":\"You are doing this too often. Please try again later.\",\"successful\":0}";
    private static final Output OUTPUT;
    private static final Host HOST;
    private static Orders orders;

    static {
        OUTPUT = new Output();
        HOST = ReactiveHost.start(Orders.class, Pages.class, Locals.class, ByClass.class, CatchAll.class, Routes.class);
    }

    @BeforeAll
    static void start() {
        orders = HOST.bean(Orders.class);
    }

    @AfterAll
    static void stop() {
        HOST.close();
        OUTPUT.close();
    }

    @Test
    void aControllerBehindTheAspectCountsOnce() {
        for (String path : new String[] {"/plain", "/plain-mono", "/by-class"}) {
            long counted = HOST.counted();
            assertThat(HOST.get(path + "?usercode=once").text()).isEqualTo("plain");
            assertThat(HOST.counted()).isEqualTo(counted + 1);
            assertThat(HOST.get(path + "?usercode=once").text()).isEqualTo(REJECTION);
            assertThat(HOST.counted()).isEqualTo(counted + 2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/by-argument", "/by-argument-plain", "/by-argument-future", "/by-class-argument"})
    void aControllersArgumentsCanBeTheKey(String path) {
        long counted = HOST.counted();
        assertThat(HOST.get(path + "?id=1").text()).isEqualTo("argument 1");
        assertThat(HOST.get(path + "?id=2").text()).isEqualTo("argument 2");
        assertThat(HOST.get(path + "?id=1").text()).isEqualTo(REJECTION);
        assertThat(HOST.counted()).isEqualTo(counted + 3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/user-and-argument", "/user-and-argument-plain"})
    void aControllersRuleMayAskForUserAndArguments(String path) {
        long counted = HOST.counted();
        assertThat(HOST.get(path + "?usercode=a&id=big").text()).isEqualTo("big");
        assertThat(HOST.get(path + "?usercode=b&id=big").text()).isEqualTo("big");
        assertThat(HOST.get(path + "?usercode=a&id=small").text()).isEqualTo("small");
        assertThat(HOST.get(path + "?usercode=a&id=big").text()).isEqualTo(REJECTION);
        assertThat(HOST.counted()).isEqualTo(counted + 3);
    }

    @Test
    void whatCantKnowItsUserIsSaidAtStart() {
        assertThat(OUTPUT.lines("ERROR")).anySatisfy(line -> assertThat(line).contains("wms.Pages.blind").contains("is NOT LIMITED")
                .contains("ServerWebExchange"));
        assertThat(OUTPUT.lines("ERROR")).noneMatch(line -> line.contains("userAndArgument"));
        long unidentified = HOST.unidentified();
        assertThat(HOST.get("/blind?usercode=a&id=big").text()).isEqualTo("big");
        assertThat(HOST.unidentified()).isEqualTo(unidentified + 1);
    }

    @Test
    void anEventLoopThatWaitsIsSaidOnce() {
        HOST.get("/by-argument-plain?id=w1");
        HOST.get("/by-argument-plain?id=w2");
        assertThat(OUTPUT.lines("WARN")).filteredOn(line -> line.contains("wms.Pages.byArgumentPlain")).hasSize(1)
                .allMatch(line -> line.contains("an event loop waits"));
        assertThat(OUTPUT.lines("WARN")).noneMatch(line -> line.contains("wms.Pages.byArgument ") || line.contains("byArgumentFuture"));
    }

    @Test
    void fallbacksAndMessagesAnswerInTheMethodsPlace() {
        assertThat(HOST.get("/fallback?usercode=f").text()).isEqualTo("fresh");
        assertThat(HOST.get("/fallback?usercode=f").text()).isEqualTo("stale for f");
        assertThat(HOST.get("/message?usercode=m").text()).isEqualTo("fresh");
        assertThat(HOST.get("/message?usercode=m").text()).isEqualTo("Slow down");
        assertThat(orders.several().collectList().block()).containsExactly(1, 2);
        assertThat(orders.several().collectList().block()).containsExactly(0);
        assertThat(Flux.from(orders.published()).collectList().block()).containsExactly("a", "b");
        assertThat(Flux.from(orders.published()).collectList().block()).containsExactly("Slow down");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mono", "/flux", "/wrapped", "/entity", "/future", "/thrown", "/thrown-wrapped", "/local/mono", "/local/flux",
        "/local/rethrown", "/functional", "/filtered"})
    void aRejectionBehindAControllerIsAnsweredBeforeTheHostsCatchAll(String path) {
        String key = path.replace('/', '-');
        assertThat(HOST.get(path + "?id=" + key).text()).isEqualTo("closed " + key);
        Http rejected = HOST.get(path + "?id=" + key);
        assertThat(rejected.status()).isEqualTo(200);
        assertThat(rejected.responseHeader("Content-Type")).isEqualTo("application/json;charset=UTF-8");
        assertThat(rejected.text()).isEqualTo(REJECTION);
    }

    @Test
    void theHostsOwnFailuresStayItsOwn() {
        assertThat(HOST.get("/fails").text()).isEqualTo("advice: the host's own");
        assertThat(HOST.get("/local/fails").text()).isEqualTo("local: the host's own");
        // Spring asks a controller's own handler before any advice; what it rethrows is answered.
        HOST.get("/local/thrown?id=lt");
        assertThat(HOST.get("/local/thrown?id=lt").text()).startsWith("local: You are doing this too often");
    }

    @Test
    void aServiceKnowsTheUserOfTheRequestThatSubscribes() {
        for (String path : new String[] {"/per-user", "/per-user-functional"}) {
            long counted = HOST.counted();
            String user = "u" + path.length();
            assertThat(HOST.get(path + "?usercode=" + user).text()).isEqualTo("per user");
            assertThat(HOST.get(path + "?usercode=other" + user).text()).isEqualTo("per user");
            assertThat(HOST.get(path + "?usercode=" + user).text()).isEqualTo(REJECTION);
            assertThat(HOST.counted()).isEqualTo(counted + 3);
        }
        long unidentified = HOST.unidentified();
        assertThat(orders.perUser().block()).isEqualTo("per user");
        assertThat(orders.perUser().block()).isEqualTo("per user");
        assertThat(HOST.unidentified()).isEqualTo(unidentified + 2);
    }

    @Test
    void aDecisionIsMadeOnceForAnInvocation() {
        long counted = HOST.counted();
        AtomicInteger runs = Orders.RUNS;
        int before = runs.get();
        Mono<String> failing = orders.failing("retried");
        assertThat(HOST.counted()).isEqualTo(counted + 1);
        assertThatThrownBy(() -> failing.retry(2).block()).hasMessage("not yet");
        assertThat(runs.get()).isEqualTo(before + 3);
        assertThat(orders.close("repeated").repeat(2).collectList().block()).hasSize(3).containsOnly("closed repeated");
        assertThat(HOST.counted()).isEqualTo(counted + 2);
        assertThatThrownBy(() -> orders.close("repeated").retry(2).block()).isInstanceOf(RateLimitedException.class);
        assertThat(HOST.counted()).isEqualTo(counted + 3);

        Mono<String> perUser = orders.perUserRepeated();
        assertThat(HOST.get("/repeated?usercode=r").text()).isEqualTo("3 runs");
        assertThat(HOST.counted()).isEqualTo(counted + 4);
        assertThat(perUser.block()).isEqualTo("run");
    }

    @Test
    void cancellingIsHarmless() {
        long counted = HOST.counted();
        Mono<String> slow = orders.slow("cancelled");
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> slow.timeout(Duration.ofMillis(1)).block()).hasRootCauseInstanceOf(
                    TimeoutException.class);
        }
        slow.subscribe().dispose();
        assertThat(orders.close("cancelled-before").repeat().take(2).collectList().block()).hasSize(2);
        Mono<String> rejected = orders.close("cancelled-before");
        rejected.subscribe(text -> { }, failure -> { }).dispose();
        assertThatThrownBy(rejected::block).isInstanceOf(RateLimitedException.class);
        assertThat(HOST.counted()).isEqualTo(counted + 3);
    }

    @Test
    void aFutureOnAnEventLoopFailsRatherThanHavingItWait() {
        assertThat(onEventLoop("f1").join()).isEqualTo("closed f1");
        assertThatThrownBy(() -> onEventLoop("f1").join()).isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RateLimitedException.class);
    }

    private static CompletableFuture<String> onEventLoop(String id) {
        return Mono.fromSupplier(() -> orders.closeLater(id)).subscribeOn(Schedulers.parallel()).block();
    }

    @Service
    static class Orders {
        static final AtomicInteger RUNS = new AtomicInteger();

        @RateLimit(key = "#p0", interval = 3600)
        public Mono<String> close(String id) {
            return Mono.just("closed " + id);
        }

        @RateLimit(key = "#p0", interval = 3600)
        public Flux<String> closeAll(String id) {
            return Flux.just("closed ", id);
        }

        @RateLimit(key = "#p0", interval = 3600)
        public CompletableFuture<String> closeLater(String id) {
            return CompletableFuture.completedFuture("closed " + id);
        }

        @RateLimit(key = "#p0", interval = 3600)
        public String closeNow(String id) {
            return "closed " + id;
        }

        @RateLimit(key = "#p0", interval = 3600)
        public Mono<String> failing(String id) {
            RUNS.incrementAndGet();
            return Mono.error(new IllegalStateException("not yet"));
        }

        @RateLimit(key = "#p0", interval = 3600)
        public Mono<String> slow(String id) {
            return Mono.never();
        }

        @RateLimit(interval = 3600)
        public Mono<String> perUser() {
            return Mono.just("per user");
        }

        @RateLimit(interval = 3600)
        public Mono<String> perUserRepeated() {
            return Mono.just("run");
        }

        @RateLimit(by = LimitBy.GLOBAL, fallback = "none", interval = 3600)
        public Flux<Integer> several() {
            return Flux.just(1, 2);
        }

        public Flux<Integer> none() {
            return Flux.just(0);
        }

        @RateLimit(by = LimitBy.GLOBAL, onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        public Publisher<String> published() {
            return Flux.just("a", "b");
        }
    }

    @RestController
    static class Pages {
        @Autowired
        private Orders orders;

        @RateLimit(interval = 3600)
        @GetMapping("/plain")
        public String plain() {
            return "plain";
        }

        @RateLimit(interval = 3600)
        @GetMapping("/plain-mono")
        public Mono<String> plainMono() {
            return Mono.just("plain");
        }

        @RateLimit(key = "#p0", interval = 3600)
        @GetMapping("/by-argument")
        public Mono<String> byArgument(@RequestParam("id") String id) {
            return Mono.just("argument " + id);
        }

        @RateLimit(key = "#p0", interval = 3600)
        @GetMapping("/by-argument-plain")
        public String byArgumentPlain(@RequestParam("id") String id) {
            return "argument " + id;
        }

        @RateLimit(key = "#p0", interval = 3600)
        @GetMapping("/by-argument-future")
        public CompletableFuture<String> byArgumentFuture(@RequestParam("id") String id) {
            return CompletableFuture.completedFuture("argument " + id);
        }

        @RateLimit(condition = "#p0 == 'big'", interval = 3600)
        @GetMapping("/user-and-argument")
        public Mono<String> userAndArgument(@RequestParam("id") String id) {
            return Mono.just(id);
        }

        @RateLimit(condition = "#p0 == 'big'", interval = 3600)
        @GetMapping("/user-and-argument-plain")
        public String userAndArgumentPlain(@RequestParam("id") String id, ServerWebExchange exchange) {
            return id;
        }

        @RateLimit(condition = "#p0 == 'big'", interval = 3600)
        @GetMapping("/blind")
        public String blind(@RequestParam("id") String id) {
            return id;
        }

        @RateLimit(fallback = "stale", interval = 3600)
        @GetMapping("/fallback")
        public Mono<String> fallback() {
            return Mono.just("fresh");
        }

        private Mono<String> stale(RateLimited limited) {
            return Mono.just("stale for " + limited.user());
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        @GetMapping("/message")
        public Mono<String> message() {
            return Mono.just("fresh");
        }

        @GetMapping("/mono")
        public Mono<String> mono(@RequestParam("id") String id) {
            return orders.close(id);
        }

        @GetMapping("/flux")
        public Flux<String> flux(@RequestParam("id") String id) {
            return orders.closeAll(id);
        }

        @GetMapping("/wrapped")
        public Mono<String> wrapped(@RequestParam("id") String id) {
            return orders.close(id).onErrorMap(e -> new IllegalStateException("wrapped", new RuntimeException(e)));
        }

        @GetMapping("/entity")
        public Mono<ResponseEntity<String>> entity(@RequestParam("id") String id) {
            return orders.close(id).map(ResponseEntity::ok);
        }

        @GetMapping("/future")
        public CompletableFuture<String> future(@RequestParam("id") String id) {
            return orders.closeLater(id);
        }

        @GetMapping("/thrown")
        public String thrown(@RequestParam("id") String id) {
            return orders.closeNow(id);
        }

        @GetMapping("/thrown-wrapped")
        public String thrownWrapped(@RequestParam("id") String id) {
            try {
                return orders.closeNow(id);
            } catch (RateLimitedException e) {
                throw new IllegalStateException("wrapped", e);
            }
        }

        @GetMapping("/fails")
        public Mono<String> fails() {
            return Mono.error(new IllegalStateException("the host's own"));
        }

        @GetMapping("/per-user")
        public Mono<String> perUser() {
            return orders.perUser();
        }

        @GetMapping("/repeated")
        public Mono<String> repeated() {
            return orders.perUserRepeated().repeat(2).count().map(runs -> runs + " runs");
        }
    }

    @RestController
    static class Locals {
        @Autowired
        private Orders orders;

        @GetMapping("/local/mono")
        public Mono<String> mono(@RequestParam("id") String id) {
            return orders.close(id);
        }

        @GetMapping("/local/flux")
        public Flux<String> flux(@RequestParam("id") String id) {
            return orders.closeAll(id);
        }

        @GetMapping("/local/thrown")
        public String thrown(@RequestParam("id") String id) {
            return orders.closeNow(id);
        }

        @GetMapping("/local/fails")
        public Mono<String> fails() {
            return Mono.error(new IllegalStateException("the host's own"));
        }

        @GetMapping("/local/rethrown")
        public String rethrown(@RequestParam("id") String id) {
            return orders.closeNow(id);
        }

        @ExceptionHandler(Exception.class)
        ResponseEntity<String> local(Exception e, ServerWebExchange exchange) throws Exception {
            if (exchange.getRequest().getPath().value().equals("/local/rethrown")) {
                throw e;
            }
            return new ResponseEntity<>("local: " + e.getMessage(), HttpStatus.INTERNAL_SERVER_ERROR);
        }
    }

    @RateLimit(interval = 3600)
    @RestController
    static class ByClass {
        @GetMapping("/by-class")
        public String list() {
            return "plain";
        }

        @RateLimit(key = "#p0", interval = 3600)
        @GetMapping("/by-class-argument")
        public Mono<String> argument(@RequestParam("id") String id) {
            return Mono.just("argument " + id);
        }
    }

    @RestControllerAdvice
    static class CatchAll {
        @ExceptionHandler(Throwable.class)
        ResponseEntity<String> any(Throwable e) {
            return new ResponseEntity<>("advice: " + e.getMessage(), HttpStatus.INTERNAL_SERVER_ERROR);
        }
    }

    @Configuration
    static class Routes {
        @Bean
        RouterFunction<ServerResponse> routes(Orders orders) {
            return RouterFunctions
                    .route(RequestPredicates.GET("/functional"), request -> orders.close(request.queryParam("id").get())
                            .flatMap(text -> ServerResponse.ok().body(Mono.just(text), String.class)))
                    .andRoute(RequestPredicates.GET("/per-user-functional"), request -> orders.perUser()
                            .flatMap(text -> ServerResponse.ok().body(Mono.just(text), String.class)));
        }

        @Bean
        WebFilter filtered(Orders orders) {
            return (exchange, chain) -> exchange.getRequest().getPath().value().equals("/filtered")
                    ? orders.close(exchange.getRequest().getQueryParams().getFirst("id")).flatMap(text ->
                            exchange.getResponse().writeWith(Mono.just(exchange.getResponse().bufferFactory().wrap(text.getBytes()))))
                    : chain.filter(exchange);
        }
    }
}
