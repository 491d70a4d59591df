package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AsyncTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @AfterEach
    void noThreadIsLeft() {
        Wait.until(() -> Tasks.named("tollgate"), threads -> threads == 0);
    }

    @Test
    @SuppressWarnings("try") // Closing in the middle is part of it.
    void inMemoryTheDecisionIsThereAtOnce() {
        try (Tollgate tollgate = Tollgate.open("memory:"); Tollgate other = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            assertThat(tollgate.acquireAsync(rule, "u1")).isCompletedWithValueMatching(Decision::isAllowed);
            assertThat(tollgate.acquireAsync(rule, "u1").toCompletableFuture().getNow(null).outcome()).isEqualTo(Outcome.LIMITED);
            assertThat(tollgate.acquireAsync(rule, null).toCompletableFuture().getNow(null).outcome()).isEqualTo(Outcome.NO_IDENTITY);
            assertThat(tollgate.acquire(rule, "u1").count()).isEqualTo(3);
            assertThatNullPointerException().isThrownBy(() -> tollgate.acquireAsync(null, "u1")).withMessageContaining("rule");
            assertThatIllegalArgumentException().isThrownBy(() -> other.acquireAsync(rule, "u1")).withMessageContaining("another");
            tollgate.close();
            assertThatIllegalStateException().isThrownBy(() -> tollgate.acquireAsync(rule, "u1")).withMessageContaining("closed");
        }
    }

    @Test
    void manyAreUnderWayAndEachIsAnsweredOnce() throws Exception {
        int threads = 4;
        int hits = 1_000;
        try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, LONG)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(hits).register();
            assertThat(join(tollgate.acquireAsync(rule, null)).outcome()).isEqualTo(Outcome.NO_IDENTITY);
            AtomicInteger completed = new AtomicInteger();
            List<CompletableFuture<Decision>> stages = Collections.synchronizedList(new ArrayList<>());
            List<Thread> submitters = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(() -> {
                    for (int hit = 0; hit < hits; hit++) {
                        stages.add(tollgate.acquireAsync(rule, "\ud83d\ude00")
                                .whenComplete((decision, failure) -> completed.incrementAndGet()).toCompletableFuture());
                    }
                });
                thread.start();
                submitters.add(thread);
            }
            for (Thread thread : submitters) {
                thread.join();
            }
            List<Long> counts = new ArrayList<>();
            for (CompletableFuture<Decision> stage : stages) {
                Decision decision = join(stage);
                assertThat(decision.fault()).isNull();
                assertThat(decision.isAllowed()).isEqualTo(decision.count() <= hits);
                counts.add(decision.count());
            }
            assertThat(counts).hasSize(threads * hits).doesNotHaveDuplicates().contains(1L, (long) threads * hits);
            assertThat(completed).hasValue(threads * hits);
        }
    }

    @Test
    @SuppressWarnings("try") // Closing in the middle is what this is about.
    void hitsUnderWayAreDecidedThoughTheLimiterIsClosed() throws Exception {
        try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, LONG)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(30).register();
            assertThat(tollgate.acquire(rule, "u0").isAllowed()).isTrue();
            server.command("CLIENT PAUSE 60000 WRITE");
            List<CompletableFuture<Decision>> stages = submit(tollgate, rule, 50);
            tollgate.close();
            assertThatIllegalStateException().isThrownBy(() -> tollgate.acquireAsync(rule, "u1"));
            assertThat(stages).noneMatch(CompletableFuture::isDone);
            server.command("CLIENT UNPAUSE");
            assertThat(outcomes(stages, Outcome.ALLOWED)).isEqualTo(30);
            assertThat(outcomes(stages, Outcome.LIMITED)).isEqualTo(20);
        }
    }

    @Test
    @SuppressWarnings("try") // As above.
    void theDeadlineAnswersWhereTheServerDoesNot() throws Exception {
        for (boolean closed : new boolean[] {false, true}) {
            try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, Duration.ofSeconds(1))) {
                Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
                Wait.until(() -> tollgate.acquire(rule, "u0"), decision -> decision.fault() == null);
                server.signal("STOP");
                List<CompletableFuture<Decision>> stages = submit(tollgate, rule, 200);
                if (closed) {
                    tollgate.close();
                }
                assertThat(outcomes(stages, Outcome.FAULT_ALLOWED)).isEqualTo(200);
                if (!closed) {
                    // The circuit is open: there is nothing to wait for.
                    assertThat(tollgate.acquireAsync(rule, "u1")).isCompletedWithValueMatching(
                            decision -> decision.outcome() == Outcome.FAULT_ALLOWED);
                    server.signal("CONT");
                    Wait.until(() -> join(tollgate.acquireAsync(rule, "u0")), decision -> decision.outcome() == Outcome.LIMITED);
                }
            }
        }
    }

    @Test
    void stagesThatBlockKeepNobodyWaiting() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, LONG)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(1_000).register();
            assertThat(tollgate.acquire(rule, "u0").isAllowed()).isTrue();
            server.command("CLIENT PAUSE 60000 WRITE");
            AtomicInteger blocked = new AtomicInteger();
            List<CompletableFuture<Decision>> blocking = submit(tollgate, rule, Stages.MAX_THREADS - 1);
            List<CompletableFuture<String>> names = new ArrayList<>();
            for (CompletableFuture<Decision> stage : blocking) {
                names.add(stage.thenApply(decision -> {
                    blocked.incrementAndGet();
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    return Thread.currentThread().getName();
                }));
            }
            List<CompletableFuture<Decision>> others = submit(tollgate, rule, 100);
            server.command("CLIENT UNPAUSE");
            assertThat(outcomes(others, Outcome.ALLOWED)).isEqualTo(100);
            assertThat(blocked).hasValue(Stages.MAX_THREADS - 1);
            assertThat(names).noneMatch(CompletableFuture::isDone);
            assertThat(Tasks.named("tollgate-stage")).isLessThanOrEqualTo(Stages.MAX_THREADS);
            gate.countDown();
            for (CompletableFuture<String> name : names) {
                assertThat(name.join()).isEqualTo("tollgate-stage");
            }
            // Those that aren't needed any more end, though hits go on.
            Wait.until(() -> join(tollgate.acquireAsync(rule, "u1")).isAllowed() && Tasks.named("tollgate-stage") <= 1);
        } finally {
            gate.countDown();
        }
    }

    @Test
    @SuppressWarnings("try") // As above.
    void aStageMayCloseItsLimiterAndSubmitMore() throws Exception {
        try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, LONG)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(10).register();
            Decision last = join(tollgate.acquireAsync(rule, "u1").thenCompose(decision -> tollgate.acquireAsync(rule, "u1"))
                    .thenApply(decision -> {
                        tollgate.close();
                        return decision;
                    }));
            assertThat(last.count()).isEqualTo(2);
            assertThat(tollgate.isClosed()).isTrue();
        }
    }

    @Test
    void aStageThatIsCompletedByHandIsOverAndItsHitIsCounted() throws Exception {
        try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, LONG)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(10).register();
            assertThat(tollgate.acquire(rule, "u0").isAllowed()).isTrue();
            server.command("CLIENT PAUSE 60000 WRITE");
            CompletableFuture<Decision> stage = submit(tollgate, rule, 1).get(0);
            assertThat(stage.cancel(true)).isTrue();
            server.command("CLIENT UNPAUSE");
            assertThat(join(tollgate.acquireAsync(rule, "u1")).count()).isEqualTo(2);
            assertThat(stage).isCancelled();
        }
    }

    @Test
    void whereTooManyAreUnderWayTheCallerWaits() throws Exception {
        try (RedisServer server = RedisServer.started(); Tollgate tollgate = open(server, LONG)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            List<Hit> hits = new ArrayList<>();
            for (int i = 0; i < Completions.MAX_HITS; i++) {
                hits.add(Completions.enter(false));
            }
            assertThat(hits).doesNotContainNull();
            assertThat(Completions.enter(false)).isNull();
            assertThat(tollgate.acquireAsync(rule, "u1")).isCompletedWithValueMatching(
                    decision -> decision.outcome() == Outcome.ALLOWED);
            hits.forEach(Completions::leave);
            assertThat(join(tollgate.acquireAsync(rule, "u1")).outcome()).isEqualTo(Outcome.LIMITED);
        }
    }

    @Test
    void aDefectIsAnException() {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            assertThat(tollgate.isClosed()).isFalse();
            Stages stages = new Stages();
            Hit stage = Completions.enter(false);
            Completions.deliver(stages, stage, new long[] {-1, -1, -1, -1, -1}, 0);
            assertThatExceptionOfType(CompletionException.class).isThrownBy(stage::join)
                    .withCauseInstanceOf(TollgateException.class).withMessageContaining("defect");
            Hit awaited = Completions.enter(true);
            Completions.deliver(stages, awaited, new long[] {-1, -1, -1, -1, -1}, 0);
            assertThatExceptionOfType(TollgateException.class).isThrownBy(awaited::await).withMessageContaining("defect");
            stages.end();
        }
    }

    @Test
    void hitsUnderWayKeepNoJvmAlive() throws Exception {
        try (RedisServer server = RedisServer.started()) {
            Jvm jvm = Jvm.run(AsyncMain.class, "-Dredis.url=" + server.url());
            assertThat(jvm.exit).as("%s", jvm).isZero();
            assertThat(jvm.out).contains("ALLOWED", "main ends");
        }
    }

    private static Tollgate open(RedisServer server, Duration deadline) {
        return Tollgate.builder().url(server.url()).deadline(deadline).connectTimeout(LONG).open();
    }

    private static Decision join(CompletionStage<Decision> stage) {
        try {
            return stage.toCompletableFuture().get(2, TimeUnit.MINUTES);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private static List<CompletableFuture<Decision>> submit(Tollgate tollgate, Rule rule, int hits) {
        List<CompletableFuture<Decision>> stages = new ArrayList<>();
        for (int i = 0; i < hits; i++) {
            stages.add(tollgate.acquireAsync(rule, "u1").toCompletableFuture());
        }
        return stages;
    }

    private static long outcomes(List<CompletableFuture<Decision>> stages, Outcome outcome) {
        return stages.stream().filter(stage -> join(stage).outcome() == outcome).count();
    }
}
