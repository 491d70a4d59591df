package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanCreationException;

class RateLimitGateTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger(RateLimitGate.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final GuardedMethod method = method();

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setAdditive(false);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
    }

    @Test
    void whatCannotBeMadeLetsRequestsPassAndIsTriedOnce() {
        AtomicInteger tries = new AtomicInteger();
        RateLimitGate gate = new RateLimitGate(() -> {
            tries.incrementAndGet();
            throw new BeanCreationException("engine", "outer",
                    new BeanCreationException("limiter", "inner", new IllegalStateException("no library")));
        });
        gate.announce(Collections.singleton(method), "");
        for (int i = 0; i < 100; i++) {
            assertThat(gate.admit(method, null, NoRequest.INSTANCE, null)).isTrue();
        }
        assertThat(tries).hasValue(1);
        assertThat(lines.list).allMatch(line -> line.getLevel() == Level.ERROR);
        assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly(
                "tollgate: NOT LIMITING, 1 guarded method: no library",
                "tollgate: " + method + " is NOT LIMITED: no library");
    }

    @Test
    void anErrorOfTheClassLoaderIsSurvivedToo() {
        RateLimitGate gate = new RateLimitGate(() -> {
            throw new NoClassDefFoundError("io/tollgate/Tollgate");
        });
        assertThat(gate.admit(method, null, NoRequest.INSTANCE, null)).isTrue();
        assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("tollgate: " + method + " is NOT LIMITED: io/tollgate/Tollgate");
    }

    private static GuardedMethod method() {
        try {
            return new GuardedMethods(RuleNames.ofModule("m"), null).find(null, Orders.class, Orders.class.getMethod("list"));
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    public static class Orders {
        @RateLimit
        public void list() {}
    }
}
