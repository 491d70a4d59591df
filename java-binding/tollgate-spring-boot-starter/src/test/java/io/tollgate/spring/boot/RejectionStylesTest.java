package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tollgate.Tollgate;
import io.tollgate.spring.RateLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Each style of rejection, for who came too often and for who was denied by a fault. */
class RejectionStylesTest {
    private static final String OFTEN = "操作过于频繁，请稍后再试";
    private static final String BUSY = "系统繁忙，请稍后再试";
    private static final String BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    @Test
    void legacyIsTheDefaultForBoth() throws Exception {
        try (Host host = Host.start(Orders.class)) {
            assertThat(json(secondHit(host))).hasToString("{\"error\":\"" + OFTEN + "\",\"successful\":0}");
        }
        try (Host host = denying()) {
            Http denied = hit(host);
            assertThat(denied.status()).isEqualTo(200);
            assertThat(json(denied)).hasToString("{\"error\":\"" + BUSY + "\",\"successful\":0}");
        }
    }

    @Test
    void ruoYisFrontEndShowsTheText() throws Exception {
        try (Host host = Host.start(Orders.class, "tollgate.rejection.style=ruoyi")) {
            Http rejected = secondHit(host);
            assertThat(rejected.status()).isEqualTo(200);
            assertThat(rejected.responseHeader("Content-Type")).isEqualTo("application/json;charset=UTF-8");
            assertThat(rejected.responseHeader("Cache-Control")).isEqualTo("no-store");
            assertThat(rejected.responseHeader("Retry-After")).isNull();
            assertThat(json(rejected)).hasToString("{\"code\":500,\"msg\":\"" + OFTEN + "\"}");
        }
        try (Host host = denying("tollgate.rejection.style=ruoyi")) {
            assertThat(json(hit(host))).hasToString("{\"code\":500,\"msg\":\"" + BUSY + "\"}");
        }
    }

