package io.tollgate.spring.record;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/** What a class logs meanwhile. */
final class Lines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final AtomicInteger interrupted = new AtomicInteger();
    private final Logger logger;

    Lines(Class<?> source) {
        logger = (Logger) LoggerFactory.getLogger(source);
        logger.setAdditive(false);
        start();
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        events.add(event);
        if (Thread.currentThread().isInterrupted()) {
            interrupted.incrementAndGet();
        }
    }

    int interrupted() {
        return interrupted.get();
    }

    List<String> texts() {
        return events.stream().map(ILoggingEvent::getFormattedMessage).collect(Collectors.toList());
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        logger.setAdditive(true);
    }
}
