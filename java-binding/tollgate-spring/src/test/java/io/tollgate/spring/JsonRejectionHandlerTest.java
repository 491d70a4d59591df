package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonRejectionHandlerTest {
    @Test
    void ordinaryTextStandsAsItIs() {
        assertThat(JsonRejectionHandler.body("操作过于频繁 <b>é</b> 😀/'"))
                .isEqualTo("{\"error\":\"操作过于频繁 <b>é</b> 😀/'\",\"successful\":0}");
        assertThat(JsonRejectionHandler.body("")).isEqualTo("{\"error\":\"\",\"successful\":0}");
    }

    @Test
    void quotesControlsAndSeparatorsAreEscaped() {
        assertThat(JsonRejectionHandler.body("\"\\\n\r\t\0\u001f\u2028\u2029"))
                .isEqualTo("{\"error\":\"\\\"\\\\\\u000a\\u000d\\u0009\\u0000\\u001f\\u2028\\u2029\",\"successful\":0}");
    }

    @Test
    void loneSurrogatesAreEscapedAndPairsAreNot() {
        assertThat(JsonRejectionHandler.body("\ud800x\udc00\ud83d\ude00\ud800"))
                .isEqualTo("{\"error\":\"\\ud800x\\udc00\ud83d\ude00\\ud800\",\"successful\":0}");
    }
}
