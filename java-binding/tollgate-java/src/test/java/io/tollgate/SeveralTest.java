package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several rules in one call. */
class SeveralTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @AfterEach
    void noThreadIsLeft() {
        Wait.until(() -> Tasks.named("tollgate"), threads -> threads == 0);
    }

    @Test
    void everyRuleIsChargedAndTheTightestAnswers() {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule often = rule(tollgate, "often", 3, 1);
            Rule daily = rule(tollgate, "daily", 86_400, 2);
            List<Rule> rules = Arrays.asList(often, daily);

            List<Decision> first = tollgate.acquireAll(rules, "u1");
            assertThat(first).allMatch(Decision::isAllowed);
            assertThat(Decision.tightest(first)).isZero();
            List<Decision> second = tollgate.acquireAll(rules, "u1");
            assertThat(second).extracting(Decision::outcome).containsExactly(Outcome.LIMITED, Outcome.ALLOWED);
            assertThat(Decision.tightest(second)).isZero();
            List<Decision> third = tollgate.acquireAllAsync(rules, "u1").toCompletableFuture().getNow(null);
            assertThat(third).extracting(Decision::count).containsExactly(3L, 3L);
            assertThat(Decision.tightest(third)).isEqualTo(1);
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> third.remove(0));

            List<Decision> apart = tollgate.acquireAll(Arrays.asList(often, daily, daily, often, daily),
                    Arrays.asList("\ud83d\ude00", null, "\ud800", " ", "\ud800"));
            assertThat(apart).extracting(Decision::count).containsExactly(1L, 0L, 1L, 0L, 2L);
            assertThat(apart).extracting(Decision::outcome).containsExactly(
                    Outcome.ALLOWED, Outcome.NO_IDENTITY, Outcome.ALLOWED, Outcome.NO_IDENTITY, Outcome.ALLOWED);
            assertThat(tollgate.acquire(daily, "\ud800").count()).isEqualTo(3);
            assertThat(tollgate.acquireAll(rules, (String) null)).allMatch(decision -> decision.outcome() == Outcome.NO_IDENTITY);
            assertThat(tollgate.stats().total()).isEqualTo(14);
        }
    }

    @Test
    @SuppressWarnings("try") // Closing in the middle is part of it.
    void whatIsWrongIsNamedAndNothingIsCounted() {
        try (Tollgate tollgate = Tollgate.open("memory:"); Tollgate other = Tollgate.open("memory:")) {
            Rule rule = rule(tollgate, "Order.list", 3600, 100);
            Rule foreign = rule(other, "Order.list", 3600, 100);
            assertThatNullPointerException().isThrownBy(() -> tollgate.acquireAll(null, "u1")).withMessageContaining("rules");
            assertThatNullPointerException().isThrownBy(() -> tollgate.acquireAll(Arrays.asList(rule), (List<String>) null))
                    .withMessageContaining("users");
            assertThatIllegalArgumentException().isThrownBy(() -> tollgate.acquireAll(Collections.<Rule>emptyList(), "u1"))
                    .withMessageContaining("1 to 64");
            assertThatIllegalArgumentException().isThrownBy(() -> tollgate.acquireAll(Collections.nCopies(65, rule), "u1"))
                    .withMessageContaining("65 rules").withMessageContaining("64");
            assertThatIllegalArgumentException().isThrownBy(() -> tollgate.acquireAll(Arrays.asList(rule, null), "u1"))
                    .withMessageContaining("rules[1] is null");
            assertThatIllegalArgumentException().isThrownBy(() -> tollgate.acquireAllAsync(Arrays.asList(rule, rule, foreign), "u1"))
                    .withMessageContaining("rules[2]").withMessageContaining("another limiter");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tollgate.acquireAllAsync(Arrays.asList(rule, rule), Arrays.asList("u1", "u2", "u3")))
                    .withMessageContaining("2 rules").withMessageContaining("3 users");
            assertThat(tollgate.stats().total()).isZero();
            List<Decision> most = tollgate.acquireAll(Collections.nCopies(64, rule), "u1");
            assertThat(most.get(63).count()).isEqualTo(64);
            tollgate.close();
            assertThatIllegalStateException().isThrownBy(() -> tollgate.acquireAll(Arrays.asList(rule), "u1"))
                    .withMessageContaining("closed");
            assertThatIllegalStateException().isThrownBy(() -> tollgate.acquireAllAsync(Arrays.asList(rule), "u1"));
        }
    }

    @Test
    void manyCallsAreUnderWayAndEachGetsItsOwn() throws Exception {
        int calls = 2_000;
        try (RedisServer server = RedisServer.started();
                Tollgate tollgate = Tollgate.builder().url(server.url()).deadline(LONG).connectTimeout(LONG).open()) {
            Rule shared = rule(tollgate, "shared", 3600, Long.MAX_VALUE);
            Rule own = rule(tollgate, "own", 3600, 1);
            assertThat(tollgate.acquireAll(Arrays.asList(shared, own), "warm").get(1).count()).isEqualTo(1);
            List<CompletableFuture<List<Decision>>> stages = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                stages.add(tollgate.acquireAllAsync(Arrays.asList(own, shared, own), Arrays.asList("u" + i, "all", "u" + i))
                        .toCompletableFuture());
            }
            List<Long> counts = new ArrayList<>();
            for (CompletableFuture<List<Decision>> stage : stages) {
                List<Decision> decisions = stage.get(60, TimeUnit.SECONDS);
                assertThat(decisions).extracting(Decision::fault).containsOnlyNulls();
                assertThat(decisions.get(0).count()).isEqualTo(1);
                assertThat(decisions.get(2).outcome()).isEqualTo(Outcome.LIMITED);
                counts.add(decisions.get(1).count());
            }
            assertThat(counts).doesNotHaveDuplicates().contains(1L, (long) calls);
        }
    }

    @Test
    void eachRuleKeepsItsOwnPolicyWhileTheStoreIsAway() throws Exception {
        try (Tollgate tollgate = Tollgate.builder().url("redis://127.0.0.1:1").connectTimeout(Duration.ZERO).open()) {
            List<Rule> rules = Arrays.asList(policy(tollgate, "deny", OnFault.DENY), policy(tollgate, "allow", OnFault.ALLOW),
                    policy(tollgate, "local", OnFault.LOCAL));
            List<Decision> first = tollgate.acquireAll(rules, "u1");
            assertThat(first).extracting(Decision::outcome)
                    .containsExactly(Outcome.FAULT_DENIED, Outcome.FAULT_ALLOWED, Outcome.FAULT_LOCAL_ALLOWED);
            assertThat(Decision.tightest(first)).isZero();
            List<Decision> second = tollgate.acquireAllAsync(rules, "u1").toCompletableFuture().get(60, TimeUnit.SECONDS);
            assertThat(second.get(2).outcome()).isEqualTo(Outcome.FAULT_LOCAL_LIMITED);
            assertThat(Decision.tightest(second)).isEqualTo(2);
        }
    }

    /** The same cases as the core's. */
    @Test
    void theTightestAnswers() {
        Decision nobody = decision(Outcome.NO_IDENTITY, 0, 0, 0);
        Decision open = decision(Outcome.FAULT_ALLOWED, 0, 1, 0);
        Decision denied = decision(Outcome.FAULT_DENIED, 0, 9, 0);
        Decision local = decision(Outcome.FAULT_LOCAL_LIMITED, 2, 1, 1_500);
        Decision shadow = decision(Outcome.SHADOWED, 2, 1, 1_500);
        Decision brief = decision(Outcome.LIMITED, 2, 1, 3_000);
        Decision lasting = decision(Outcome.LIMITED, 201, 200, 80_000);
        Decision twoLeft = decision(Outcome.ALLOWED, 3, 5, 9_000);
        Decision oneLeft = decision(Outcome.ALLOWED, 1, 2, 1_000);
        Decision oneLeftLonger = decision(Outcome.ALLOWED, 8, 9, 2_000);
        Decision localLeft = decision(Outcome.FAULT_LOCAL_ALLOWED, 1, 1, 1_500);
        assertThat(Decision.tightest(Collections.emptyList())).isEqualTo(-1);
        assertThat(Decision.tightest(Arrays.asList(nobody, open))).isEqualTo(-1);
        assertThat(Decision.tightest(Arrays.asList(brief, lasting))).isEqualTo(1);
        assertThat(Decision.tightest(Arrays.asList(lasting, brief))).isZero();
        assertThat(Decision.tightest(Arrays.asList(lasting, lasting))).isZero();
        assertThat(Decision.tightest(Arrays.asList(denied, local, brief, oneLeft))).isEqualTo(2);
        assertThat(Decision.tightest(Arrays.asList(denied, local))).isEqualTo(1);
        assertThat(Decision.tightest(Arrays.asList(shadow, oneLeft, denied))).isEqualTo(2);
        assertThat(Decision.tightest(Arrays.asList(twoLeft, oneLeft, nobody))).isEqualTo(1);
        assertThat(Decision.tightest(Arrays.asList(oneLeft, oneLeftLonger))).isEqualTo(1);
        assertThat(Decision.tightest(Arrays.asList(shadow, twoLeft))).isEqualTo(1);
        assertThat(Decision.tightest(Arrays.asList(open, shadow))).isEqualTo(1);
        assertThat(Decision.tightest(Arrays.asList(nobody, localLeft))).isEqualTo(1);
    }

    private static Decision decision(Outcome outcome, long count, long limit, long resetAfterMillis) {
        return new Decision(outcome.code(), count, limit, Math.max(limit - count, 0), resetAfterMillis);
    }

    private static Rule rule(Tollgate tollgate, String name, long interval, long limit) {
        return tollgate.rule("wms", name).interval(interval).limit(limit).register();
    }

    private static Rule policy(Tollgate tollgate, String name, OnFault policy) {
        return tollgate.rule("wms", name).interval(3600).onFault(policy).register();
    }
}
