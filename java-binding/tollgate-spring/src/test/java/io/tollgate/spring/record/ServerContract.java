package io.tollgate.spring.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What holds besides where the database is another process, which dies and hangs. */
abstract class ServerContract extends RecorderContract {
    private DatabaseServer server;

    abstract DatabaseServer server();

    @Override
    final String url() {
        return server.url();
    }

    @BeforeAll
    void startTheServer() {
        server = server().create();
    }

    @AfterAll
    void stopTheServer() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void aDatabaseThatDiesCostsRowsAndRecordingComesBack() throws Exception {
        try (Lines lines = new Lines(InterceptionQueue.class);
                InterceptionQueue queue = new InterceptionQueue(new JdbcInterceptionRecorder(pool(true)))) {
            assertThat(queue.offer(row().user("before").build())).isTrue();
            DatabaseServer.until("a row is recorded", () -> queue.recorded() == 1);

            server.kill();
            for (int i = 0; i < 3; i++) {
                assertThat(queue.offer(row().user("meanwhile").build())).isTrue();
            }
            DatabaseServer.until("the failures are counted", () -> queue.failed() == 3);
            assertThat(lines.texts()).as("bounded: one in 10 seconds").hasSizeBetween(1, 3)
                    .allSatisfy(line -> assertThat(line).contains("was not recorded", "Limiting goes on"));

            server.start();
            DatabaseServer.until("rows are recorded again", () -> {
                queue.offer(row().user("after").build());
                return queue.recorded() > 1;
            });
        } finally {
            // Whatever failed above, the others need a server.
            pools.forEach(pool -> pool.getHikariPoolMXBean().softEvictConnections());
        }
        assertThat(rows("user_id", "WHERE user_id = 'before'")).hasSize(1);
        assertThat(rows("user_id", "WHERE user_id = 'after'")).isNotEmpty();
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void aDatabaseThatHangsHoldsOneThreadAndNobodyElse() {
        InterceptionQueue queue = new InterceptionQueue(new JdbcInterceptionRecorder(pool(true)), 4);
        queue.offer(row().build());
        DatabaseServer.until("a row is recorded", () -> queue.recorded() == 1);
        server.signal("STOP");
        try (Lines lines = new Lines(InterceptionQueue.class)) {
            // It returns each time, or the test never ends.
            int taken = 0;
            for (int i = 0; i < 1_000; i++) {
                taken += queue.offer(row().build()) ? 1 : 0;
            }
            assertThat(taken).as("four that wait, and those that the thread came to take meanwhile").isBetween(4, 10);
            assertThat(queue.dropped()).isEqualTo(1_000 - taken);
            assertThat(queue.queued()).isLessThanOrEqualTo(4);
            assertThat(lines.texts()).anySatisfy(line -> assertThat(line).contains("4 rejections wait to be recorded", "Limiting goes on"));

            queue.close();
            assertThat(queue.offer(row().build())).isFalse();
            assertThat(queue.queued()).isZero();
            assertThat(lines.texts()).anySatisfy(line -> assertThat(line).contains("were not recorded before the end"));
        } finally {
            server.signal("CONT");
        }
        DatabaseServer.until("the thread has ended", () -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("tollgate-records")));
        assertThat(queue.recorded() + queue.failed() + queue.dropped()).isEqualTo(1_002);
    }
}
