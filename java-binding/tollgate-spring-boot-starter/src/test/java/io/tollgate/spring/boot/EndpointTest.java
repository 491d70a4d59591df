package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Tollgate;
import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** {@code /actuator/tollgate} over HTTP. */
class EndpointTest {
    private static final String PATH = "/actuator/tollgate";
    private static final String EXPOSED = "management.endpoints.web.exposure.include=tollgate";
    private static final String ACTING = "tollgate.endpoint.acting=true";

    @Test
    void isOffUntilTheHostExposesIt() {
        try (Host host = Host.start(Orders.class)) {
            assertThat(host.get(PATH).status()).isEqualTo(404);
        }
    }

    @Test
    void reportsWhatIsGuardedAndWhatIsnt() {
        try (Host host = Host.start(Orders.class, Broken.class, EXPOSED)) {
            Map<String, Object> report = json(host.get(PATH));
            assertThat(report.get("complete")).isEqualTo(false);
            assertThat(report.get("store")).hasToString("{name=memory, up=true}");
            assertThat((List<?>) report.get("methods")).hasSize(2);
            assertThat(entry(report, "methods", "method", "Orders.list(")).hasToString("{bean=endpointTest.Orders, method="
                    + Orders.class.getName() + ".list(), rules=[wms.Orders.list], mounts=[INTERCEPTOR, ASPECT]}");
            Map<String, Object> open = entry(report, "unprotected", "method", "Broken.fixed(");
            assertThat(open.get("gap")).isEqualTo("FINAL_METHOD");
            assertThat(open.get("reason").toString()).contains("final");
            assertThat(open.get("remedy").toString()).contains("Take final off");
            assertThat((List<?>) report.get("conflicts")).hasSize(1);
            assertThat(entry(report, "conflicts", "rule", "wms.shared").get("text").toString()).contains("DIFFERENT SETTINGS");
            Map<String, Object> rule = rule(report, "wms.Orders.list");
            assertThat(rule.get("by")).isEqualTo("USER");
            assertThat(rule.get("defaults")).hasToString("{interval=60, limit=1}");
            assertThat(rule.get("inForce")).hasToString("{check=true, interval=60, limit=1}");

            host.bean(Tollgate.class).settings().set("wms.Orders.list.limit", "7");
            host.bean(Tollgate.class).settings().set("wms.Orders.list.check", "shadow");
            assertThat(rule(json(host.get(PATH)), "wms.Orders.list").get("inForce")).hasToString("{check=shadow, interval=60, limit=7}");
        }
    }

    @Test
    void saysSoWhereTheStoreCantAnswer() {
        try (Host host = Host.start(Orders.class, EXPOSED, "tollgate.redis.url=redis://127.0.0.1:1", "tollgate.connect-timeout=0")) {
            Map<String, Object> report = json(host.get(PATH));
            assertThat(report.get("store").toString()).contains("up=false");
            assertThat(report.get("settingsError").toString()).isNotEmpty();
            assertThat(rule(report, "wms.Orders.list")).doesNotContainKey("inForce");
        }
        try (Host host = Host.start(Orders.class, EXPOSED, "tollgate.redis.url=nothing://")) {
            assertThat(json(host.get(PATH)).get("store").toString()).contains("nothing://");
        }
    }

    @Test
    void doesntActUnlessToldTo() {
        try (Host host = Host.start(Orders.class, EXPOSED)) {
            assertThat(set(host, "wms.Orders.list", "limit", "5").status()).isEqualTo(405);
            assertThat(host.get(PATH + "/counter?rule=wms.Orders.list&user=u").status()).isEqualTo(404);
            assertThat(host.request("DELETE", PATH + "/counter?rule=wms.Orders.list&user=u").send().status()).isEqualTo(404);
            assertThat(host.bean(Tollgate.class).settings().get("wms.Orders.list.limit")).isNotEqualTo("5");
        }
    }

