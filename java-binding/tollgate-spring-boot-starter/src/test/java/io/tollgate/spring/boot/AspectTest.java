package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tollgate.Outcome;
import io.tollgate.spring.LimitBy;
import io.tollgate.spring.LimiterUnavailableException;
import io.tollgate.spring.OnReject;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimitObserver;
import io.tollgate.spring.RateLimited;
import io.tollgate.spring.RateLimitedException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Any bean's method, and a controller's where the interceptor can't know enough. */
class AspectTest {
    private static final String REJECTION = "{\"error\":\"You are doing this too often. Please try again later.\",\"successful\":0}";
    private static Host host;
    private static Orders orders;

    @BeforeAll
    static void start() {
        host = Host.start(Orders.class, Pages.class, ByClass.class, CatchAll.class, Watching.class);
        orders = host.bean(Orders.class);
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @Test
    void aServiceMethodCountsEachCallByItsKey() {
        assertThat(orders.close("o1")).isEqualTo("closed o1");
        assertThat(orders.close("o2")).isEqualTo("closed o2");
        assertThatThrownBy(() -> orders.close("o1")).isInstanceOfSatisfying(RateLimitedException.class, e -> {
            assertThat(e.limited().rule()).hasToString("wms.Orders.close");
            assertThat(e.limited().user()).isEqualTo("o1");
            assertThat(e.limited().decision().outcome()).isEqualTo(Outcome.LIMITED);
            assertThat(e).hasMessage("You are doing this too often. Please try again later.").hasNoCause();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "null", "undefined"})
    void aKeyOfNobodyPasses(String key) {
        long unidentified = host.unidentified();
        orders.close(key);
        orders.close(null);
        orders.close(key);
        assertThat(host.unidentified()).isEqualTo(unidentified + 3);
    }

    @Test
    void aKeyMadeOfAnUnknownUserIsNobodyAndNotNull() {
        long unidentified = host.unidentified();
        orders.perUser("o1");
        orders.perUser("o1");
        assertThat(host.unidentified()).isEqualTo(unidentified + 2);
    }

    @Test
    void aKeyWithoutATextOfItsOwnIsSaidAndPasses() {
        try (Output output = new Output()) {
            orders.byObject(new Object());
            orders.byObject(new Object());
            assertThat(output.lines("ERROR")).anySatisfy(line -> assertThat(line).contains("was NOT LIMITED")
                    .contains("@RateLimit(key = \"#p0\") of " + Orders.class.getName() + ".byObject() gave a java.lang.Object")
                    .contains("name one of its properties"));
        }
        orders.byArray(new String[] {"a", "b"});
        assertThatThrownBy(() -> orders.byArray(new String[] {"a", "b"})).isInstanceOf(RateLimitedException.class);
    }

    @Test
    void conditionsSayWhichCallsCount() {
        long counted = host.counted();
        assertThat(orders.big(10)).isEqualTo(10);
        assertThat(orders.big(10)).isEqualTo(10);
        assertThat(orders.big(5_000)).isEqualTo(5_000);
        assertThat(host.counted()).isEqualTo(counted);
        assertThat(orders.big(1_000)).isEqualTo(1_000);
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThatThrownBy(() -> orders.big(1_001)).isInstanceOf(RateLimitedException.class);
    }

    @Test
    void fallbacksAnswerInTheMethodsPlace() {
        assertThat(orders.price("a")).isEqualTo("fresh a");
        assertThat(orders.price("a")).isEqualTo("cached a, wms.Orders.price for *");
        assertThat(orders.stock("a")).isEqualTo(7);
        assertThat(orders.stock("a")).isEqualTo(0);
        orders.failing();
        assertThatThrownBy(orders::failing).isInstanceOf(IllegalStateException.class).hasMessage("the fallback's own");
    }

    @Test
    void theMessageCanBeTheValue() throws Exception {
        String text = "Slow down";
        assertThat(orders.text()).isEqualTo("text");
        assertThat(orders.text()).isEqualTo(text);
        assertThat(orders.object()).isEqualTo(1);
        assertThat(orders.object()).isEqualTo(text);
        assertThat(orders.future().get()).isEqualTo("future");
        assertThat(orders.future().get()).isEqualTo(text);
        assertThat(orders.callable().call()).isEqualTo("callable");
        assertThat(orders.callable().call()).isEqualTo(text);
        assertThat(orders.monoText().block()).isEqualTo("mono");
        assertThat(orders.monoText().block()).isEqualTo(text);
    }

    @Test
    void futuresAndPublishersAreLimitedWhenTheMethodIsCalled() {
        assertThat(orders.later().join()).isEqualTo("later");
        assertThatThrownBy(orders::later).isInstanceOf(RateLimitedException.class);

        Mono<String> first = orders.mono();
        Mono<String> second = orders.mono();
        assertThatThrownBy(second::block).isInstanceOf(RateLimitedException.class);
        assertThat(first.block()).isEqualTo("mono 1");
        // A subscription of its own is a run of its own, of one decision.
        assertThat(first.block()).isEqualTo("mono 2");
        assertThat(orders.flux().collectList().block()).containsExactly(1, 2);
        assertThatThrownBy(() -> orders.flux().collectList().block()).isInstanceOf(RateLimitedException.class);
    }

    @Test
    void severalRulesAreChargedTogetherAndTheLongestWaitAnswers() {
        long counted = host.counted();
        orders.several("x");
        assertThat(host.counted()).isEqualTo(counted + 2);
        assertThatThrownBy(() -> orders.several("x")).isInstanceOfSatisfying(RateLimitedException.class,
                e -> assertThat(e.limited().rule()).hasToString("wms.Orders.several"));
        assertThatThrownBy(() -> orders.several("x")).isInstanceOfSatisfying(RateLimitedException.class,
                e -> assertThat(e.limited().rule()).hasToString("wms.daily"));
        assertThat(host.counted()).isEqualTo(counted + 6);
        orders.several("y");
    }

    @Test
    void whatTheInterceptorDecidedTheAspectLeaves() {
        long counted = host.counted();
        assertThat(host.get("/plain?usercode=p").text()).isEqualTo("plain");
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.get("/plain?usercode=p").text()).isEqualTo(REJECTION);
        assertThat(host.counted()).isEqualTo(counted + 2);
    }

    @Test
    void aControllersArgumentsCanBeTheKey() {
        long counted = host.counted();
        assertThat(host.get("/by-argument?id=1").text()).isEqualTo("argument 1");
        assertThat(host.get("/by-argument?id=2").text()).isEqualTo("argument 2");
        Http limited = host.get("/by-argument?id=1");
        assertThat(limited.status()).isEqualTo(200);
        assertThat(limited.text()).isEqualTo(REJECTION);
        assertThat(host.counted()).isEqualTo(counted + 3);
    }

    @Test
    void aControllersFallbackAndMessageAnswer() {
        assertThat(host.get("/fallback?usercode=f").text()).isEqualTo("fresh");
        assertThat(host.get("/fallback?usercode=f").text()).isEqualTo("stale for f");
        assertThat(host.get("/message?usercode=m").text()).isEqualTo("fresh");
        assertThat(host.get("/message?usercode=m").text()).isEqualTo("Slow down");
    }

    @Test
    void aRejectionBehindAControllerIsAnsweredBeforeTheHostsCatchAll() {
        assertThat(host.get("/calls-service?usercode=s").text()).isEqualTo("closed s");
        assertThat(host.get("/calls-service?usercode=s").text()).isEqualTo(REJECTION);
        assertThat(host.get("/wraps-service?usercode=s").text()).isEqualTo(REJECTION);
        Http failed = host.get("/fails");
        assertThat(failed.status()).isEqualTo(500);
        assertThat(failed.text()).isEqualTo("catch-all: the host's own");
    }

    @Test
    void anAnnotationOnAControllersClassMeansItsHandlers() {
        long counted = host.counted();
        assertThat(host.get("/by-class?usercode=c").text()).isEqualTo("by class, model");
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.bean(ByClass.class).helper()).isEqualTo("helped");
        assertThat(host.bean(ByClass.class).helper()).isEqualTo("helped");
        assertThat(host.counted()).isEqualTo(counted + 1);
    }

