package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class FaultLogTest {
    @Test
    void theFirstIsLoggedAtOnceAndTheOthersAreCounted() {
        Logger logger = (Logger) LoggerFactory.getLogger("fault-log-test");
        logger.setAdditive(false);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        // Near the end of the clock's range, which it passes in the test.
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
        FaultLog log = new FaultLog(logger, clock::get);

        log.error("a", null);
        log.error("b", null);
        clock.addAndGet(FaultLog.PERIOD_NANOS - 1);
        log.error("c", null);
        assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly("a");

        clock.addAndGet(1);
        log.error("d", new IllegalStateException("why"));
        log.error("e", null);
        clock.addAndGet(FaultLog.PERIOD_NANOS * 3);
        log.error("f", null);
        assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("a", "d (2 more like this were not logged)", "f (1 more like this were not logged)");
        assertThat(lines.list.get(1).getThrowableProxy().getMessage()).isEqualTo("why");
    }
}