    @Test
    void setsWhatTheNextRequestObeysAndLogsIt() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, EXPOSED, ACTING)) {
            assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(host.get("/list?usercode=u").isRejection()).isTrue();
            Http done = set(host, "wms.Orders.list", "limit", "9");
            assertThat(done.status()).as(done.toString()).isEqualTo(200);
            assertThat(done.text()).isEqualTo("{\"field\":\"wms.Orders.list.limit\",\"old\":\"1\",\"value\":\"9\"}");
            assertThat(host.get("/list?usercode=u").text()).isEqualTo("list");
            assertThat(set(host, "wms.Orders.list", "check", "false").status()).isEqualTo(200);
            assertThat(set(host, "wms.Orders.list", "interval", "30").status()).isEqualTo(200);
            assertThat(set(host, "log", "check", "false").status()).isEqualTo(200);
            assertThat(host.bean(Tollgate.class).settings().get("log.check")).isEqualTo("false");
            assertThat(rule(json(host.get(PATH)), "wms.Orders.list").get("inForce"))
                    .hasToString("{check=false, interval=30, limit=9}");
            assertThat(output.lines("WARN")).anyMatch(line -> line.equals("tollgate: wms.Orders.list.limit set from 1 to 9 by nobody that is known "
                    + "through the actuator endpoint"));
        }
    }

    @Test
    void refusesWhatMeansNothing() {
        try (Host host = Host.start(Orders.class, EXPOSED, ACTING)) {
            assertRefused(404, "wms.Orders.nothing", set(host, "wms.Orders.nothing", "limit", "5"));
            assertRefused(404, "log", set(host, "log", "limit", "5"));
            assertRefused(400, "check, interval or limit", set(host, "wms.Orders.list", "limits", "5"));
            assertRefused(400, "many", set(host, "wms.Orders.list", "limit", "many"));
            assertRefused(400, "31536000", set(host, "wms.Orders.list", "interval", "0"));
            assertRefused(400, "shadow", set(host, "wms.Orders.list", "check", "maybe"));
            assertThat(host.request("POST", PATH).body("application/json", "{\"rule\":\"wms.Orders.list\"}").send().status()).isEqualTo(400);
        }
        try (Host host = Host.start(Orders.class, EXPOSED, ACTING, "tollgate.redis.url=redis://127.0.0.1:1", "tollgate.connect-timeout=0")) {
            assertRefused(503, "127.0.0.1:1", set(host, "wms.Orders.list", "limit", "5"));
        }
    }

    private static void assertRefused(int status, String text, Http answer) {
        assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
        assertThat(json(answer).get("error").toString()).contains(text);
    }

    @Test
    void namesMayHoldAnyCharacter() {
        try (Host host = Host.start(Odd.class, EXPOSED, ACTING)) {
            Http done = set(host, "wms.查询/\\u0022a\\u0022?b#c", "limit", "5");
            assertThat(done.status()).as(done.toString()).isEqualTo(200);
            assertThat(host.bean(Tollgate.class).settings().get("wms.查询/\"a\"?b#c.limit")).isEqualTo("5");
            Http encoded = set(host, "wms.a:b", "limit", "5");
            assertThat(encoded.status()).isEqualTo(400);
            assertThat(json(encoded).get("error").toString()).contains("encoded");
        }
    }

    @Test
    void looksAtAndClearsOneUsersCounter() {
        try (Output output = new Output(); Host host = Host.start(Odd.class, Orders.class, EXPOSED, ACTING)) {
            String user = "a/b c:%2F&张三";
            String counter = PATH + "/counter?rule=" + query("wms.a:b") + "&user=" + query(user);
            assertThat(json(host.get(counter)).get("count")).hasToString("0");
            assertThat(host.get("/colon?usercode=" + query(user)).text()).isEqualTo("colon");
            assertThat(host.get("/colon?usercode=" + query(user)).isRejection()).isTrue();
            Map<String, Object> found = json(host.get(counter));
            assertThat(found.get("user")).isEqualTo(user);
            assertThat(found.get("count")).hasToString("2");
            assertThat(((Number) found.get("endsInMillis")).longValue()).isBetween(1L, 3_600_000L);
            assertThat(json(host.get(counter)).get("count")).as("looking counts nothing").hasToString("2");

            assertThat(host.request("DELETE", counter).send().text()).isEqualTo("{\"cleared\":true}");
            assertThat(host.request("DELETE", counter).send().text()).isEqualTo("{\"cleared\":false}");
            assertThat(host.get("/colon?usercode=" + query(user)).text()).isEqualTo("colon");
            assertThat(output.lines("WARN")).anyMatch(line -> line.startsWith("tollgate: the counter of user " + user + " under wms.a:b was cleared"));

            assertRefused(404, "wms.nothing", host.get(PATH + "/counter?rule=wms.nothing&user=u"));
            assertRefused(404, "wms.nothing", host.request("DELETE", PATH + "/counter?rule=wms.nothing&user=u").send());
            assertThat(host.get(PATH + "/counter?rule=wms.Orders.list").status()).isEqualTo(400);
            assertThat(host.get(PATH + "/other?rule=wms.Orders.list&user=u").status()).isEqualTo(404);
            assertThat(host.request("DELETE", PATH + "/other?rule=wms.Orders.list&user=u").send().status()).isEqualTo(404);
        }
    }

    static String query(String text) {
        try {
            return URLEncoder.encode(text, "UTF-8");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Http set(Host host, String rule, String setting, String value) {
        return host.request("POST", PATH).body("application/json",
                "{\"rule\":\"" + rule + "\",\"setting\":\"" + setting + "\",\"value\":\"" + value + "\"}").send();
    }

    private static Map<String, Object> json(Http exchange) {
        return JsonParserFactory.getJsonParser().parseMap(exchange.text());
    }

    private static Map<String, Object> rule(Map<String, Object> report, String name) {
        return entry(report, "rules", "name", name);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> entry(Map<String, Object> report, String list, String key, String part) {
        for (Map<String, Object> entry : (List<Map<String, Object>>) report.get(list)) {
            if (entry.get(key).toString().contains(part)) {
                return entry;
            }
        }
        throw new AssertionError(part + " isn't in " + report.get(list));
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        public String list() {
            return "list";
        }
    }

    @Service
    static class Broken {
        @RateLimit(rule = "shared", interval = 60, by = LimitBy.GLOBAL)
        public final void fixed() {}

        @RateLimit(rule = "shared", interval = 90, by = LimitBy.GLOBAL)
        public void open() {}
    }

    @RestController
    static class Odd {
        @RateLimit(rule = "查询/\"a\"?b#c")
        @GetMapping("/odd")
        public String odd() {
            return "odd";
        }

        @RateLimit(rule = "a:b", interval = 3_600)
        @GetMapping("/colon")
        public String colon() {
            return "colon";
        }
    }
}
