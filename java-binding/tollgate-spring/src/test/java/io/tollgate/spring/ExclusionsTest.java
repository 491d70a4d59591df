package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExclusionsTest {
    private static final Exclusions PATHS = new Exclusions(null,
            Arrays.asList("/internal/**", " /actuator/health ", "/report/*.csv", "/内部/**"));

    @Test
    void nothingIsExcludedUnlessTold() {
        Exclusions none = new Exclusions(" ", Collections.emptyList());
        assertThat(none.covers(new TestRequest().at("", "/internal/x").header("X-Internal-Call", "1"))).isFalse();
    }

    @Test
    void aHeaderMarksARequest() {
        Exclusions marked = new Exclusions(" X-Internal-Call ", Collections.emptyList());
        assertThat(marked.covers(new TestRequest().header("x-internal-call", ""))).isTrue();
        assertThat(marked.covers(new TestRequest().header("X-Internal", "1"))).isFalse();
    }

    @Test
    void onlyTheConfiguredValueCounts() {
        Exclusions secret = new Exclusions("X-Internal-Call = geheim=ü ", Collections.emptyList());
        assertThat(secret.covers(new TestRequest().header("X-Internal-Call", "geheim=ü"))).isTrue();
        assertThat(secret.covers(new TestRequest().header("X-Internal-Call", "other", "geheim=ü"))).isTrue();
        // As a server gives the bytes of UTF-8.
        String bytes = new String("geheim=ü".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        assertThat(secret.covers(new TestRequest().header("X-Internal-Call", bytes))).isTrue();
        for (String wrong : new String[] {"", "geheim", "geheim=", "geheim=üü", "GEHEIM=ü"}) {
            assertThat(secret.covers(new TestRequest().header("X-Internal-Call", wrong))).as(wrong).isFalse();
        }
        assertThat(secret.covers(new TestRequest())).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "'', /internal", "'', /internal/", "'', /internal/order/list", "/shop, /shop/internal/order", "'', /internal/%E5%BC%A0%20+a",
        "'', /actuator/health", "'', /report/daily.csv", "'', /%E5%86%85%E9%83%A8/x", "'', /internal/a.b/..c/.d", "'', /internal/a:b@c",
    })
    void aPlainPathIsExcluded(String contextPath, String uri) {
        assertThat(PATHS.covers(new TestRequest().at(contextPath, uri))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "/", "/order/list", "/internals", "/Internal/x", "/actuator/health/x", "/report/x/y.csv", "/order/internal/x", "//internal/x",
        "/internal/../order/list", "/internal/..", "/internal/..;/order/list", "/internal/.;/x", "/internal/;a=b/../order/list",
        "/internal;x/order", "/internal/x;jsessionid=1", "/internal//../order/list", "/internal//order", "/internal/./order", "/internal/.",
        "/internal/%2e%2e/order/list", "/internal/.%2E/order/list", "/internal/%2e/order", "/internal/..%2forder/list", "/internal%2Forder",
        "/internal/..%5corder", "/internal/..\\order", "/internal/%252e%252e/order", "/internal/%3b/order", "/internal/%3Bx",
        "/internal/%00", "/internal/a%0d%0ab", "/internal/%", "/internal/%zz", "/internal/%c0%ae%c0%ae/order", "/internal/%ff", "internal/x",
        "",
        "http://host/internal/x",
    })
    void anotherPathAndAnAmbiguousOneAreNot(String uri) {
        assertThat(PATHS.covers(new TestRequest().at("", uri))).as(uri).isFalse();
    }

    @Test
    void theContextPathIsNoPartOfThePath() {
        assertThat(PATHS.covers(new TestRequest().at("/internal", "/internal/order/list"))).isFalse();
        assertThat(PATHS.covers(new TestRequest().at("/internal", "/internal/internal/order"))).isTrue();
        // They contradict each other.
        assertThat(PATHS.covers(new TestRequest().at("/shop", "/internal/x"))).isFalse();
        assertThat(PATHS.covers(new TestRequest().at("/shop/..;/x", "/shop/..;/x/internal/x"))).isFalse();
        assertThat(PATHS.covers(new TestRequest().at("", null))).isFalse();
    }

    @Test
    void badValuesAreNamedAndSecretsAreNot() {
        assertThatThrownBy(() -> new Exclusions("X Internal=geheim", Collections.emptyList())).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("tollgate.exclude.header", "X Internal").hasMessageNotContaining("geheim");
        assertThatThrownBy(() -> new Exclusions("=geheim", Collections.emptyList())).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tollgate.exclude.header").hasMessageNotContaining("geheim");
        assertThatThrownBy(() -> new Exclusions("X-Internal-Call= ", Collections.emptyList())).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("tollgate.exclude.header", "names no value");
        assertThatThrownBy(() -> new Exclusions(null, Collections.singletonList("internal/**"))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("tollgate.exclude.paths", "internal/**", "slash");
    }
}