    @Test
    void httpSaysWhenToComeBack() throws Exception {
        try (Host host = Host.start(Orders.class, "tollgate.rejection.style=http")) {
            Http rejected = secondHit(host);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.responseHeader("Content-Type").replace(" ", "")).isEqualTo("application/problem+json;charset=UTF-8");
            assertThat(rejected.responseHeader("Cache-Control")).isEqualTo("no-store");
            int wait = Integer.parseInt(rejected.responseHeader("Retry-After"));
            assertThat(wait).isBetween(1, 60);
            assertThat(rejected.responseHeader("RateLimit-Policy")).isEqualTo("\"wms.Orders.list\";q=1;w=60");
            assertThat(rejected.responseHeader("RateLimit")).isEqualTo("\"wms.Orders.list\";r=0;t=" + wait);
            assertThat(json(rejected)).hasToString("{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"" + OFTEN + "\"}");

            host.bean(Tollgate.class).settings().set("wms.Orders.list.interval", "3000");
            host.bean(Tollgate.class).settings().set("wms.Orders.list.limit", "0");
            assertThat(hit(host).responseHeader("RateLimit-Policy")).isEqualTo("\"wms.Orders.list\";q=0;w=3000");
        }
    }

    @Test
    void httpTellsAFaultFromAUserWhoComesTooOften() throws Exception {
        try (Host host = denying("tollgate.rejection.style=http")) {
            Http denied = hit(host);
            assertThat(denied.status()).isEqualTo(503);
            assertThat(denied.responseHeader("Retry-After")).isEqualTo("1");
            assertThat(denied.responseHeader("RateLimit")).isNull();
            assertThat(denied.responseHeader("RateLimit-Policy")).isNull();
            assertThat(json(denied)).hasToString("{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"" + BUSY + "\"}");
        }
    }

    @Test
    void aPageIsInTheLanguageOfItsReader() {
        try (Host host = Host.start(Orders.class, "tollgate.rejection.style=html")) {
            Http rejected = secondHit(host);
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.responseHeader("Content-Type").replace(" ", "")).isEqualTo("text/html;charset=UTF-8");
            assertThat(rejected.responseHeader("Cache-Control")).isEqualTo("no-store");
            assertThat(Integer.parseInt(rejected.responseHeader("Retry-After"))).isBetween(1, 60);
            assertThat(rejected.text()).startsWith("<!DOCTYPE html>").contains("<html lang=\"zh-CN\"", "<h1>" + OFTEN + "</h1>");
        }
        try (Host host = denying("tollgate.rejection.style=html")) {
            Http denied = hit(host);
            assertThat(denied.status()).isEqualTo(503);
            assertThat(denied.text()).contains("<h1>" + BUSY + "</h1>");
        }
    }

    @Test
    void whoPrefersAPageGetsOneAndTheOthersTheStyle() {
        try (Host host = Host.start(Orders.class, "tollgate.rejection.style=ruoyi", "tollgate.rejection.html-for-pages=true")) {
            hit(host);
            Http page = host.request("GET", "/list?usercode=u").header("Accept", BROWSER).send();
            assertThat(page.status()).isEqualTo(429);
            assertThat(page.text()).startsWith("<!DOCTYPE html>");
            assertThat(host.request("POST", "/form?usercode=u").header("Accept", BROWSER).send().text()).isEqualTo("form");
            assertThat(host.request("POST", "/form?usercode=u").header("Accept", BROWSER).send().text()).startsWith("<!DOCTYPE html>");
            for (String accept : new String[] {"*/*", "application/json, text/javascript, */*; q=0.01", "application/json, text/html;q=0.9"}) {
                Http other = host.request("GET", "/list?usercode=u").header("Accept", accept).send();
                assertThat(other.status()).as(accept).isEqualTo(200);
                assertThat(other.text()).as(accept).startsWith("{\"code\":500,");
            }
            assertThat(host.request("GET", "/list?usercode=u").header("Accept", BROWSER).header("X-Requested-With", "XMLHttpRequest").send()
                    .text()).startsWith("{\"code\":500,");
        }
        try (Host host = Host.start(Orders.class)) {
            hit(host);
            assertThat(host.request("GET", "/list?usercode=u").header("Accept", BROWSER).send().isRejection()).isTrue();
        }
    }

    @Test
    void theAspectsRejectionIsAnsweredInTheSameStyle() throws Exception {
        try (Host host = Host.start(Orders.class, "tollgate.rejection.style=http", "tollgate.rejection.html-for-pages=true")) {
            assertThat(host.get("/keyed?order=7").text()).isEqualTo("keyed 7");
            // Java's own client prefers text/html unless told otherwise.
            Http rejected = host.request("GET", "/keyed?order=7").header("Accept", "*/*").send();
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.responseHeader("RateLimit-Policy")).isEqualTo("\"wms.Orders.keyed\";q=1;w=60");
            assertThat(json(rejected).get("status").asInt()).isEqualTo(429);
            assertThat(host.request("GET", "/keyed?order=7").header("Accept", BROWSER).send().text()).startsWith("<!DOCTYPE html>");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"legacy", "ruoyi", "http", "html"})
    void aTextWithMarkupIsShownAsItIs(String style) throws Exception {
        String text = "\"<b>&'\\</b>\"";
        try (Host host = Host.start(Orders.class, "tollgate.rejection.style=" + style)) {
            host.get("/markup?usercode=u");
            Http rejected = host.get("/markup?usercode=u");
            if (style.equals("html")) {
                assertThat(rejected.text()).contains("<h1>&quot;&lt;b&gt;&amp;&#39;\\&lt;/b&gt;&quot;</h1>").doesNotContain("<b>");
            } else {
                assertThat(json(rejected).findValues(style.equals("legacy") ? "error" : style.equals("ruoyi") ? "msg" : "detail"))
                        .singleElement().extracting(JsonNode::asText).isEqualTo(text);
            }
        }
    }

    /** A host whose Redis isn't there, and that turns requests away then. */
    private static Host denying(Object... more) {
        Object[] parts = new Object[more.length + 4];
        parts[0] = Orders.class;
        parts[1] = "tollgate.redis.url=redis://127.0.0.1:" + RedisServer.freePort();
        parts[2] = "tollgate.on-fault=deny";
        parts[3] = "tollgate.connect-timeout=0";
        System.arraycopy(more, 0, parts, 4, more.length);
        return Host.start(parts);
    }

    private static Http hit(Host host) {
        return host.request("GET", "/list?usercode=u").header("Accept-Language", "zh-CN").send();
    }

    private static Http secondHit(Host host) {
        assertThat(hit(host).text()).isEqualTo("list");
        return hit(host);
    }

    private static JsonNode json(Http response) throws Exception {
        return new ObjectMapper().readTree(response.text());
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        @RateLimit(interval = 60)
        @PostMapping("/form")
        String form() {
            return "form";
        }

        @RateLimit(interval = 60, key = "#p0")
        @GetMapping("/keyed")
        public String keyed(String order) {
            return "keyed " + order;
        }

        @RateLimit(interval = 60, message = "\"<b>&'\\</b>\"")
        @GetMapping("/markup")
        String markup() {
            return "markup";
        }
    }
}
