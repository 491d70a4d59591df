package io.tollgate;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Virtual threads on one carrier, for a JVM of its own. Compiled for Java 8, so it starts them by reflection. */
public final class VirtualThreadsMain {
    private static final int HITS = 100;
    private static final int SHORT = 10_000;

    private VirtualThreadsMain() {}

    public static void main(String[] arguments) throws Exception {
        String url = System.getProperty("redis.url");
        try (Tollgate tollgate = open(url, 3); Tollgate patient = open(url, 60)) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            Wait.until(() -> tollgate.acquire(rule, "warm"), decision -> decision.fault() == null);
            AtomicBoolean virtual = new AtomicBoolean();
            join(1, i -> virtual.set(VirtualThreads.isCurrent()));
            System.out.println("virtual: " + virtual);
            whileRedisIsStopped(tollgate, rule);
            shortThreads(patient);
        }
        Wait.until(() -> Tasks.named("tollgate") == 0);
        System.out.println("left behind: " + Tasks.named("tollgate"));
    }

    private static void whileRedisIsStopped(Tollgate tollgate, Rule rule) throws Exception {
        long threads = Tasks.count();
        AtomicLong counter = new AtomicLong();
        AtomicLong countedAtFirst = new AtomicLong(-1);
        AtomicInteger entered = new AtomicInteger();
        AtomicInteger enteredAtFirst = new AtomicInteger(-1);
        Set<Outcome> outcomes = new ConcurrentSkipListSet<>();
        CountDownLatch answered = new CountDownLatch(HITS);
        AtomicBoolean over = new AtomicBoolean();
        signal("STOP");
        for (int i = 0; i < HITS; i++) {
            String user = "u" + i;
            boolean several = i % 2 == 1;
            start(() -> {
                entered.incrementAndGet();
                Decision decision = several ? tollgate.acquireAll(Arrays.asList(rule, rule), user).get(1) : tollgate.acquire(rule, user);
                countedAtFirst.compareAndSet(-1, counter.get());
                enteredAtFirst.compareAndSet(-1, entered.get());
                outcomes.add(decision.outcome());
                answered.countDown();
            });
        }
        // Behind them, on the only carrier.
        start(() -> {
            while (!over.get()) {
                counter.incrementAndGet();
                pause();
            }
        });
        long most = 0;
        while (answered.getCount() > 0) {
            most = Math.max(most, Tasks.count());
            pause();
        }
        over.set(true);
        System.out.println("waiting together: " + enteredAtFirst);
        System.out.println("others went on: " + (countedAtFirst.get() > 0));
        System.out.println(outcomes + " by " + (HITS - answered.getCount()));
        // The JVM's own compiler and collector threads come and go.
        System.out.println("grown: " + (most > threads + 20));
        signal("CONT");
        Wait.until(() -> tollgate.acquire(rule, "warm"), decision -> decision.outcome() == Outcome.LIMITED);
    }

    private static void shortThreads(Tollgate tollgate) throws Exception {
        Rule rule = tollgate.rule("wms", "Order.short").interval(3600).limit(SHORT * 2).register();
        Wait.until(() -> tollgate.acquire(rule, "warm"), decision -> decision.fault() == null);
        Set<Outcome> outcomes = new ConcurrentSkipListSet<>();
        AtomicInteger decisions = new AtomicInteger();
        for (int round = 0; round < 20; round++) {
            join(SHORT / 20, i -> {
                outcomes.add(tollgate.acquire(rule, "u1").outcome());
                outcomes.add(tollgate.acquireAsync(rule, "u1").toCompletableFuture().join().outcome());
                decisions.addAndGet(2);
            });
        }
        System.out.println("short threads: " + outcomes + " by " + decisions);
    }

    private static Tollgate open(String url, int deadlineSeconds) {
        return Tollgate.builder().url(url).deadline(Duration.ofSeconds(deadlineSeconds)).connectTimeout(Duration.ofSeconds(60)).open();
    }

    private static void join(int threads, java.util.function.IntConsumer work) throws Exception {
        CountDownLatch over = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            int number = i;
            start(() -> {
                work.accept(number);
                over.countDown();
            });
        }
        over.await();
    }

    private static void start(Runnable work) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        start.invoke(null, work);
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void signal(String name) throws Exception {
        int status = new ProcessBuilder("kill", "-s", name, System.getProperty("redis.pid")).start().waitFor();
        if (status != 0) {
            throw new AssertionError("kill -s " + name + " gave " + status);
        }
    }
}