    @Test
    void observersHearOfMonitoredRulesOnly() {
        Watching watching = host.bean(Watching.class);
        watching.heard.clear();
        orders.watched("w");
        assertThatThrownBy(() -> orders.watched("w")).isInstanceOf(RateLimitedException.class);
        orders.unwatched("w");
        assertThat(watching.heard).containsExactly("wms.Orders.watched ALLOWED w", "wms.Orders.watched LIMITED w");
    }

    @Test
    void aDeadStoreUnderDenyIsNeverCalledTooOften() {
        try (Host denying = Host.start(Orders.class, Pages.class, CatchAll.class, "tollgate.on-fault=deny",
                "tollgate.redis.url=redis://127.0.0.1:1", "tollgate.connect-timeout=0")) {
            assertThatThrownBy(() -> denying.bean(Orders.class).close("o1")).isInstanceOfSatisfying(LimiterUnavailableException.class, e -> {
                assertThat(e.limited().isUnavailable()).isTrue();
                assertThat(e.limited().decision().outcome()).isEqualTo(Outcome.FAULT_DENIED);
            });
            assertThat(denying.get("/calls-service?usercode=s").text()).contains("\"successful\":0").isNotEqualTo(REJECTION);
            // A rule's own policy goes before the limiter's.
            assertThat(denying.bean(Orders.class).allowing("x")).isEqualTo("allowed");
        }
    }

