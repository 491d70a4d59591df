package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Tollgate;
import io.tollgate.spring.IdentityResolver;
import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RejectionHandler;
import java.security.Principal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebSession;
import org.springframework.web.server.session.WebSessionManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Handler methods of a reactive application: who is counted, what a rejection looks like, and what isn't touched. */
class WebFluxTest {
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String REJECTION = "{\"error\":\"You are doing this too often. Please try again later.\",\"successful\":0}";
    private static final List<String> ANNOUNCED;
    private static Host host;

    static {
        try (Output output = new Output()) {
            host = ReactiveHost.start(Orders.class, Logins.class);
            ANNOUNCED = output.lines("INFO");
        }
    }

    @BeforeAll
    static void announced() {
        assertThat(ANNOUNCED).contains(
                "tollgate: memory store (counts per process; set tollgate.redis.url to share), 17 guarded methods");
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @Test
    void theSecondHitOfAUserIsRejected() {
        assertThat(host.get("/list?usercode=second").text()).isEqualTo("list");
        Http rejected = host.request("GET", "/list?usercode=second").header("Accept-Language", "zh-CN").send();
        assertThat(rejected.status()).isEqualTo(200);
        assertThat(rejected.responseHeader("Content-Type")).isEqualTo("application/json;charset=UTF-8");
        assertThat(rejected.text()).isEqualTo("{\"error\":\"操作过于频繁，请稍后再试\",\"successful\":0}");
        assertThat(rejected.responseHeader("Content-Length")).isEqualTo(String.valueOf(rejected.bytes().length));
        assertThat(rejected.responseHeader("Cache-Control")).isEqualTo("no-store");
        assertThat(rejected.responseHeader("Set-Cookie")).isNull();
        assertThat(host.get("/list?usercode=someone-else").text()).isEqualTo("list");
        assertThat(host.bean(Tollgate.class).settings().all()).containsEntry("wms.Orders.list.interval", "3600");
    }

    @ParameterizedTest
    @CsvSource({"/mono,mono", "/flux,ab", "/future,future", "/entity,entity", "/stream,streamed", "/nothing,''", "/exchange,exchange"})
    void everyKindOfResultIsGuardedBeforeItIsMade(String path, String text) {
        long counted = host.counted();
        assertThat(host.get(path + "?usercode=kind").text()).contains(text);
        assertThat(host.counted()).isEqualTo(counted + 1);
        Http rejected = host.get(path + "?usercode=kind");
        assertThat(rejected.status()).isEqualTo(200);
        assertThat(rejected.text()).isEqualTo(REJECTION);
        assertThat(host.counted()).isEqualTo(counted + 2);
    }

    @Test
    void aFormNamesTheUserAndIsStillTheHandlers() {
        assertThat(post("/form", "usercode=form&page=7").text()).isEqualTo("page 7");
        assertThat(post("/form", "usercode=form&page=7").isRejection()).isTrue();
        assertThat(host.request("POST", "/form?usercode=form").body(FORM, "usercode=other&page=8").send().isRejection()).isTrue();
        assertThat(post("/form", "usercode=other&page=8").text()).isEqualTo("page 8");
    }

    @Test
    void aHandlerThatReadsTheBodyItselfGetsTheWholeOfIt() {
        long unidentified = host.unidentified();
        // From Spring 5.3 on WebFlux binds no form in this way.
        Http unguarded = post("/raw-unguarded", "usercode=raw&page=7");
        Http guarded = post("/raw", "usercode=raw&page=7");
        assertThat(guarded.status()).isEqualTo(unguarded.status()).isIn(200, 415);
        assertThat(guarded.status() == 415 || guarded.text().equals("usercode=raw&page=7")).isTrue();
        assertThat(host.unidentified()).isEqualTo(unidentified + 1);
        assertThat(host.request("POST", "/raw?usercode=raw").body("text/plain", "a=b").send().text()).isEqualTo("a=b");
        assertThat(host.request("POST", "/raw?usercode=raw").body("text/plain", "abc").send().isRejection()).isTrue();
    }

    @Test
    void aSessionNamesTheUserAndNoneIsMade() {
        long unidentified = host.unidentified();
        Http anonymous = host.get("/list");
        assertThat(anonymous.text()).isEqualTo("list");
        assertThat(anonymous.responseHeader("Set-Cookie")).isNull();
        assertThat(host.request("GET", "/list").header("Cookie", "SESSION=gone").send().text()).isEqualTo("list");
        assertThat(host.unidentified()).isEqualTo(unidentified + 2);

        String cookie = host.get("/login").responseHeader("Set-Cookie").split(";")[0];
        assertThat(host.request("GET", "/list").header("Cookie", cookie).send().text()).isEqualTo("list");
        assertThat(host.request("GET", "/list").header("Cookie", cookie).send().isRejection()).isTrue();
        assertThat(host.get("/list?usercode=logged-in").isRejection()).isTrue();
    }

    @Test
    void thePrincipalThatAFilterHasFoundIsKnown() {
        assertThat(host.request("GET", "/list").header("X-Login", "ann").send().text()).isEqualTo("list");
        assertThat(host.request("GET", "/list").header("X-Login", "ann").send().isRejection()).isTrue();
        assertThat(host.request("GET", "/list").header("X-Login", "bob").send().text()).isEqualTo("list");
    }

    @Test
    void addressesExpressionsAndOneForAllAreKnown() {
        assertThat(host.get("/by-ip").text()).isEqualTo("by ip");
        assertThat(host.get("/by-ip").isRejection()).isTrue();
        assertThat(host.get("/global").text()).isEqualTo("global");
        assertThat(host.get("/global?usercode=x").isRejection()).isTrue();
        assertThat(host.request("GET", "/by-header").header("X-Shop", "a").send().text()).isEqualTo("by header");
        assertThat(host.request("GET", "/by-header").header("X-Shop", "b").send().text()).isEqualTo("by header");
        assertThat(host.request("GET", "/by-header").header("x-shop", "a").send().isRejection()).isTrue();
    }

    @Test
    void anUploadOfARejectedUserIsAnsweredToo() {
        byte[] megabytes = new byte[2_000_000];
        assertThat(host.request("POST", "/upload?usercode=up").body("application/octet-stream", megabytes).send().text())
                .isEqualTo("2000000");
        assertThat(host.request("POST", "/upload?usercode=up").body("application/octet-stream", megabytes).send().isRejection()).isTrue();
    }

    @Test
    void otherHandlersAndMethodsAreNotCounted() {
        long counted = host.counted();
        for (int i = 0; i < 2; i++) {
            assertThat(host.get("/page.html?usercode=other").text()).isEqualTo("<p>static</p>\n");
            assertThat(host.get("/nowhere?usercode=other").status()).isEqualTo(404);
            assertThat(host.get("/functional?usercode=other").text()).isEqualTo("functional");
            assertThat(host.get("/plain?usercode=other").text()).isEqualTo("plain");
            assertThat(host.request("POST", "/list?usercode=other").send().status()).isEqualTo(405);
            assertThat(host.request("OPTIONS", "/list?usercode=other").send().responseHeader("Allow")).contains("GET");
        }
        assertThat(host.counted()).isEqualTo(counted);
        assertThat(host.request("HEAD", "/list?usercode=other").send().status()).isEqualTo(200);
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.get("/list?usercode=other").isRejection()).isTrue();
    }

