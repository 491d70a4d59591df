package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TollgateTest {
    private final Tollgate tollgate = Tollgate.open("memory:");

    @AfterEach
    void close() {
        tollgate.close();
    }

    @Test
    void limitsAUserWithinAWindow() {
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(2).register();

        Decision first = tollgate.acquire(rule, "u1");
        assertThat(first.outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(first.isAllowed()).isTrue();
        assertThat(first.count()).isEqualTo(1);
        assertThat(first.interval()).isEqualTo(3600);
        assertThat(first.limit()).isEqualTo(2);
        assertThat(first.remaining()).isEqualTo(1);
        assertThat(first.resetAfterMillis()).isBetween(1L, 3_600_000L);
        assertThat(first.shouldRecord()).isFalse();
        assertThat(first.fault()).isNull();

        assertThat(tollgate.acquire(rule, "u1").remaining()).isZero();
        Decision third = tollgate.acquire(rule, "u1");
        assertThat(third.outcome()).isEqualTo(Outcome.LIMITED);
        assertThat(third.isAllowed()).isFalse();
        assertThat(third.count()).isEqualTo(3);
        assertThat(third.shouldRecord()).isTrue();
        assertThat(third).hasToString("LIMITED count=3 limit=2 remaining=0 resetAfterMillis=" + third.resetAfterMillis());
        assertThat(tollgate.acquire(rule, "u2").count()).isEqualTo(1);
    }

    @Test
    void anOperatorsWindowIsTheDecisions() {
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
        tollgate.settings().set("wms.Order.list.interval", "31536000");
        assertThat(tollgate.acquire(rule, "u1").interval()).isEqualTo(31_536_000);
        Decision limited = tollgate.acquireAsync(rule, "u1").toCompletableFuture().join();
        assertThat(limited.interval()).isEqualTo(31_536_000);
        assertThat(limited.outcome()).isEqualTo(Outcome.LIMITED);
        assertThat(limited.shouldRecord()).isTrue();
    }

    @Test
    void aWindowEnds() {
        Rule rule = tollgate.rule("wms", "Order.list").interval(1).register();
        assertThat(tollgate.acquire(rule, "u1").isAllowed()).isTrue();
        Decision next = Wait.until(() -> tollgate.acquire(rule, "u1"), Decision::isAllowed);
        assertThat(next.count()).isEqualTo(1);
    }

    @Test
    void nobodyIsNotCounted() {
        Rule rule = tollgate.rule("wms", "Order.list").limit(0).register();
        for (String nobody : new String[] {null, "", " ", "\t\u3000", "null", "undefined", " undefined "}) {
            Decision decision = tollgate.acquire(rule, nobody);
            assertThat(decision.outcome()).isEqualTo(Outcome.NO_IDENTITY);
            assertThat(decision.count()).isZero();
        }
        assertThat(tollgate.acquire(rule, "Null").outcome()).isEqualTo(Outcome.LIMITED);
    }

    @Test
    void defaultsAreThreeSecondsAndOneHit() {
        Rule rule = tollgate.rule("wms", "Order.list").register();
        assertThat(rule.module()).isEqualTo("wms");
        assertThat(rule.name()).isEqualTo("Order.list");
        assertThat(rule.interval()).isEqualTo(3);
        assertThat(rule.limit()).isEqualTo(1);
        assertThat(rule.messageKey()).isNull();
        assertThat(rule).hasToString("wms.Order.list (1 in 3 s)");
        Decision decision = tollgate.acquire(rule, "u1");
        assertThat(decision.limit()).isEqualTo(1);
        assertThat(decision.resetAfterMillis()).isBetween(1L, 3_000L);
    }

    @Test
    void aRuleKeepsWhatItWasGiven() {
        Rule rule = tollgate.rule("wms", "Order.list").interval(31_536_000).limit(Long.MAX_VALUE).messageKey("slow.down")
                .onFault(OnFault.DENY).register();
        assertThat(rule.messageKey()).isEqualTo("slow.down");
        Decision decision = tollgate.acquire(rule, "u1");
        assertThat(decision.limit()).isEqualTo(Long.MAX_VALUE);
        assertThat(decision.remaining()).isEqualTo(Long.MAX_VALUE - 1);
        assertThat(decision.resetAfterMillis()).isBetween(31_535_000_000L, 31_536_000_000L);
    }

    @Test
    void settingsRuleTheNextHit() {
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
        Settings settings = tollgate.settings();
        assertThat(settings.get("wms.Order.list.limit")).isNull();
        assertThat(settings.all()).isEmpty();
        tollgate.acquire(rule, "u1");
        assertThat(settings.get("wms.Order.list.limit")).isEqualTo("1");
        Map<String, String> all = settings.all();
        assertThat(all).containsOnlyKeys(
                "log.check", "wms.Order.list.check", "wms.Order.list.interval", "wms.Order.list.limit");
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> all.put("a", "b"));

        settings.set("wms.Order.list.limit", "2");
        assertThat(tollgate.acquire(rule, "u1").outcome()).isEqualTo(Outcome.ALLOWED);
        assertThat(tollgate.acquire(rule, "u1").outcome()).isEqualTo(Outcome.LIMITED);
        settings.set("wms.Order.list.check", "shadow");
        assertThat(tollgate.acquire(rule, "u1").outcome()).isEqualTo(Outcome.SHADOWED);
        settings.set("log.check", "false");
        assertThat(tollgate.acquire(rule, "u1").shouldRecord()).isFalse();
        settings.set("wms.Order.list.check", "false");
        assertThat(tollgate.acquire(rule, "u1").outcome()).isEqualTo(Outcome.OFF);
        assertThat(settings.all()).containsEntry("wms.Order.list.check", "false");

        illegal("many", () -> settings.set("wms.Order.list.limit", "many"));
        illegal("nothing", () -> settings.set("nothing", "1"));
        illegal("field", () -> settings.get("\ud800"));
        illegal("value", () -> settings.set("log.check", "\udfff"));
        assertThatNullPointerException().isThrownBy(() -> settings.get(null));
        assertThatNullPointerException().isThrownBy(() -> settings.set(null, "1"));
        assertThatNullPointerException().isThrownBy(() -> settings.set("log.check", null));
    }

    @Test
    void settingsMayHoldAnyText() {
        String name = "订单.\ud83d\ude80";
        Rule rule = tollgate.rule("wms", name).register();
        tollgate.acquire(rule, "u1");
        assertThat(tollgate.settings().get("wms." + name + ".limit")).isEqualTo("1");
        assertThat(tollgate.settings().all()).containsKey("wms." + name + ".check");
    }

    @Test
    void statisticsCountEveryOutcome() {
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
        tollgate.acquire(rule, "u1");
        tollgate.acquire(rule, "u1");
        tollgate.acquire(rule, "u2");
        tollgate.acquire(rule, null);
        Stats stats = tollgate.stats();
        assertThat(stats.count(Outcome.ALLOWED)).isEqualTo(2);
        assertThat(stats.count(Outcome.LIMITED)).isEqualTo(1);
        assertThat(stats.count(Outcome.NO_IDENTITY)).isEqualTo(1);
        assertThat(stats.count(Outcome.FAULT_LOCAL_LIMITED)).isZero();
        assertThat(stats.total()).isEqualTo(4);
        assertThat(stats.counters()).isEqualTo(2);
        assertThat(stats.rules()).isEqualTo(1);
        assertThat(stats.isStoreUp()).isTrue();
        assertThat(stats.toString()).contains("ALLOWED=2", "counters=2", "storeUp=true");
    }

    @Test
    void anEqualRuleIsTheSameOne() {
        // As many as a limiter takes would be reached by one that is registered for every request.
        for (int i = 0; i < 11_000; i++) {
            tollgate.rule("wms", "Order.list").register();
        }
        assertThat(tollgate.stats().rules()).isEqualTo(1);
    }

    @Test
    void badRulesAreToldInTheCoresWords() {
        illegal("interval 0", () -> tollgate.rule("wms", "Order.list").interval(0).register());
        illegal("interval -3", () -> tollgate.rule("wms", "Order.list").interval(-3).register());
        illegal("interval", () -> tollgate.rule("wms", "Order.list").interval(31_536_001).register());
        illegal("limit -1", () -> tollgate.rule("wms", "Order.list").limit(-1).register());
        illegal("module \"\"", () -> tollgate.rule("", "Order.list").register());
        illegal("name \" \"", () -> tollgate.rule("wms", " ").register());
        illegal("name", () -> tollgate.rule("wms", "\ud800").register());
        illegal("messageKey", () -> tollgate.rule("wms", "Order.list").messageKey("\udfff").register());
        assertThatNullPointerException().isThrownBy(() -> tollgate.rule(null, "Order.list"));
        assertThatNullPointerException().isThrownBy(() -> tollgate.rule("wms", null));
        assertThatNullPointerException().isThrownBy(() -> tollgate.rule("wms", "Order.list").onFault(null));
        assertThat(tollgate.stats().rules()).isZero();
    }

    @Test
    void badOptionsAreToldInTheCoresWords() {
        illegal("htp://x", () -> Tollgate.open("htp://x"));
        illegal("", () -> Tollgate.open(""));
        illegal("url", () -> Tollgate.open("memory:\ud800"));
        illegal("deadline", () -> Tollgate.builder().deadline(Duration.ZERO).open());
        illegal("deadline", () -> Tollgate.builder().deadline(Duration.ofMinutes(2)).open());
        illegal("deadline PT-1S", () -> Tollgate.builder().deadline(Duration.ofSeconds(-1)));
        illegal("deadline", () -> Tollgate.builder().deadline(Duration.ofSeconds(Long.MAX_VALUE)));
        illegal("connect timeout", () -> Tollgate.builder().connectTimeout(Duration.ofMinutes(2)).open());
        illegal("connectTimeout PT-1S", () -> Tollgate.builder().connectTimeout(Duration.ofSeconds(-1)));
        illegal("max counters 0", () -> Tollgate.builder().maxCounters(0).open());
        illegal("maxCounters -1", () -> Tollgate.builder().maxCounters(-1));
        illegal("a b", () -> Tollgate.builder().prefix("a b").open());
        assertThatNullPointerException().isThrownBy(() -> Tollgate.open(null));
        assertThatNullPointerException().isThrownBy(() -> Tollgate.builder().deadline(null));
        assertThatNullPointerException().isThrownBy(() -> Tollgate.builder().onFault(null));
        assertThatNullPointerException().isThrownBy(() -> Tollgate.builder().prefix(null));
    }

    @Test
    void passwordsAreNeverShown() {
        assertThatIllegalArgumentException().isThrownBy(() -> Tollgate.open("redis://me:s3cret@host:port"))
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("s3cret"));
    }

    @Test
    void everyOptionIsAccepted() {
        Tollgate.Builder builder = Tollgate.builder().url("memory:").deadline(Duration.ofMillis(1))
                .connectTimeout(Duration.ZERO).onFault(OnFault.LOCAL).prefix("mine").maxCounters(100_000_000);
        try (Tollgate mine = builder.open()) {
            assertThat(mine.store()).isEqualTo("memory");
            assertThat(mine).hasToString("Tollgate(memory)");
            assertThat(mine.acquire(mine.rule("wms", "a").register(), "u1").isAllowed()).isTrue();
        }
    }

    @Test
    void aClosedLimiterThrows() {
        Rule rule = tollgate.rule("wms", "Order.list").register();
        Rule.Builder builder = tollgate.rule("wms", "Order.get");
        Settings settings = tollgate.settings();
        assertThat(tollgate.isClosed()).isFalse();
        tollgate.close();
        assertThat(tollgate.isClosed()).isTrue();
        // Another one takes its place, and the closed one stays closed.
        try (Tollgate next = Tollgate.open("memory:")) {
            Rule nexts = next.rule("wms", "Order.list").register();
            assertThatIllegalStateException().isThrownBy(() -> tollgate.acquire(rule, "u1")).withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(builder::register);
            assertThatIllegalStateException().isThrownBy(() -> settings.get("log.check"));
            assertThatIllegalStateException().isThrownBy(() -> settings.set("log.check", "true"));
            assertThatIllegalStateException().isThrownBy(settings::all);
            assertThatIllegalStateException().isThrownBy(tollgate::stats);
            assertThat(next.acquire(nexts, "u1").count()).isEqualTo(1);
        }
        assertThatCode(tollgate::close).doesNotThrowAnyException();
        assertThat(tollgate).hasToString("Tollgate(memory, closed)");
        assertThat(tollgate.store()).isEqualTo("memory");
    }

    @Test
    void aRuleOfAnotherLimiterIsRefused() {
        try (Tollgate other = Tollgate.open("memory:")) {
            Rule others = other.rule("wms", "Order.list").register();
            illegal("wms.Order.list", () -> tollgate.acquire(others, "u1"));
            assertThat(other.stats().total()).isZero();
        }
    }

    @Test
    void aRuleMustBeThere() {
        assertThatNullPointerException().isThrownBy(() -> tollgate.acquire(null, "u1")).withMessageContaining("rule");
    }

    @Test
    void theLibraryIsTheJarsOwn() {
        assertThat(NativeLibrary.isLoaded()).isTrue();
        assertThat(NativeLibrary.path()).contains("libtollgate-" + Tollgate.version() + "-").endsWith(".so");
        // Deleted right after loading.
        assertThat(new java.io.File(NativeLibrary.path())).doesNotExist();
    }

    @Test
    void codesNeverChange() {
        Outcome[] outcomes = Outcome.values();
        for (int code = 0; code < outcomes.length; code++) {
            assertThat(outcomes[code].code()).isEqualTo(code);
            assertThat(Outcome.of(code)).isSameAs(outcomes[code]);
            assertThat(outcomes[code].isAllowed())
                    .isEqualTo(!outcomes[code].name().endsWith("LIMITED") && !outcomes[code].name().endsWith("DENIED"));
        }
        assertThat(outcomes).extracting(Outcome::name).containsExactly("ALLOWED", "LIMITED", "SHADOWED", "OFF",
                "NO_IDENTITY", "FAULT_ALLOWED", "FAULT_DENIED", "FAULT_LOCAL_ALLOWED", "FAULT_LOCAL_LIMITED");
        assertThat(FaultKind.of(0)).isNull();
        for (FaultKind kind : FaultKind.values()) {
            assertThat(FaultKind.of(kind.code())).isSameAs(kind);
        }
        assertThat(FaultKind.values()).extracting(FaultKind::name)
                .containsExactly("UNAVAILABLE", "TIMEOUT", "REFUSED", "PROTOCOL");
    }

    private static void illegal(String says, ThrowingCallable call) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessageContaining(says);
    }
}