    @Test
    void withoutAopARuleOfArgumentsIsSaidToBeUnlimited() {
        try (Output output = new Output(); Host plain = Host.start(Pages.class, Orders.class, "spring.aop.auto=false")) {
            assertThat(plain.get("/by-argument?id=1").text()).isEqualTo("argument 1");
            assertThat(plain.get("/by-argument?id=1").text()).isEqualTo("argument 1");
            assertThat(plain.get("/plain?usercode=p").text()).isEqualTo("plain");
            assertThat(plain.get("/plain?usercode=p").text()).isEqualTo(REJECTION);
            assertThat(output.lines("ERROR")).anySatisfy(line -> assertThat(line)
                    .contains("wms.Pages.byArgument").contains("is NOT LIMITED").contains("spring-boot-starter-aop"));
        }
    }

    @Test
    void anAnnotationThatMeansNothingKeepsTheApplicationFromStarting() {
        try (Output output = new Output()) {
            assertThatThrownBy(() -> Host.start(Wrong.class)).hasStackTraceContaining("InvalidRateLimitException");
            assertThat(output.all()).contains("APPLICATION FAILED TO START")
                    .contains("@RateLimit(key = \"#order.id\") of " + Wrong.class.getName() + ".close() names #order, which isn't there.")
                    .contains("Name one of #id, ");
        }
    }

    @Service
    static class Orders {
        private int runs;

        @RateLimit(key = "#p0", interval = 3600)
        public String close(String id) {
            return "closed " + id;
        }

        @RateLimit(key = "#user + '|' + #p0", interval = 3600)
        public void perUser(String id) {}

        @RateLimit(key = "#p0", interval = 3600)
        public void byObject(Object any) {}

        @RateLimit(key = "#p0", interval = 3600)
        public void byArray(String[] any) {}

        @RateLimit(by = LimitBy.GLOBAL, condition = "#p0 > 100", unless = "#p0 == 5000", interval = 3600)
        public int big(int size) {
            return size;
        }

        @RateLimit(by = LimitBy.GLOBAL, fallback = "cached", interval = 3600)
        public String price(String item) {
            return "fresh " + item;
        }

        private String cached(String item, RateLimited limited) {
            return "cached " + item + ", " + limited.rule() + " for " + limited.user();
        }