    @Test
    void corsComesFirst() {
        long counted = host.counted();
        Http preflight = cross("OPTIONS", "http://front.example").header("Access-Control-Request-Method", "GET").send();
        assertThat(preflight.status()).isEqualTo(200);
        assertThat(preflight.responseHeader("Access-Control-Allow-Origin")).isEqualTo("http://front.example");
        assertThat(cross("GET", "http://elsewhere.example").send().status()).isEqualTo(403);
        assertThat(host.counted()).isEqualTo(counted);
        assertThat(cross("GET", "http://front.example").send().text()).isEqualTo("cors");
        Http rejected = cross("GET", "http://front.example").send();
        assertThat(rejected.isRejection()).isTrue();
        assertThat(rejected.responseHeader("Access-Control-Allow-Origin")).isEqualTo("http://front.example");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/list?usercode=%", "/list?usercode=%zz", "/list?%00=%ff&=&&"})
    void aQueryThatMakesNoSenseIsTheHosts(String path) {
        int unguarded = host.get(path.replace("list", "plain")).status();
        assertThat(host.get(path).status()).isEqualTo(unguarded);
    }

    @Test
    void theHostsOwnAnswerIsSentAsItSays() {
        try (Host own = ReactiveHost.start(Orders.class, TooMany.class)) {
            own.get("/list?usercode=u");
            Http rejected = own.get("/list?usercode=u");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(Integer.parseInt(rejected.responseHeader("Retry-After"))).isBetween(1, 3600);
            assertThat(rejected.responseHeader("Content-Type")).isEqualTo("text/plain;charset=UTF-8");
            assertThat(rejected.text()).isEqualTo("wms.Orders.list");
            own.get("/mono?usercode=u");
            Http redirect = own.get("/mono?usercode=u");
            assertThat(redirect.status()).isEqualTo(499);
            assertThat(redirect.responseHeader("X-Reason")).isEqualTo("no body");
            assertThat(redirect.text()).isEmpty();
            own.get("/flux?usercode=u");
            try (Output output = new Output()) {
                assertThat(own.get("/flux?usercode=u").text()).isEqualTo(REJECTION);
                assertThat(output.lines("ERROR")).anySatisfy(line -> assertThat(line).contains("the default answer is tried"));
            }
        }
    }

    @Test
    void theStyleThatThePropertiesChooseAnswers() {
        try (Host http = ReactiveHost.start(Orders.class, "tollgate.rejection.style=http")) {
            http.get("/list?usercode=u");
            Http rejected = http.get("/list?usercode=u");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.responseHeader("Content-Type")).startsWith("application/problem+json");
            assertThat(Integer.parseInt(rejected.responseHeader("Retry-After"))).isBetween(1, 3600);
        }
    }

