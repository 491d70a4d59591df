package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** An ordinary host: who is counted, what a rejection looks like. */
class GuardedControllerTest {
    private static Host host;

    @BeforeAll
    static void start() {
        host = Host.start(Orders.class);
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
    }

    @Test
    void theRulesOwnNumbersCount() {
        for (int i = 0; i < 3; i++) {
            assertThat(host.get("/thrice?usercode=numbers").text()).isEqualTo("thrice");
        }
        assertThat(host.get("/thrice?usercode=numbers").isRejection()).isTrue();
        assertThat(host.get("/never?usercode=numbers").isRejection()).isTrue();
    }

    @Test
    void theRuleIsNamedByApplicationAndMethod() {
        host.get("/list?usercode=names");
        assertThat(host.bean(io.tollgate.Tollgate.class).settings().all())
                .containsEntry("wms.Orders.list.check", "true")
                .containsEntry("wms.Orders.list.interval", "60")
                .containsEntry("wms.Orders.list.limit", "1");
    }

    @Test
    void anOperatorsWordGovernsTheNextRequest() {
        host.get("/retuned?usercode=operator");
        assertThat(host.get("/retuned?usercode=operator").isRejection()).isTrue();
        host.bean(io.tollgate.Tollgate.class).settings().set("wms.Orders.retuned.check", "false");
        assertThat(host.get("/retuned?usercode=operator").text()).isEqualTo("retuned");
    }

    @Test
    void aFormParameterNamesTheUser() {
        String form = "application/x-www-form-urlencoded";
        assertThat(host.request("POST", "/form").body(form, "a=1&usercode=%E5%BC%A0%E4%B8%89").send().text()).isEqualTo("form 1");
        assertThat(host.request("POST", "/form").body(form, "a=1&usercode=%E5%BC%A0%E4%B8%89").send().isRejection()).isTrue();
        assertThat(host.request("POST", "/form?usercode=%E5%BC%A0%E4%B8%89").send().isRejection()).isTrue();
    }

    @Test
    void theSessionNamesTheUserWhereTheParameterDoesNot() {
        String cookie = login("session-user");
        assertThat(host.request("GET", "/list").header("Cookie", cookie).send().text()).isEqualTo("list");
        assertThat(host.request("GET", "/list").header("Cookie", cookie).send().isRejection()).isTrue();
        // The parameter comes first: another user.
        assertThat(host.request("GET", "/list?usercode=from-parameter").header("Cookie", cookie).send().text()).isEqualTo("list");
        // The same user by another way.
        assertThat(host.get("/list?usercode=session-user").isRejection()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "%20", "null", "undefined", "%20null%20", "%E3%80%80"})
    void anAbsentSpellingLeavesTheWordToTheSession(String absent) {
        String user = "absent-" + absent.replace("%", "_");
        String cookie = login(user);
        assertThat(host.request("GET", "/list?usercode=" + absent).header("Cookie", cookie).send().text()).isEqualTo("list");
        assertThat(host.get("/list?usercode=" + user).isRejection()).isTrue();
    }

    @Test
    void aSessionAttributeOfAnotherTypeIsTakenAsText() {
        String cookie = host.get("/login-number").responseHeader("Set-Cookie");
        assertThat(host.request("GET", "/list").header("Cookie", cookie).send().text()).isEqualTo("list");
        assertThat(host.get("/list?usercode=4711").isRejection()).isTrue();
    }

    @Test
    void whoIsNobodyPassesUncountedAndGetsNoSession() {
        long counted = host.counted();
        for (int i = 0; i < 3; i++) {
            Http passed = host.get("/list");
            assertThat(passed.text()).isEqualTo("list");
            assertThat(passed.responseHeader("Set-Cookie")).isNull();
        }
        assertThat(host.get("/list?usercode=null").text()).isEqualTo("list");
        assertThat(host.get("/list?usercode=undefined").text()).isEqualTo("list");
        assertThat(host.counted()).isEqualTo(counted);
    }

    @Test
    void unguardedMethodsAreNotCounted() {
        long before = host.bean(io.tollgate.Tollgate.class).stats().total();
        for (int i = 0; i < 3; i++) {
            assertThat(host.get("/free?usercode=free").text()).isEqualTo("free");
        }
        assertThat(host.bean(io.tollgate.Tollgate.class).stats().total()).isEqualTo(before);
    }

    @Test
    void aLiteralTextIsTheSameInAllLanguages() {
        host.get("/literal?usercode=literal");
        assertThat(host.request("GET", "/literal?usercode=literal").header("Accept-Language", "ja").send().text())
                .isEqualTo("{\"error\":\"\\\"Slow\\\" down, 请稍候\",\"successful\":0}");
    }

    @Test
    void strangeUsersAreUsers() {
        for (String user : new String[] {"a%3Ab", "%00", "%F0%9F%98%80", "%25", "%7Bx%7D", new String(new char[6000]).replace('\0', 'x')}) {
            assertThat(host.get("/list?usercode=" + user).text()).isEqualTo("list");
            assertThat(host.get("/list?usercode=" + user).isRejection()).isTrue();
        }
    }

    @Test
    void aBadRuleLetsItsRequestsPassAndIsAnErrorAtStart() {
        try (Output output = new Output(); Host bad = Host.start(BadRule.class)) {
            assertThat(output.lines("ERROR")).singleElement().asString()
                    .contains("wms.BadRule.list").contains("NOT LIMITED").contains("interval").contains("0").contains("31536000");
            for (int i = 0; i < 3; i++) {
                assertThat(bad.get("/bad?usercode=u").text()).isEqualTo("bad");
            }
            assertThat(bad.get("/good?usercode=u").text()).isEqualTo("good");
            assertThat(bad.get("/good?usercode=u").isRejection()).isTrue();
        }
    }

    private static String login(String user) {
        String cookie = host.get("/login?name=" + user).responseHeader("Set-Cookie");
        assertThat(cookie).isNotNull();
        return cookie.substring(0, cookie.indexOf(';'));
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        @RateLimit(interval = 60, limit = 3)
        @GetMapping("/thrice")
        String thrice() {
            return "thrice";
        }

        @RateLimit(limit = 0)
        @GetMapping("/never")
        String never() {
            return "never";
        }

        @RateLimit(interval = 60)
        @GetMapping("/retuned")
        String retuned() {
            return "retuned";
        }

        @RateLimit(interval = 60, message = "\"Slow\" down, 请稍候")
        @GetMapping("/literal")
        String literal() {
            return "literal";
        }

        @RateLimit(interval = 60)
        @PostMapping("/form")
        String form(String a) {
            return "form " + a;
        }

        @RequestMapping("/free")
        String free() {
            return "free";
        }

        @GetMapping("/login")
        String login(HttpServletRequest request) {
            request.getSession().setAttribute("usercode", request.getParameter("name"));
            return "in";
        }

        @GetMapping("/login-number")
        String loginNumber(HttpSession session) {
            session.setAttribute("usercode", 4711L);
            return "in";
        }
    }

    @RestController
    static class BadRule {
        @RateLimit(interval = 0)
        @GetMapping("/bad")
        String list() {
            return "bad";
        }

        @RateLimit(interval = 60)
        @GetMapping("/good")
        String good() {
            return "good";
        }
    }
}
