package io.tollgate.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.RequestEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.client.RestTemplate;
import org.springframework.web.util.UriComponentsBuilder;

/** The whole application over HTTP, on the memory store. */
class DemoTest {

    private static ConfigurableApplicationContext application;
    private static String base;
    private static final RestTemplate HTTP = new RestTemplate();

    @BeforeAll
    static void start() {
        application = SpringApplication.run(DemoApplication.class, "--server.port=0", "--tollgate.redis.url=memory:");
        base = "http://localhost:" + ((WebServerApplicationContext) application).getWebServer().getPort();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    /** A request without a user is never limited: what the tests of the data ask with. */
    private static JsonNode list(String... parameters) {
        return HTTP.getForObject(uri(parameters), JsonNode.class);
    }

    private static URI uri(String... parameters) {
        UriComponentsBuilder uri = UriComponentsBuilder.fromHttpUrl(base + "/inventory/opLogList");
        for (int i = 0; i < parameters.length; i += 2) {
            uri.queryParam(parameters[i], "{" + parameters[i] + "}");
        }
        List<String> values = new ArrayList<>();
        for (int i = 1; i < parameters.length; i += 2) {
            values.add(parameters[i]);
        }
        return uri.build().expand(values.toArray()).encode().toUri();
    }

    private static ResponseEntity<JsonNode> post(String user, String language) {
        MultiValueMap<String, String> form = new LinkedMultiValueMap<>();
        form.add("usercode", user);
        form.add("rows", "1");
        form.add("warehouse", "WH-FG");
        form.add("material", "MAT-10021");
        return HTTP.exchange(RequestEntity.post(uri())
                .header(HttpHeaders.ACCEPT_LANGUAGE, language)
                .contentType(MediaType.APPLICATION_FORM_URLENCODED)
                .body(form), JsonNode.class);
    }

    private static String someone() {
        return UUID.randomUUID().toString();
    }

    @Test
    void totalsAreThoseOfTheRows() {
        JsonNode grid = list("warehouse", "WH-FG", "material", "MAT-10021", "rows", "200");

        int in = 0;
        int out = 0;
        for (JsonNode row : grid.get("rows")) {
            assertThat(row.get("warehouse").asText()).isEqualTo("WH-FG");
            assertThat(row.get("material").asText()).isEqualTo("MAT-10021");
            int qty = row.get("qty").asInt();
            in += Math.max(qty, 0);
            out += Math.max(-qty, 0);
        }
        assertThat(grid.get("total").asInt()).isBetween(10, 200).isEqualTo(grid.get("rows").size());
        assertThat(grid.get("footer")).hasSize(1);
        JsonNode totals = grid.get("footer").get(0);
        assertThat(totals.get("in").asInt()).isEqualTo(in);
        assertThat(totals.get("out").asInt()).isEqualTo(out);
        assertThat(totals.get("balance").asInt()).isEqualTo(in - out).isEqualTo(grid.get("rows").get(0).get("balance").asInt());
    }

    @Test
    void pagesFollowEachOther() {
        JsonNode both = list("warehouse", "WH-FG", "material", "Bearing", "rows", "10");
        JsonNode first = list("warehouse", "WH-FG", "material", "Bearing", "rows", "5");
        JsonNode second = list("warehouse", "WH-FG", "material", "Bearing", "rows", "5", "page", "2");

        assertThat(first.get("rows")).hasSize(5);
        assertThat(second.get("rows").get(4)).isEqualTo(both.get("rows").get(9));
        assertThat(first.get("total")).isEqualTo(both.get("total"));
    }

    static List<String> sortable() {
        return OpLogQuery.SORTABLE;
    }

    @ParameterizedTest
    @MethodSource("sortable")
    void sortsByEveryColumnOfTheWhitelist(String column) {
        List<JsonNode> values = new ArrayList<>();
        list("warehouse", "WH-FG", "material", "MAT-10021", "rows", "200", "sort", column, "order", "asc")
                .get("rows").forEach(row -> values.add(row.get(column)));

        Comparator<JsonNode> ascending = (a, b) -> a.isNumber() ? Integer.compare(a.asInt(), b.asInt()) : a.asText().compareTo(b.asText());
        assertThat(values).hasSizeGreaterThan(9).isSortedAccordingTo(ascending);
    }

    @ParameterizedTest
    @CsvSource({
        "sort, op_time; DROP TABLE inventory_op_log",
        "sort, materialName",
        "sort, ''",
        "order, sideways",
        "rows, 0",
        "rows, 201",
        "page, 0",
    })
    void namesWhatItRefuses(String parameter, String value) {
        JsonNode answer = list(parameter, value);

        assertThat(answer.get("error").asText()).startsWith(parameter + ": '" + value + "' must be ");
        assertThat(answer.get("successful").asInt()).isZero();
        assertThat(answer).hasSize(2);
    }

    @Test
    void namesWhatIsNoNumber() {
        assertThat(list("rows", "many").get("error").asText()).isEqualTo("rows: 'many' is not a whole number");
    }

    @Test
    void filtersAreTextAndNotSql() {
        assertThat(list("material", "' OR TRUE --").get("total").asInt()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "zh-CN, 操作过于频繁，请稍后再试",
        "en, 'You are doing this too often. Please try again later.'",
        "ja, 操作の間隔が短すぎます。しばらくしてからもう一度お試しください。",
        "ko, 요청이 너무 잦습니다. 잠시 후 다시 시도해 주세요.",
    })
    void limitsOneUserInTheirLanguage(String language, String message) {
        String user = someone();
        assertThat(post(user, language).getBody().get("rows")).hasSize(1);

        // A machine that stalls for a whole window lets the second through: then the next one is the second of its window.
        ResponseEntity<JsonNode> rejection = post(user, language);
        for (int i = 0; i < 10 && !rejection.getBody().has("error"); i++) {
            rejection = post(user, language);
        }
        assertThat(rejection.getStatusCodeValue()).isEqualTo(200);
        assertThat(rejection.getHeaders().getContentType()).isEqualTo(MediaType.APPLICATION_JSON_UTF8);
        assertThat(rejection.getBody().get("error").asText()).isEqualTo(message);
        assertThat(rejection.getBody().get("successful").asInt()).isZero();

        assertThat(post(someone(), language).getBody().has("rows")).as("another user").isTrue();
        while (post(user, language).getBody().has("error")) {
            Thread.yield();
        }
    }

    @Test
    void getAndPostAreOneRule() {
        String user = someone();
        boolean limited = false;
        for (int i = 0; i < 10 && !limited; i++) {
            post(user, "en");
            limited = list("usercode", user, "warehouse", "WH-FG", "material", "MAT-10021").has("error");
        }
        assertThat(limited).isTrue();
    }

    @Test
    void summaryIsUnguarded() {
        for (int i = 0; i < 5; i++) {
            JsonNode summary = HTTP.getForObject(base + "/inventory/summary?usercode=u1", JsonNode.class);
            assertThat(summary).hasSize(4);
            assertThat(summary.get(0).get("operations").asInt()).isPositive();
        }
    }

    @ParameterizedTest
    @CsvSource({"zh-CN, zh-CN, 库存操作流水", "en-GB, en, Inventory operation log", "ja, ja, 在庫操作履歴", "ko, ko, 재고 작업 이력", "fr, en, Inventory operation log"})
    void pageSpeaksTheLanguageOfTheRequest(String accepted, String language, String title) {
        ResponseEntity<String> page = HTTP.exchange(
                RequestEntity.method(HttpMethod.GET, URI.create(base + "/")).header(HttpHeaders.ACCEPT_LANGUAGE, accepted).build(), String.class);

        assertThat(page.getBody()).contains("<html lang=\"" + language + "\">", "<title>" + title, "firstPage: {\"total\":");
    }

    @Test
    void languageLinkIsRemembered() {
        ResponseEntity<String> page = HTTP.exchange(
                RequestEntity.method(HttpMethod.GET, URI.create(base + "/?lang=ja")).header(HttpHeaders.ACCEPT_LANGUAGE, "en").build(), String.class);

        assertThat(page.getBody()).contains("在庫操作履歴");
        assertThat(page.getHeaders().get(HttpHeaders.SET_COOKIE)).isNotNull()
                .anySatisfy(cookie -> assertThat(cookie).startsWith("lang=ja"));
    }
}