    @Test
    void aSessionStoreThatFailsLetsTheRequestPassLoudly() {
        try (Output output = new Output(); Host broken = ReactiveHost.start(Orders.class, BrokenSessions.class)) {
            assertThat(broken.request("GET", "/list").header("Cookie", "SESSION=x").send().text()).isEqualTo("list");
            assertThat(output.lines("ERROR")).anySatisfy(line -> assertThat(line).contains("was NOT LIMITED").contains("the session can't be read")
                    .contains("no sessions today"));
        }
    }

    @Test
    void switchedOffNothingIsMounted() {
        try (Host off = ReactiveHost.start(Orders.class, "tollgate.enabled=false")) {
            assertThat(off.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(off.get("/list?usercode=u").text()).isEqualTo("list");
        }
    }

    private static Http post(String path, String form) {
        return host.request("POST", path).body(FORM, form).send();
    }

    private static Http cross(String method, String origin) {
        return host.request(method, "/cors?usercode=cross").header("Origin", origin);
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 3600)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        @RateLimit(interval = 3600)
        @GetMapping("/mono")
        Mono<String> mono() {
            return Mono.just("mono");
        }

        @RateLimit(interval = 3600)
        @GetMapping("/flux")
        Flux<String> flux() {
            return Flux.just("a", "b");
        }

        @RateLimit(interval = 3600)
        @GetMapping("/future")
        CompletableFuture<String> future() {
            return CompletableFuture.supplyAsync(() -> "future");
        }

        @RateLimit(interval = 3600)
        @GetMapping("/entity")
        Mono<ResponseEntity<String>> entity() {
            return Mono.just(ResponseEntity.ok("entity")).delayElement(Duration.ofMillis(1));
        }

        @RateLimit(interval = 3600)
        @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> stream() {
            return Flux.just("streamed", "twice");
        }

        @RateLimit(interval = 3600)
        @GetMapping("/nothing")
        Mono<Void> nothing() {
            return Mono.empty();
        }

        @RateLimit(interval = 3600)
        @GetMapping("/exchange")
        Mono<Void> exchange(ServerWebExchange exchange) {
            return exchange.getResponse().writeWith(Mono.just(exchange.getResponse().bufferFactory().wrap("exchange".getBytes())));
        }

        @RateLimit(interval = 3600)
        @PostMapping("/form")
        Mono<String> form(@ModelAttribute Page page) {
            return Mono.just("page " + page.getPage());
        }

        @RateLimit(interval = 3600)
        @PostMapping("/raw")
        Mono<String> raw(@RequestBody String body) {
            return Mono.just(body);
        }

        @PostMapping("/raw-unguarded")
        Mono<String> unguarded(@RequestBody String body) {
            return Mono.just(body);
        }

        @RateLimit(interval = 3600)
        @PostMapping("/upload")
        Mono<String> upload(ServerWebExchange exchange) {
            return exchange.getRequest().getBody().map(buffer -> {
                int count = buffer.readableByteCount();
                DataBufferUtils.release(buffer);
                return count;
            }).reduce(0, Integer::sum).map(String::valueOf);
        }

        @RateLimit(by = LimitBy.IP, interval = 3600)
        @GetMapping("/by-ip")
        String byIp() {
            return "by ip";
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 3600)
        @GetMapping("/global")
        String global() {
            return "global";
        }

        @RateLimit(key = "#request.request.headers.getFirst('X-Shop')", interval = 3600)
        @GetMapping("/by-header")
        String byHeader() {
            return "by header";
        }

        @RateLimit(interval = 3600)
        @CrossOrigin("http://front.example")
        @GetMapping("/cors")
        String cors() {
            return "cors";
        }

        @RateLimit(interval = 3600)
        @GetMapping("/two-of-one-class")
        String another() {
            return "another";
        }

        @RateLimit(interval = 3600)
        @GetMapping({"/many", "/paths"})
        String many() {
            return "many";
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }

        @GetMapping("/login")
        Mono<String> login(WebSession session) {
            session.getAttributes().put("usercode", "logged-in");
            return Mono.just("welcome");
        }
    }

