package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ThreadsTest {
    @Test
    void tenThousandShortThreadsLeaveNoneBehind() throws Exception {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(4_000).register();
            long before = Tasks.count();
            AtomicLong allowed = new AtomicLong();
            for (int round = 0; round < 200; round++) {
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    Thread thread = new Thread(() -> {
                        if (tollgate.acquire(rule, "u1").isAllowed()) {
                            allowed.incrementAndGet();
                        }
                    });
                    thread.start();
                    threads.add(thread);
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
            assertThat(allowed).hasValue(4_000);
            assertThat(tollgate.stats().count(Outcome.LIMITED)).isEqualTo(6_000);
            // The JVM's own compiler and collector threads come and go.
            Wait.until(() -> Tasks.count() < before + 20);
        }
    }

    @Test
    void tenThousandShortThreadsOnAServerLeaveNoneBehind() throws Exception {
        long before = Tasks.count();
        try (RedisServer server = RedisServer.started();
                Tollgate tollgate = Tollgate.builder().url(server.url()).deadline(Duration.ofSeconds(60)).open()) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(15_000).register();
            AtomicLong allowed = new AtomicLong();
            for (int round = 0; round < 200; round++) {
                List<Thread> threads = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    Thread thread = new Thread(() -> {
                        if (tollgate.acquire(rule, "u1").isAllowed()) {
                            allowed.incrementAndGet();
                        }
                        if (tollgate.acquireAsync(rule, "u1").toCompletableFuture().join().isAllowed()) {
                            allowed.incrementAndGet();
                        }
                    });
                    thread.start();
                    threads.add(thread);
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
            assertThat(allowed).hasValue(15_000);
            assertThat(tollgate.stats().count(Outcome.LIMITED)).isEqualTo(5_000);
        }
        Wait.until(() -> Tasks.named("tollgate") == 0 && Tasks.count() < before + 20);
    }

    @Test
    void aLimiterIsClosedWhileThreadsAskIt() throws Exception {
        AtomicReference<Pair> current = new AtomicReference<>(new Pair());
        ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        CountDownLatch over = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                while (over.getCount() > 0) {
                    Pair pair = current.get();
                    try {
                        Decision decision = pair.tollgate.acquire(pair.rule, "u1");
                        if (decision.outcome() != Outcome.ALLOWED || decision.count() < 1) {
                            wrong.add(new AssertionError(decision.toString()));
                        }
                    } catch (IllegalStateException e) {
                        if (!pair.tollgate.isClosed()) {
                            wrong.add(e);
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (int round = 0; round < 300; round++) {
            Pair before = current.get();
            Wait.until(() -> before.tollgate.stats().total() > 0 || !wrong.isEmpty());
            current.set(new Pair());
            before.tollgate.close();
        }
        over.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        current.get().tollgate.close();
        assertThat(wrong).isEmpty();
    }

    @Test
    void theLogThreadLivesWhileALimiterIsOpen() {
        Wait.until(() -> logThreads() == 0);
        Tollgate first = Tollgate.open("memory:");
        Tollgate second = Tollgate.open("memory:");
        assertThat(logThreads()).isEqualTo(1);
        first.close();
        first.close();
        assertThat(logThreads()).isEqualTo(1);
        second.close();
        Wait.until(() -> logThreads() == 0);
        for (int i = 0; i < 100; i++) {
            Tollgate.open("memory:").close();
        }
        Wait.until(() -> logThreads() == 0);
        // One that can't be opened keeps none.
        for (int i = 0; i < 10; i++) {
            try {
                Tollgate.open("htp://x");
            } catch (IllegalArgumentException expected) {
                continue;
            }
            throw new AssertionError();
        }
        Wait.until(() -> logThreads() == 0);
    }

    private static long logThreads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("tollgate-log")).count();
    }

    private static final class Pair {
        final Tollgate tollgate = Tollgate.open("memory:");
        final Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(Long.MAX_VALUE).register();
    }
}
