package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedRequest;
import io.tollgate.spring.IdentityChain;
import io.tollgate.spring.IdentityResolver;
import io.tollgate.spring.MessageResolver;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RejectionHandler;
import java.util.Collections;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What a host may replace, and what becomes of it if that fails. */
class ExtensionsTest {
    @Test
    void aRejectionHandlerReplacesTheAnswer() {
        try (Host host = Host.start(Orders.class, TooMany.class)) {
            host.get("/list?usercode=u");
            Http rejected = host.get("/list?usercode=u");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(Integer.parseInt(rejected.responseHeader("Retry-After"))).isBetween(1, 60);
            assertThat(rejected.responseHeader("Content-Type")).isEqualTo("text/plain;charset=UTF-8");
            assertThat(rejected.text()).isEqualTo("慢 wms.Orders.list 2/1");
        }
    }

    @Test
    void aRejectionHandlerMayUseTheServletResponse() {
        try (Host host = Host.start(Orders.class, SendsError.class)) {
            host.get("/list?usercode=u");
            assertThat(host.get("/list?usercode=u").status()).isEqualTo(429);
            assertThat(host.get("/list?usercode=u").status()).isEqualTo(429);
        }
    }

    @Test
    void aRejectionHandlerThatFailsIsReplacedAndStillRejects() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, Failing.class)) {
            host.get("/list?usercode=u");
            assertThat(host.get("/list?usercode=u").isRejection()).isTrue();
            assertThat(output.lines("ERROR")).singleElement().asString().contains("wms.Orders.list");
            assertThat(output.all()).contains("no template");
        }
    }

    @Test
    void resolversOfTheHostComeInTheirOrder() {
        try (Host host = Host.start(Orders.class, Resolvers.class)) {
            Http first = host.request("GET", "/list?usercode=p").header("X-First", "first").header("X-Last", "last").send();
            assertThat(first.text()).isEqualTo("list");
            assertThat(host.request("GET", "/list").header("X-First", "first").send().isRejection()).isTrue();
            // First says nothing: the parameter's turn, then the last one's.
            assertThat(host.request("GET", "/list?usercode=p").header("X-First", " ").header("X-Last", "last").send().text())
                    .isEqualTo("list");
            assertThat(host.request("GET", "/list?usercode=p").send().isRejection()).isTrue();
            assertThat(host.request("GET", "/list").header("X-Last", "last").send().text()).isEqualTo("list");
            assertThat(host.request("GET", "/list").header("X-Last", "last").send().isRejection()).isTrue();
        }
    }

    @Test
    void aChainOfTheHostReplacesTheWholeOrder() {
        try (Host host = Host.start(Orders.class, OwnChain.class)) {
            assertThat(host.get("/list?usercode=a").text()).isEqualTo("list");
            assertThat(host.get("/list?usercode=b").isRejection()).isTrue();
        }
    }

    @Test
    void theNamesAreConfigurable() {
        try (Host host = Host.start(Orders.class, "tollgate.identity.parameter=uid", "tollgate.identity.session-attribute=login")) {
            assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(host.counted()).isZero();
            assertThat(host.get("/list?uid=u").text()).isEqualTo("list");
            assertThat(host.get("/list?uid=u").isRejection()).isTrue();
            String cookie = host.get("/login?name=s").responseHeader("Set-Cookie");
            assertThat(host.request("GET", "/list").header("Cookie", cookie).send().text()).isEqualTo("list");
            assertThat(host.request("GET", "/list").header("Cookie", cookie).send().isRejection()).isTrue();
        }
    }

    @Test
    void anEmptyNameSwitchesAResolverOff() {
        try (Host host = Host.start(Orders.class, "tollgate.identity.parameter=", "tollgate.identity.session-attribute=login")) {
            host.get("/list?usercode=u");
            assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(host.counted()).isZero();
            assertThat(host.unidentified()).isEqualTo(2);
        }
    }

    @Test
    void aResolverThatFailsLetsTheRequestPassLoudly() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, FailingResolver.class)) {
            for (int i = 0; i < 3; i++) {
                assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
            }
            assertThat(output.lines("ERROR")).singleElement().asString().contains("NOT LIMITED", "wms.Orders.list", "no tokens");
        }
    }

    @Test
    void beansThatContradictEachOtherLetRequestsPassLoudly() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, TooMany.class, SendsError.class)) {
            for (int i = 0; i < 3; i++) {
                assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
            }
            assertThat(output.lines("ERROR").get(0)).contains("NOT LIMITING, 1 guarded method").contains("tooMany").contains("sendsError");
        }
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        @GetMapping("/login")
        String login(HttpServletRequest request) {
            request.getSession().setAttribute("login", request.getParameter("name"));
            return "in";
        }
    }

    @Configuration
    static class TooMany {
        @Bean
        RejectionHandler tooMany() {
            return (rejection, response) -> {
                response.status(429);
                response.header("Retry-After", String.valueOf((rejection.decision().resetAfterMillis() + 999) / 1000));
                response.body("text/plain;charset=UTF-8", rejection.text() + ' ' + rejection.rule().module() + '.'
                        + rejection.rule().rule() + ' ' + rejection.decision().count() + '/' + rejection.decision().limit());
            };
        }

        @Bean
        MessageResolver slow() {
            return (key, rule, locale) -> "慢";
        }
    }

    @Configuration
    static class SendsError {
        @Bean
        RejectionHandler sendsError() {
            return (rejection, response) -> ((HttpServletResponse) response.nativeResponse()).sendError(429);
        }
    }

    @Configuration
    static class Failing {
        @Bean
        RejectionHandler failing() {
            return (rejection, response) -> {
                throw new IllegalStateException("no template");
            };
        }
    }

    static String header(GuardedRequest request, String name) {
        return ((HttpServletRequest) request.nativeRequest()).getHeader(name);
    }

    @Configuration
    static class Resolvers {
        @Bean
        IdentityResolver last() {
            return (request, method) -> header(request, "X-Last");
        }

        @Bean
        @Order(IdentityResolver.REQUEST_ORDER - 1)
        IdentityResolver first() {
            return (request, method) -> header(request, "X-First");
        }
    }

    @Configuration
    static class OwnChain {
        @Bean
        IdentityChain chain() {
            return new IdentityChain(Collections.<IdentityResolver>singletonList((request, method) -> "everybody"));
        }
    }

    @Configuration
    static class FailingResolver {
        @Bean
        @Order(1)
        IdentityResolver failing() {
            return new IdentityResolver() {
                @Override
                public String resolve(GuardedRequest request, GuardedMethod method) {
                    throw new IllegalStateException("no tokens");
                }
            };
        }
    }
}