    static class Page {
        private int page;

        public int getPage() {
            return page;
        }

        public void setPage(int page) {
            this.page = page;
        }
    }

    @Configuration
    static class Logins {
        @Bean
        WebFilter login() {
            return (exchange, chain) -> {
                String name = exchange.getRequest().getHeaders().getFirst("X-Login");
                Principal login = () -> name;
                return chain.filter(name == null ? exchange : exchange.mutate().principal(Mono.just(login)).build());
            };
        }

        @Bean
        @Order(IdentityResolver.REQUEST_ORDER + 1)
        IdentityResolver byPrincipal() {
            return (request, method) -> request.principal() == null ? null : request.principal().getName();
        }

        @Bean
        RouterFunction<ServerResponse> functional() {
            return RouterFunctions.route(RequestPredicates.GET("/functional"), request -> ServerResponse.ok().body(Mono.just("functional"), String.class));
        }
    }

    @Configuration
    static class TooMany {
        @Bean
        RejectionHandler tooMany() {
            return (rejection, response) -> {
                if (rejection.request().uri().equals("/flux")) {
                    throw new IllegalStateException("the handler's own");
                }
                if (rejection.request().uri().equals("/mono")) {
                    response.status(499);
                    response.header("X-Reason", "no body");
                    return;
                }
                response.status(429);
                response.header("Retry-After", String.valueOf((rejection.decision().resetAfterMillis() + 999) / 1000));
                response.body("text/plain;charset=UTF-8", rejection.rule().toString());
            };
        }
    }

    @Configuration
    static class BrokenSessions {
        @Bean
        WebSessionManager webSessionManager() {
            return exchange -> Mono.error(new IllegalStateException("no sessions today"));
        }
    }
}
