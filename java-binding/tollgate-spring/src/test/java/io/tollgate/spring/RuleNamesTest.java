package io.tollgate.spring;

import static java.util.Arrays.asList;
import static java.util.Collections.emptyList;
import static java.util.Collections.singletonList;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RuleNamesTest {
    @Test
    void thePrefixIsCut() {
        assertThat(RuleNames.ofApplication("app-wms", singletonList("app-")).module()).isEqualTo("wms");
        assertThat(RuleNames.ofApplication(" app-wms ", singletonList("app-")).module()).isEqualTo("wms");
        assertThat(RuleNames.ofApplication("wms", singletonList("app-")).module()).isEqualTo("wms");
        assertThat(RuleNames.ofApplication("my-app-wms", singletonList("app-")).module()).isEqualTo("my-app-wms");
        assertThat(RuleNames.ofApplication("app-app-wms", singletonList("app-")).module()).isEqualTo("app-wms");
    }

    @Test
    void theLongestPrefixIsCut() {
        assertThat(RuleNames.ofApplication("svc-biz-wms", asList("svc-", "svc-biz-", "")).module()).isEqualTo("wms");
        assertThat(RuleNames.ofApplication("svc-wms", asList("svc-", "svc-biz-")).module()).isEqualTo("wms");
    }

    @Test
    void nothingIsLeftWithoutAName() {
        assertThat(RuleNames.ofApplication("app-", singletonList("app-")).module()).isEqualTo("app-");
        assertThat(RuleNames.ofApplication(null, emptyList()).module()).isEqualTo("application");
        assertThat(RuleNames.ofApplication(" ", emptyList()).module()).isEqualTo("application");
        assertThat(RuleNames.ofModule("app-wms").module()).isEqualTo("app-wms");
    }
}
