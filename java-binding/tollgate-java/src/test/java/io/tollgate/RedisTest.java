package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A real server. */
class RedisTest {
    @Test
    void aServerGoesAwayAndComesBack() throws Exception {
        AtomicInteger errors = new AtomicInteger();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<ILoggingEvent>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getLevel() == Level.ERROR && event.getFormattedMessage().contains("wms.Order.list")) {
                    errors.incrementAndGet();
                }
            }
        };
        appender.start();
        Logger logger = (Logger) LoggerFactory.getLogger("tollgate");
        logger.addAppender(appender);
        try (RedisServer server = RedisServer.started();
                Tollgate tollgate = Tollgate.builder().url(server.url()).deadline(Duration.ofSeconds(2)).open()) {
            assertThat(tollgate.store()).isEqualTo("redis " + server.url().substring("redis://".length()));
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            assertThat(tollgate.acquire(rule, "u1").outcome()).isEqualTo(Outcome.ALLOWED);
            Decision second = tollgate.acquire(rule, "u1");
            assertThat(second.outcome()).isEqualTo(Outcome.LIMITED);
            assertThat(second.resetAfterMillis()).isBetween(1L, 3_600_000L);
            assertThat(tollgate.settings().all()).containsEntry("wms.Order.list.interval", "3600");
            tollgate.settings().set("wms.Order.list.check", "false");
            assertThat(tollgate.acquire(rule, "u1").outcome()).isEqualTo(Outcome.OFF);
            tollgate.settings().set("wms.Order.list.check", "true");
            assertThat(errors).hasValue(0);

            server.kill();
            Rule denied = tollgate.rule("wms", "Order.pay").onFault(OnFault.DENY).register();
            Rule local = tollgate.rule("wms", "Order.get").interval(3600).onFault(OnFault.LOCAL).register();
            Decision without = tollgate.acquire(rule, "u1");
            assertThat(without.outcome()).isEqualTo(Outcome.FAULT_ALLOWED);
            assertThat(without.isAllowed()).isTrue();
            assertThat(without.fault()).isNotNull();
            assertThat(without.toString()).contains(without.fault().name());
            assertThat(tollgate.acquire(denied, "u1").outcome()).isEqualTo(Outcome.FAULT_DENIED);
            assertThat(tollgate.acquire(local, "u1").outcome()).isEqualTo(Outcome.FAULT_LOCAL_ALLOWED);
            assertThat(tollgate.acquire(local, "u1").outcome()).isEqualTo(Outcome.FAULT_LOCAL_LIMITED);
            assertThatExceptionOfType(TollgateException.class).isThrownBy(() -> tollgate.settings().get("log.check"));
            assertThat(tollgate.stats().isStoreUp()).isFalse();
            Wait.until(() -> errors.get() > 0);

            server.start();
            Wait.until(() -> tollgate.acquire(rule, "u2"), decision -> decision.outcome() != Outcome.FAULT_ALLOWED);
            Decision again = tollgate.acquire(rule, "u2");
            assertThat(again.outcome()).isEqualTo(Outcome.LIMITED);
            assertThat(again.count()).isEqualTo(2);
            assertThat(tollgate.stats().isStoreUp()).isTrue();
        } finally {
            logger.detachAppender(appender);
        }
    }

    @Test
    void aServerThatIsNotThereYet() throws Exception {
        try (RedisServer server = new RedisServer();
                Tollgate tollgate = Tollgate.builder().url(server.url()).connectTimeout(Duration.ofMillis(50)).open()) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            Decision without = tollgate.acquire(rule, "u1");
            assertThat(without.outcome()).isEqualTo(Outcome.FAULT_ALLOWED);
            assertThat(without.fault()).isEqualTo(FaultKind.UNAVAILABLE);
            server.start();
            Wait.until(() -> tollgate.acquire(rule, "u1"), decision -> decision.outcome() == Outcome.LIMITED);
        }
    }

    @Test
    @SuppressWarnings("try") // Closing in the middle is what this is about.
    void aCallUnderWayIsAnsweredThoughTheLimiterIsClosed() throws Exception {
        try (RedisServer server = RedisServer.started();
                Tollgate tollgate = Tollgate.builder().url(server.url()).deadline(Duration.ofSeconds(60)).open()) {
            Rule rule = tollgate.rule("wms", "Order.list").register();
            assertThat(tollgate.acquire(rule, "u0").isAllowed()).isTrue();
            server.command("CLIENT PAUSE 60000 WRITE");
            CompletableFuture<Decision> answer = new CompletableFuture<>();
            Thread caller = new Thread(() -> {
                try {
                    answer.complete(tollgate.acquire(rule, "u1"));
                } catch (Throwable e) {
                    answer.completeExceptionally(e);
                }
            });
            caller.start();
            Wait.until(() -> {
                StackTraceElement[] stack = caller.getStackTrace();
                return stack.length > 0 && stack[0].isNativeMethod() && stack[0].getMethodName().equals("acquire");
            });
            tollgate.close();
            assertThatIllegalStateException().isThrownBy(() -> tollgate.acquire(rule, "u1"));
            server.command("CLIENT UNPAUSE");
            assertThat(answer.get().outcome()).isEqualTo(Outcome.ALLOWED);
        }
    }
}
