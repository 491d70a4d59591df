package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.TenantResolver;
import java.io.IOException;
import java.security.Principal;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletRequestWrapper;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.filter.ForwardedHeaderFilter;

/** By what a request is counted, over HTTP: sources of users, addresses, tenants, and what is left out. */
class WhoIsCountedTest {
    private static final String TRUST_LOOPBACK = "tollgate.trusted-proxies=127.0.0.0/8,::1";

    @Test
    void whoLoggedInIsCountedWhereNothingElseNamesAnybody() {
        try (Host host = Host.start(Orders.class, Authenticating.class)) {
            assertCounts(host.request("GET", "/list").header("X-Login", "u1"), host.request("GET", "/list").header("X-Login", "u1"));
            assertThat(host.request("GET", "/list").header("X-Login", "u2").send().text()).isEqualTo("list");
            // The parameter comes first: it is u1 again, whoever logged in.
            assertThat(host.request("GET", "/list?usercode=u1").header("X-Login", "u3").send().isRejection()).isTrue();
            assertThat(host.request("GET", "/list").header("X-Login", "u3").send().text()).isEqualTo("list");
        }
    }

    @Test
    void theOrderIsTheHosts() {
        try (Host host = Host.start(Orders.class, Authenticating.class, "tollgate.identity.order=principal, HEADER,request,session",
                "tollgate.identity.header=X-User", "tollgate.identity.request-attribute=account")) {
            assertThat(host.request("GET", "/list?usercode=p").header("X-Login", "a").header("X-User", "b").send().text()).isEqualTo("list");
            assertThat(host.request("GET", "/list?usercode=q").header("X-Login", "a").header("X-User", "c").send().isRejection()).isTrue();
            assertCounts(host.request("GET", "/list?account=h").header("X-User", "b"), host.request("GET", "/list").header("X-User", "b"));
            assertCounts(host.request("GET", "/list?account=r"), host.request("GET", "/list?account=r"));
            String cookie = host.get("/login?name=s").responseHeader("Set-Cookie");
            assertCounts(host.request("GET", "/list").header("Cookie", cookie), host.request("GET", "/list").header("Cookie", cookie));
            // The parameter isn't asked.
            long counted = host.counted();
            assertThat(host.get("/list?usercode=p").text()).isEqualTo("list");
            assertThat(host.get("/list?usercode=p").text()).isEqualTo("list");
            assertThat(host.counted()).isEqualTo(counted);
        }
    }

    @Test
    void anAddressIsTheConnectionsUnlessProxiesAreTrusted() {
        try (Host host = Host.start(Orders.class)) {
            assertCounts(host.request("GET", "/by-ip").header("X-Forwarded-For", "203.0.113.1").header("Forwarded", "for=203.0.113.1"),
                    host.request("GET", "/by-ip").header("X-Forwarded-For", "203.0.113.2").header("Forwarded", "for=203.0.113.2"));
            assertThat(host.get("/by-ip?usercode=someone").isRejection()).isTrue();
        }
    }

    @Test
    void aForgedForwardedHeaderChangesNothingBehindAProxy() {
        try (Host host = Host.start(Orders.class, TRUST_LOOPBACK)) {
            assertCounts(forwarded(host, "203.0.113.9"), forwarded(host, "203.0.113.9"));
            for (String forged : new String[] {"6.6.6.6", "unknown", "127.0.0.1", "\"", ",,", "evil.example.com", "203.0.113.8, 6.6.6.6"}) {
                assertThat(forwarded(host, forged + ", 203.0.113.9").send().isRejection()).as(forged).isTrue();
                assertThat(forwarded(host, forged + ", 203.0.113.9:4711, 127.0.0.3").send().isRejection()).as(forged).isTrue();
            }
            assertThat(forwarded(host, "::ffff:203.0.113.9").send().isRejection()).isTrue();
            assertThat(forwarded(host, "203.0.113.10").send().text()).isEqualTo("by ip");
            assertThat(forwarded(host, "203.0.113.11").header("Forwarded", "for=203.0.113.9").send().text()).isEqualTo("by ip");
            // A host may take any address of its /64.
            assertThat(forwarded(host, "2001:db8::1").send().text()).isEqualTo("by ip");
            assertThat(forwarded(host, "[2001:0DB8:0:0:ffff::2]:80").send().isRejection()).isTrue();
            assertThat(forwarded(host, "2001:db8:0:1::1").send().text()).isEqualTo("by ip");
            // The proxy names nobody: it is the client, and that is the connection's address.
            assertThat(host.get("/by-ip").text()).isEqualTo("by ip");
            assertThat(forwarded(host, "6.6.6.6, unknown").send().isRejection()).isTrue();
        }
    }

