package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Case 24: what is no call of a guarded method isn't counted; CORS works as if there were no limiter. */
class OtherHandlersTest {
    private static Host host;

    @BeforeAll
    static void start() {
        host = Host.start(Orders.class, Cors.class);
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @Test
    void staticFilesUnknownPathsAndPlainHandlersAreNotCounted() {
        long counted = host.counted();
        for (int i = 0; i < 2; i++) {
            assertThat(host.get("/page.html?usercode=static").text()).isEqualTo("<p>static</p>\n");
            assertThat(host.get("/nowhere?usercode=static").status()).isEqualTo(404);
            assertThat(host.get("/plain?usercode=static").text()).isEqualTo("plain");
            assertThat(host.request("POST", "/list?usercode=static").send().status()).isEqualTo(405);
            assertThat(host.request("OPTIONS", "/list?usercode=static").send().responseHeader("Allow")).contains("GET");
        }
        assertThat(host.counted()).isEqualTo(counted);
    }

    @Test
    void aPreflightIsNotCounted() {
        for (String path : new String[] {"/list", "/annotated", "/any"}) {
            long counted = host.counted();
            for (int i = 0; i < 2; i++) {
                Http preflight = cross("OPTIONS", path, "preflight").header("Access-Control-Request-Method", "GET").send();
                assertThat(preflight.status()).isEqualTo(200);
                assertThat(preflight.responseHeader("Access-Control-Allow-Origin")).isEqualTo("http://front.example");
                assertThat(preflight.text()).isEmpty();
            }
            assertThat(host.counted()).isEqualTo(counted);
            Http get = cross("GET", path, "preflight").send();
            assertThat(get.text()).isEqualTo("ok");
            assertThat(get.responseHeader("Access-Control-Allow-Origin")).isEqualTo("http://front.example");
            assertThat(host.counted()).isEqualTo(counted + 1);
        }
    }

    @Test
    void aPageOfAnotherOriginMayReadItsRejection() {
        for (String path : new String[] {"/list", "/annotated"}) {
            cross("GET", path, "cross").send();
            Http rejected = cross("GET", path, "cross").send();
            assertThat(rejected.isRejection()).isTrue();
            assertThat(rejected.responseHeader("Access-Control-Allow-Origin")).isEqualTo("http://front.example");
        }
    }

    @Test
    void aHandlerWithoutCorsIsLimitedAsEver() {
        long counted = host.counted();
        assertThat(cross("GET", "/no-cors", "cross").send().text()).isEqualTo("ok");
        assertThat(cross("GET", "/no-cors", "cross").send().isRejection()).isTrue();
        assertThat(host.counted()).isEqualTo(counted + 2);
    }

    @Test
    void anOriginThatTheHostRefusesIsRefusedByTheHost() {
        long counted = host.counted();
        for (int i = 0; i < 2; i++) {
            Http refused = host.request("GET", "/list?usercode=evil").header("Origin", "http://evil.example").send();
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.text()).isEqualTo("Invalid CORS request");
        }
        assertThat(host.counted()).isEqualTo(counted);
    }

    @Test
    void headCountsAsItsGet() {
        long counted = host.counted();
        assertThat(host.request("HEAD", "/list?usercode=head").send().status()).isEqualTo(200);
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.get("/list?usercode=head").isRejection()).isTrue();
        Http head = host.request("HEAD", "/list?usercode=head").send();
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.text()).isEmpty();
        assertThat(head.responseHeader("Content-Type")).isEqualTo("application/json;charset=UTF-8");
    }

    private static Http cross(String method, String path, String user) {
        return host.request(method, path + "?usercode=" + user).header("Origin", "http://front.example");
    }

    @Configuration
    static class Cors implements WebMvcConfigurer {
        @Override
        public void addCorsMappings(CorsRegistry registry) {
            registry.addMapping("/list").allowedOrigins("http://front.example");
        }

        @Bean("/plain")
        HttpRequestHandler plain() {
            return (request, response) -> response.getWriter().print("plain");
        }
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "ok";
        }

        @RateLimit(interval = 60)
        @GetMapping("/no-cors")
        String noCors() {
            return "ok";
        }

        @CrossOrigin(origins = "http://front.example")
        @RateLimit(interval = 60)
        @GetMapping("/annotated")
        String annotated() {
            return "ok";
        }

        @CrossOrigin(origins = "http://front.example")
        @RateLimit(interval = 60)
        @RequestMapping("/any")
        String any() {
            return "ok";
        }
    }
}
