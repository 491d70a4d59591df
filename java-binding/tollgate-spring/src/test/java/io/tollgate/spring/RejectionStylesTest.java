package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RejectionStylesTest {
    private static final String NASTY = "\"'<b>&\\\n\u2028\ud800</title><script>";

    @Test
    void theBodiesSpeakTheirFormat() {
        assertThat(RuoYiRejectionHandler.body("慢")).isEqualTo("{\"code\":500,\"msg\":\"慢\"}");
        assertThat(RuoYiRejectionHandler.body(NASTY))
                .isEqualTo("{\"code\":500,\"msg\":\"\\\"'<b>&\\\\\\u000a\\u2028\\ud800</title><script>\"}");
        assertThat(HttpRejectionHandler.body(false, "慢")).isEqualTo("{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"慢\"}");
        assertThat(HttpRejectionHandler.body(true, "\"")).isEqualTo("{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"\\\"\"}");
    }

    @Test
    void aPageShowsItsTextAsItIs() {
        String page = HtmlRejectionHandler.page(false, NASTY, Locale.SIMPLIFIED_CHINESE);
        assertThat(page).startsWith("<!DOCTYPE html>\n<html lang=\"zh-CN\"").contains("<p>429</p>")
                .contains("<h1>&quot;&#39;&lt;b&gt;&amp;\\\n\u2028\ud800&lt;/title&gt;&lt;script&gt;</h1>").doesNotContain("<b>", "<script");
        assertThat(HtmlRejectionHandler.page(true, "x", Locale.ROOT)).contains("lang=\"und\"").contains("<p>503</p>");
        // Nothing from elsewhere.
        assertThat(page).doesNotContain("http", "url(", "src=", "href=", "@import");
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "999, 1", "1000, 1", "1001, 2", "59999, 60", "9223372036854775807, 999999999999999"})
    void theWaitIsRoundedUpToSeconds(long millis, long seconds) {
        assertThat(RejectionFields.secondsUntil(millis)).isEqualTo(seconds);
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '~', value = {
        "wms.Order.list, \"wms.Order.list\"", "a\"b\\c, \"a\\\"b\\\\c\"", "~ a ~, \" a \"", "张, \"%E5%BC%A0\"", "a%3Ab, \"a%3Ab\"",
    })
    void aPolicyIsNamedByAStructuredString(String name, String string) {
        assertThat(RejectionFields.structuredString(name)).isEqualTo(string);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        // Firefox, Chrome, and an older Internet Explorer of form posts.
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
        "text/html, application/xhtml+xml, */*;q=0.9", "text/html", "TEXT/HTML", "text/*", "text/html;level=1", "text/html;charset=utf-8",
        "text/html;q=0.5, application/json;q=0.4", "text/html;q=0.001", "junk, ;;, text/html",
        "*/*;q=0.1,text/html;q=1.000",
        "application/json;q=0.1, application/problem+json;q=0, */*", "text/html, application/json;q=nonsense",
    })
    void whoRatesHtmlAboveJsonWantsAPage(String accept) {
        assertThat(PageRejectionHandler.wantsPage(new TestRequest().header("Accept", accept))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "*/*", "application/json, text/javascript, */*; q=0.01", "application/json, text/plain, */*", "application/json",
        "application/problem+json, text/html;q=0.9", "text/html, application/json", "text/html;q=0.4, application/json;q=0.5", "text/html;q=0",
        "text/html;q=0, */*", "text/plain", "image/png,*/*;q=0.5", "application/*+json, text/html", "text/html;q=2", "text/html;q=NaN", "text/html;q=1e0",
        "text/html;q=0.1234", "text", "html/text", "application/xhtml+xml",
    })
    void nobodyElseDoes(String accept) {
        assertThat(PageRejectionHandler.wantsPage(new TestRequest().header("Accept", accept))).isFalse();
    }

    @Test
    void linesOfAcceptAreOneListAndScriptsWantNoPage() {
        assertThat(PageRejectionHandler.wantsPage(new TestRequest().header("Accept", "application/json;q=0.5", "text/html"))).isTrue();
        assertThat(PageRejectionHandler.wantsPage(new TestRequest())).isFalse();
        TestRequest script = new TestRequest().header("Accept", "text/html, */*; q=0.01").header("X-Requested-With", "xmlhttprequest");
        assertThat(PageRejectionHandler.wantsPage(script)).isFalse();
        assertThat(PageRejectionHandler.wantsPage(
                new TestRequest().header("Accept", "text/html").header("X-Requested-With", "com.example.app"))).isTrue();
    }
}
