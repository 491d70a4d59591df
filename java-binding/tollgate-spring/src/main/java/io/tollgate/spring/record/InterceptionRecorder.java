package io.tollgate.spring.record;

/**
 * Writes one rejection down. It is called by one thread, that of an {@link InterceptionQueue}, one row after the other; it may
 * take its time and fail: rejections go on whatever it does, and rows that it throws at are logged, counted and not tried again.
 * It should obey {@link Thread#interrupt()}, which ends it when the application closes.
 *
 * <pre>{@code
 * @Bean
 * InterceptionRecorder toTheAuditLog() {
 *     Logger audit = LoggerFactory.getLogger("audit");
 *     return row -> audit.info("{} {} hit {} {} times", row.time(), row.user(), row.rule(), row.count());
 * }
 * }</pre>
 */
@FunctionalInterface
public interface InterceptionRecorder {
    /**
     * Writes a row.
     *
     * @param interception the row; its texts are as they came, not yet fit for any table
     * @throws Exception anything: it is logged, at most every 10 seconds, and counted
     */
    void record(Interception interception) throws Exception;
}
