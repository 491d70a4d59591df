package io.tollgate.spring.record;

import static io.tollgate.spring.record.DatabaseServer.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.tollgate.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(120)
class InterceptionQueueTest {
    private static Interception row(String user) {
        return Interception.of(Instant.EPOCH, "wms", "Order.list", Outcome.LIMITED).user(user).build();
    }

    private static boolean threadLives() {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().equals("tollgate-records"));
    }

    @AfterEach
    void noThreadIsLeft() {
        until("the threads have ended", () -> !threadLives());
    }

    @Test
    void rowsComeInOrderOnOneDaemonThreadThatStartsWithTheFirst() {
        List<String> users = Collections.synchronizedList(new ArrayList<>());
        AtomicReference<Thread> thread = new AtomicReference<>();
        try (InterceptionQueue queue = new InterceptionQueue(row -> {
            thread.set(Thread.currentThread());
            users.add(row.user());
        })) {
            assertThat(threadLives()).isFalse();
            for (String user : new String[] {"a", "b", "c"}) {
                assertThat(queue.offer(row(user))).isTrue();
            }
            until("they are recorded", () -> queue.recorded() == 3);
            assertThat(users).containsExactly("a", "b", "c");
            assertThat(thread.get().isDaemon()).isTrue();
            assertThat(thread.get().getName()).isEqualTo("tollgate-records");
            assertThat(queue.queued()).isZero();
        }
        until("it has ended", () -> !thread.get().isAlive());
    }

    @Test
    void whatWaitsAtTheEndIsStillRecorded() throws Exception {
        CountDownLatch slow = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        AtomicInteger rows = new AtomicInteger();
        InterceptionQueue queue = new InterceptionQueue(row -> {
            entered.countDown();
            slow.await();
            rows.incrementAndGet();
        }, 2);
        queue.offer(row("a"));
        entered.await();
        // Full, so that the sign to end doesn't fit in.
        queue.offer(row("b"));
        queue.offer(row("c"));
        Thread closing = new Thread(queue::close);
        closing.start();
        until("no more is taken", () -> !queue.offer(row("d")) && queue.dropped() > 1);
        slow.countDown();
        closing.join();
        assertThat(rows).hasValue(3);
        assertThat(queue.recorded()).isEqualTo(3);
    }

    @Test
    void whateverARecorderThrowsIsCountedAndSaidAndTheNextRowIsTried() {
        List<Throwable> failures = Arrays.asList(new IllegalStateException("no table"), new NoClassDefFoundError("com/acme/Driver"),
                new StackOverflowError(), new OutOfMemoryError("not really"), new InterruptedException(), new Exception());
        AtomicInteger next = new AtomicInteger();
        try (Lines lines = new Lines(InterceptionQueue.class); InterceptionQueue queue = new InterceptionQueue(row -> {
            int i = next.getAndIncrement();
            if (i < failures.size()) {
                Thread.currentThread().interrupt();
                InterceptionQueueTest.<Exception>sneak(failures.get(i));
            }
            assertThat(Thread.currentThread().isInterrupted()).as("of the row before").isFalse();
        })) {
            for (int i = 0; i <= failures.size(); i++) {
                queue.offer(row("u" + i));
            }
            until("the last is recorded", () -> queue.recorded() == 1);
            assertThat(queue.failed()).isEqualTo(failures.size());
            assertThat(queue.dropped()).isZero();
            assertThat(lines.texts().get(0)).startsWith("tollgate: a rejection by wms.Order.list was not recorded: no table")
                    .contains("Limiting goes on", "tollgate.records.enabled=false", "log.check");
            assertThat(lines.texts()).as("at most one in 10 seconds").hasSizeLessThan(failures.size());
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void anAppenderThatFailsEndsNothing() {
        Logger logger = (Logger) LoggerFactory.getLogger(InterceptionQueue.class);
        AppenderBase<ILoggingEvent> broken = new AppenderBase<ILoggingEvent>() {
            @Override
            public void doAppend(ILoggingEvent event) {
                append(event);
            }

            @Override
            protected void append(ILoggingEvent event) {
                throw new IllegalStateException("the disk is full");
            }
        };
        broken.start();
        logger.addAppender(broken);
        AtomicInteger calls = new AtomicInteger();
        try (InterceptionQueue queue = new InterceptionQueue(row -> {
            if (calls.getAndIncrement() == 0) {
                throw new IllegalStateException("once");
            }
        }, 1)) {
            queue.offer(row("a"));
            until("it failed", () -> queue.failed() == 1);
            queue.offer(row("b"));
            until("the next is recorded", () -> queue.recorded() == 1);
            for (int i = 0; i < 100; i++) {
                queue.offer(null);
            }
            assertThat(queue.dropped()).isEqualTo(100);
        } finally {
            logger.detachAppender(broken);
        }
    }

    @Test
    void aRecorderThatNeverReturnsHoldsItsThreadAlone() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        InterceptionQueue queue = new InterceptionQueue(row -> {
            entered.countDown();
            while (true) {
                try {
                    never.await();
                    return;
                } catch (InterruptedException e) {
                    // It obeys nobody.
                }
            }
        }, 3);
        try (Lines lines = new Lines(InterceptionQueue.class)) {
            queue.offer(row("stuck"));
            entered.await();
            for (int i = 0; i < 10; i++) {
                assertThat(queue.offer(row("u" + i))).isEqualTo(i < 3);
            }
            assertThat(queue.queued()).isEqualTo(3);
            assertThat(queue.dropped()).isEqualTo(7);
            assertThat(lines.texts()).singleElement().asString().contains("3 rejections wait to be recorded, one more is dropped");
            queue.close();
            assertThat(queue.queued()).isZero();
            assertThat(queue.dropped()).isEqualTo(10);
            assertThat(lines.texts().get(1)).contains("3 rejections were not recorded before the end", "the recorder doesn't return",
                    "socketTimeout", "(0 recorded, 0 failed, 10 dropped in all)");
            queue.close();
        } finally {
            never.countDown();
        }
    }

    @Test
    void aRecorderThatObeysIsInterruptedAndEnds() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        InterceptionQueue queue = new InterceptionQueue(row -> {
            entered.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                // As drivers do.
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        });
        try (Lines lines = new Lines(InterceptionQueue.class)) {
            queue.offer(row("a"));
            entered.await();
            queue.offer(row("b"));
            queue.close();
            assertThat(threadLives()).isFalse();
            assertThat(queue.failed()).isEqualTo(1);
            assertThat(queue.dropped()).isEqualTo(1);
            assertThat(lines.texts()).anySatisfy(line -> assertThat(line).contains("1 rejections were not recorded before the end (0"));
            assertThat(lines.interrupted()).as("lines logged by an interrupted thread, which closes channels").isZero();
        }
    }

    @Test
    void aHurriedCloseHurriesAndStaysInterrupted() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        InterceptionQueue queue = new InterceptionQueue(row -> {
            entered.countDown();
            new CountDownLatch(1).await();
        });
        queue.offer(row("a"));
        entered.await();
        Thread.currentThread().interrupt();
        queue.close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(queue.failed()).isEqualTo(1);
    }

    @Test
    void aRecorderMayCloseItsQueue() {
        AtomicReference<InterceptionQueue> own = new AtomicReference<>();
        InterceptionQueue queue = new InterceptionQueue(row -> own.get().close());
        own.set(queue);
        queue.offer(row("a"));
        until("it has ended", () -> queue.recorded() == 1 && !threadLives());
        assertThat(queue.offer(row("b"))).isFalse();
        assertThat(queue.dropped()).isEqualTo(1);
    }

    @Test
    void rowsOfManyThreadsAreEachRecordedOrCounted() throws Exception {
        AtomicInteger rows = new AtomicInteger();
        InterceptionQueue queue = new InterceptionQueue(row -> rows.incrementAndGet(), 16);
        List<Thread> threads = new ArrayList<>();
        AtomicInteger taken = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(8);
        for (int i = 0; i < 8; i++) {
            Thread thread = new Thread(() -> {
                started.countDown();
                for (int j = 0; j < 10_000; j++) {
                    taken.addAndGet(queue.offer(row("u")) ? 1 : 0);
                }
            });
            threads.add(thread);
            thread.start();
        }
        started.await();
        // In the middle of it.
        queue.close();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(queue.recorded() + queue.dropped()).isEqualTo(80_000);
        assertThat(queue.recorded()).isEqualTo(rows.get());
        assertThat(queue.queued()).isZero();
    }

    @Test
    void theThreadInheritsNothingFromTheRequestThatStartsIt() throws Exception {
        InheritableThreadLocal<String> identity = new InheritableThreadLocal<>();
        AtomicReference<String> seen = new AtomicReference<>("nothing yet");
        try (InterceptionQueue queue = new InterceptionQueue(row -> seen.set(identity.get()))) {
            Thread request = new Thread(() -> {
                identity.set("the first user");
                queue.offer(row("a"));
            });
            request.start();
            request.join();
            until("it is recorded", () -> queue.recorded() == 1);
            assertThat(seen.get()).isNull();
        }
    }

    /** A recorder of a web application's, loaded by its class loader. */
    public static final class HostRecorder implements InterceptionRecorder {
        @Override
        public void record(Interception interception) {}
    }

    @Test
    void aClosedQueueLetsTheHostsClassLoaderGo() throws Exception {
        WeakReference<ClassLoader> host = useAndClose();
        until("the class loader is collected", () -> {
            System.gc();
            return host.get() == null;
        });
    }

    private static WeakReference<ClassLoader> useAndClose() throws Exception {
        ClassLoader host = new ClassLoader(InterceptionQueueTest.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.equals(HostRecorder.class.getName())) {
                    return super.loadClass(name, resolve);
                }
                try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    ByteArrayOutputStream out = new ByteArrayOutputStream();
                    for (int b = in.read(); b >= 0; b = in.read()) {
                        out.write(b);
                    }
                    return defineClass(name, out.toByteArray(), 0, out.size());
                } catch (java.io.IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        current.setContextClassLoader(host);
        try {
            InterceptionRecorder recorder = (InterceptionRecorder) host.loadClass(HostRecorder.class.getName()).getDeclaredConstructor()
                    .newInstance();
            assertThat(recorder.getClass().getClassLoader()).isSameAs(host);
            InterceptionQueue queue = new InterceptionQueue(recorder);
            queue.offer(row("a"));
            until("it is recorded", () -> queue.recorded() == 1);
            queue.close();
        } finally {
            current.setContextClassLoader(before);
        }
        return new WeakReference<>(host);
    }

    @Test
    void aCapacityOutOfRangeIsRefused() {
        for (int capacity : new int[] {0, -1, 1_000_001}) {
            assertThatThrownBy(() -> new InterceptionQueue(row -> {}, capacity)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(capacity + " records").hasMessageContaining("1 to 1000000");
        }
    }
}
