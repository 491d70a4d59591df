package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogsTest {
    private final Logger logger = (Logger) LoggerFactory.getLogger("tollgate");
    private final Lines lines = new Lines();

    @BeforeEach
    void listen() {
        lines.setContext(logger.getLoggerContext());
        lines.start();
        logger.addAppender(lines);
        logger.setAdditive(false);
        logger.setLevel(Level.INFO);
    }

    @AfterEach
    void forget() {
        logger.detachAppender(lines);
        logger.setAdditive(true);
        logger.setLevel(null);
    }

    @Test
    void linesArriveWithTheirLevel() {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").register();
            tollgate.acquire(rule, "u1");
            warn(tollgate, "订单.\ud83d\ude00");
            Wait.until(() -> lines.having("wms.订单.\ud83d\ude00").size() == 1);
            ILoggingEvent line = lines.having("订单").get(0);
            assertThat(line.getLevel()).isEqualTo(Level.WARN);
            assertThat(line.getThreadName()).isEqualTo("tollgate-log");
            assertThat(line.getLoggerName()).isEqualTo("tollgate");
        }
    }

    @Test
    void linesUntilTheEndArrive() {
        for (int i = 0; i < 50; i++) {
            try (Tollgate tollgate = Tollgate.open("memory:")) {
                warn(tollgate, "Last." + i);
            }
            String name = "wms.Last." + i;
            Wait.until(() -> lines.having(name).size() == 1);
        }
    }

    @Test
    void theLoggersLevelIsObeyed() {
        logger.setLevel(Level.ERROR);
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            warn(tollgate, "Quiet.one");
        }
        logger.setLevel(Level.WARN);
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            warn(tollgate, "Loud.one");
            Wait.until(() -> lines.having("Loud.one").size() == 1);
        }
        assertThat(lines.having("Quiet.one")).isEmpty();
    }

    @Test
    void anAppenderThatThrowsStopsNothing() {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            lines.failing = true;
            warn(tollgate, "Lost.one");
            Wait.until(() -> lines.failures > 0);
            lines.failing = false;
            warn(tollgate, "Next.one");
            Wait.until(() -> lines.having("Next.one").size() == 1);
        }
    }

    @Test
    void aSlowAppenderCostsLinesAndNoTime() {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            lines.gate = new CountDownLatch(1);
            warn(tollgate, "Blocking.one");
            Wait.until(() -> lines.blocked);
            for (int i = 0; i < 2_000; i++) {
                warn(tollgate, "Many." + i);
            }
            lines.gate.countDown();
            Wait.until(() -> lines.having("Many.1999").size() == 1);
        }
        assertThat(lines.having("wms.Many.")).hasSize(1024);
        assertThat(lines.having("976 log lines were lost")).hasSize(1);
    }

    /** Makes the native side log a line that names the rule. */
    private static void warn(Tollgate tollgate, String name) {
        tollgate.rule("wms", name).limit(1).register();
        tollgate.rule("wms", name).limit(2).register();
    }

    private static final class Lines extends AppenderBase<ILoggingEvent> {
        private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
        volatile boolean failing;
        volatile int failures;
        volatile boolean blocked;
        volatile CountDownLatch gate = new CountDownLatch(0);

        @Override
        protected void append(ILoggingEvent event) {
            blocked = true;
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (failing) {
                failures++;
                throw new IllegalStateException("disk full");
            }
            event.prepareForDeferredProcessing();
            events.add(event);
        }

        List<ILoggingEvent> having(String text) {
            List<ILoggingEvent> having = new java.util.ArrayList<>();
            for (ILoggingEvent event : events) {
                if (event.getFormattedMessage().contains(text)) {
                    having.add(event);
                }
            }
            return having;
        }
    }
}