        @RateLimit(by = LimitBy.GLOBAL, fallback = "none", interval = 3600)
        public Integer stock(String item) {
            return 7;
        }

        static int none(String item) {
            return 0;
        }

        @RateLimit(by = LimitBy.GLOBAL, fallback = "fails", interval = 3600)
        public void failing() {}

        void fails() {
            throw new IllegalStateException("the fallback's own");
        }

        @RateLimit(by = LimitBy.GLOBAL, onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        public String text() {
            return "text";
        }

        @RateLimit(by = LimitBy.GLOBAL, onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        public Object object() {
            return 1;
        }

        @RateLimit(by = LimitBy.GLOBAL, onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("future");
        }

        @RateLimit(by = LimitBy.GLOBAL, onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        public Callable<String> callable() {
            return () -> "callable";
        }

        @RateLimit(by = LimitBy.GLOBAL, onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        public Mono<String> monoText() {
            return Mono.just("mono");
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 3600)
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture("later");
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 3600)
        public Mono<String> mono() {
            return Mono.just("mono " + ++runs);
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 3600)
        public Flux<Integer> flux() {
            return Flux.just(1, 2);
        }

        @RateLimit(key = "#p0", interval = 3)
        @RateLimit(rule = "daily", key = "#p0", interval = 86_400, limit = 2)
        public void several(String id) {}

        @RateLimit(key = "#p0", interval = 3600)
        public void watched(String id) {}

        @RateLimit(key = "#p0", interval = 3600, monitor = false)
        public void unwatched(String id) {}

        @RateLimit(key = "#p0", onFault = io.tollgate.OnFault.ALLOW)
        public String allowing(String id) {
            return "allowed";
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

        @RateLimit(key = "#p0", interval = 3600)
        @GetMapping("/by-argument")
        public String byArgument(@RequestParam("id") String id) {
            return "argument " + id;
        }

        @RateLimit(fallback = "stale", interval = 3600)
        @GetMapping("/fallback")
        public String fallback() {
            return "fresh";
        }

        private String stale(RateLimited limited) {
            return "stale for " + limited.user();
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE, message = "Slow down", interval = 3600)
        @GetMapping("/message")
        public String message() {
            return "fresh";
        }

        @GetMapping("/calls-service")
        public String callsService(@RequestParam("usercode") String user) {
            return orders.close(user);
        }

        @GetMapping("/wraps-service")
        public String wrapsService(@RequestParam("usercode") String user) {
            try {
                return orders.close(user);
            } catch (RateLimitedException e) {
                throw new IllegalStateException("wrapped", e);
            }
        }

        @GetMapping("/fails")
        public String fails() {
            throw new IllegalStateException("the host's own");
        }

        @ExceptionHandler(RuntimeException.class)
        ResponseEntity<String> own(RuntimeException e) {
            return new ResponseEntity<>("catch-all: " + e.getMessage(), HttpStatus.INTERNAL_SERVER_ERROR);
        }
    }

    @RestController
    @RateLimit(interval = 3600)
    static class ByClass {
        @ModelAttribute("model")
        public String model() {
            return "model";
        }

        @GetMapping("/by-class")
        public String list(@ModelAttribute("model") String model) {
            return "by class, " + model;
        }

        public String helper() {
            return "helped";
        }
    }

    @RestControllerAdvice
    static class CatchAll {
        @ExceptionHandler(Throwable.class)
        ResponseEntity<String> any(Throwable e) {
            return new ResponseEntity<>("advice: " + e.getMessage(), HttpStatus.INTERNAL_SERVER_ERROR);
        }
    }

    @Service
    static class Wrong {
        @RateLimit(key = "#order.id")
        public void close(String id) {}
    }

    @Configuration
    static class Watching {
        final List<String> heard = new CopyOnWriteArrayList<>();

        @Bean
        RateLimitObserver observer() {
            return (rule, decision, identity, request) -> heard.add(rule + " " + decision.outcome() + " " + identity);
        }
    }
}