    @Test
    void theStandardHeaderAndThePrefixAreChosenByProperty() {
        try (Host host = Host.start(Orders.class, TRUST_LOOPBACK, "tollgate.forwarded-header=Forwarded", "tollgate.ipv6-prefix=128")) {
            assertCounts(host.request("GET", "/by-ip").header("Forwarded", "for=6.6.6.6, for=\"[2001:db8::1]:80\";proto=http"),
                    host.request("GET", "/by-ip").header("Forwarded", "for=\", for=\"[2001:db8::1]:81\"").header("X-Forwarded-For", "7.7.7.7"));
            assertThat(host.request("GET", "/by-ip").header("Forwarded", "for=\"[2001:db8::2]\"").send().text()).isEqualTo("by ip");
        }
    }

    /** Spring's filter believes every client, and hides the headers from whoever comes after it. */
    @Test
    void springsForwardedHeaderFilterIsntBelieved() {
        try (Host host = Host.start(Orders.class, Forwarding.class)) {
            assertCounts(forwarded(host, "203.0.113.1").header("Forwarded", "for=203.0.113.1"),
                    forwarded(host, "203.0.113.2").header("Forwarded", "for=203.0.113.2"));
        }
        try (Host host = Host.start(Orders.class, Forwarding.class, TRUST_LOOPBACK, "tollgate.exclude.paths=/internal/**")) {
            assertCounts(forwarded(host, "6.6.6.6, 203.0.113.9"), forwarded(host, "7.7.7.7, 203.0.113.9"));
            assertThat(forwarded(host, "203.0.113.10").send().text()).isEqualTo("by ip");
            assertCounts(host.request("GET", "/list?usercode=u"), host.request("GET", "/list?usercode=u").header("X-Forwarded-Prefix", "/internal"));
        }
    }

    @Test
    void aTenantIsWhatIsNamed() {
        try (Host host = Host.start(Orders.class, "tollgate.tenant.header=X-Tenant")) {
            assertCounts(host.request("GET", "/by-tenant?usercode=a").header("X-Tenant", "t1"),
                    host.request("GET", "/by-tenant?usercode=b").header("X-Tenant", "t1"));
            assertThat(host.request("GET", "/by-tenant").header("X-Tenant", "t2").send().text()).isEqualTo("by tenant");
            long counted = host.counted();
            assertThat(host.get("/by-tenant?usercode=a").text()).isEqualTo("by tenant");
            assertThat(host.counted()).isEqualTo(counted);
        }
        try (Host host = Host.start(Orders.class, OwnTenants.class)) {
            assertCounts(host.request("GET", "/by-tenant"), host.request("GET", "/by-tenant"));
        }
    }

