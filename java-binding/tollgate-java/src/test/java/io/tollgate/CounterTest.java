package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** One user's counter, and what the store says of itself. */
class CounterTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    @SuppressWarnings("try") // Closing in the middle is part of it.
    void aLookChangesNothingAndClearingBeginsAfresh() throws Exception {
        try (RedisServer server = RedisServer.started();
                Tollgate redis = Tollgate.builder().url(server.url()).deadline(LONG).connectTimeout(LONG).open();
                Tollgate memory = Tollgate.open("memory:")) {
            for (Tollgate tollgate : new Tollgate[] {redis, memory}) {
                Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(1).register();
                assertThat(tollgate.counter(rule, "\ud83d\ude00")).isNull();
                assertThat(tollgate.clear(rule, "\ud83d\ude00")).isFalse();
                tollgate.acquire(rule, "\ud83d\ude00");
                tollgate.acquire(rule, "\ud83d\ude00");
                for (int i = 0; i < 2; i++) {
                    Counter counter = tollgate.counter(rule, "\ud83d\ude00");
                    assertThat(counter.count()).isEqualTo(2);
                    assertThat(counter.endsInMillis()).isBetween(1L, 3_600_000L);
                    assertThat(counter).hasToString("count=2 endsInMillis=" + counter.endsInMillis());
                }
                assertThat(tollgate.stats().total()).isEqualTo(2);
                assertThat(tollgate.clear(rule, "\ud83d\ude00")).isTrue();
                assertThat(tollgate.counter(rule, "\ud83d\ude00")).isNull();
                assertThat(tollgate.acquire(rule, "\ud83d\ude00").count()).isEqualTo(1);
                assertThat(tollgate.counter(rule, null)).isNull();
                assertThat(tollgate.clear(rule, " ")).isFalse();
                assertThatNullPointerException().isThrownBy(() -> tollgate.counter(null, "u1")).withMessageContaining("rule");
                assertThat(tollgate.stats().storeFault()).isNull();
                assertThat(tollgate.stats().connects()).isEqualTo(tollgate == redis ? 1 : 0);
            }
            Rule rule = redis.rule("wms", "Order.list").interval(3600).limit(1).register();
            assertThatIllegalArgumentException().isThrownBy(() -> memory.clear(rule, "u1")).withMessageContaining("another");
            redis.close();
            assertThatIllegalStateException().isThrownBy(() -> redis.counter(rule, "u1")).withMessageContaining("closed");
        }
    }

    @Test
    void aStoreThatIsAwaySaysWhy() {
        try (Tollgate tollgate = Tollgate.builder().url("redis://127.0.0.1:1").connectTimeout(LONG).open()) {
            Rule rule = tollgate.rule("wms", "Order.list").register();
            assertThat(tollgate.stats().isStoreUp()).isFalse();
            assertThat(tollgate.stats().storeFault()).contains("127.0.0.1:1");
            assertThat(tollgate.stats().connects()).isZero();
            assertThatExceptionOfType(TollgateException.class).isThrownBy(() -> tollgate.counter(rule, "u1"))
                    .withMessageContaining("127.0.0.1:1");
            assertThatExceptionOfType(TollgateException.class).isThrownBy(() -> tollgate.clear(rule, "u1"));
        }
    }
}