    @Test
    void markedCallsPassUncounted() {
        try (Host host = Host.start(Orders.class, "tollgate.exclude.header=X-Internal-Call=open sesame")) {
            for (int i = 0; i < 3; i++) {
                assertThat(host.request("GET", "/list?usercode=u").header("x-internal-call", "open sesame").send().text()).isEqualTo("list");
            }
            assertThat(host.bean(io.tollgate.Tollgate.class).stats().total()).isZero();
            assertCounts(host.request("GET", "/list?usercode=u").header("X-Internal-Call", "open"),
                    host.request("GET", "/list?usercode=u").header("X-Internal-Call", "1"));
        }
        try (Host host = Host.start(Orders.class, "tollgate.exclude.header=X-Internal-Call")) {
            for (int i = 0; i < 3; i++) {
                assertThat(host.request("GET", "/list?usercode=u").header("X-Internal-Call", "1").send().text()).isEqualTo("list");
            }
            assertCounts(host.request("GET", "/list?usercode=u"), host.request("GET", "/list?usercode=u"));
        }
    }

    @Test
    void pathsPassUncountedAndNoTrickLeadsThere() {
        for (String context : new String[] {"", "/shop", "/internal"}) {
            try (Host host = Host.start(Orders.class, "tollgate.exclude.paths=/internal/**", "server.servlet.context-path=" + context)) {
                for (int i = 0; i < 3; i++) {
                    assertThat(host.get(context + "/internal/list?usercode=u").text()).isEqualTo("internal list");
                }
                assertThat(host.bean(io.tollgate.Tollgate.class).stats().total()).isZero();
                assertCounts(host.request("GET", context + "/list?usercode=u"), host.request("GET", context + "/list?usercode=u"));
                for (String trick : new String[] {"/internal/../list", "/internal/..;/list", "/internal/..;a=b/list", "/internal/%2e%2e/list",
                    "//list", "/;/internal/../list", "/internal//../list", "/internal/%2e%2e;/list", "/internal/..%2flist", "/./list",
                    "/internal/x/../../list", "/list;/internal/", "/list/;/internal/x", "/internal%2f../list"}) {
                    Http response = host.get(context + trick + "?usercode=u");
                    assertThat(response.text()).as(context + trick).isNotEqualTo("list");
                }
            }
        }
    }

    private static Http forwarded(Host host, String value) {
        return host.request("GET", "/by-ip").header("X-Forwarded-For", value);
    }

    /** The first passes, and the second is one too many for the same counter. */
    private static void assertCounts(Http first, Http second) {
        assertThat(first.send().isRejection()).isFalse();
        assertThat(first.status()).isEqualTo(200);
        assertThat(second.send().isRejection()).as(second.toString()).isTrue();
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        @RateLimit(interval = 60)
        @GetMapping("/internal/list")
        String internalList() {
            return "internal list";
        }

        @RateLimit(interval = 60, by = LimitBy.IP)
        @GetMapping("/by-ip")
        String byIp() {
            return "by ip";
        }

        @RateLimit(interval = 60, by = LimitBy.TENANT)
        @GetMapping("/by-tenant")
        String byTenant() {
            return "by tenant";
        }

        @GetMapping("/login")
        String login(WebRequest request) {
            request.setAttribute("usercode", request.getParameter("name"), RequestAttributes.SCOPE_SESSION);
            return "in";
        }
    }

    /** What a host's own login makes of a request: a principal, and an attribute. */
    @Configuration
    static class Authenticating {
        @Bean
        Filter login() {
            return new Filter() {
                @Override
                public void init(FilterConfig config) {}

                @Override
                public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
                    String login = ((HttpServletRequest) request).getHeader("X-Login");
                    request.setAttribute("account", request.getParameter("account"));
                    chain.doFilter(login == null ? request : new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public Principal getUserPrincipal() {
                            return () -> login;
                        }
                    }, response);
                }

                @Override
                public void destroy() {}
            };
        }
    }

    @Configuration
    static class Forwarding {
        @Bean
        ForwardedHeaderFilter forwardedHeaders() {
            return new ForwardedHeaderFilter();
        }
    }

    @Configuration
    static class OwnTenants {
        @Bean
        TenantResolver tenants() {
            return request -> "the only one";
        }
    }
}
