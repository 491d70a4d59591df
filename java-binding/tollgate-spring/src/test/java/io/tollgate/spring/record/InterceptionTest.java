package io.tollgate.spring.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tollgate.Outcome;
import java.time.Duration;
import java.time.Instant;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InterceptionTest {
    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.678901Z");

    @Test
    void aRowIsCutToMillisecondsAndBounded() {
        StringBuilder longText = new StringBuilder("x");
        for (int i = 0; i < 4_000; i++) {
            longText.append("\uD83D\uDE00");
        }
        Interception row = Interception.of(TIME, "wms", "Order.list", Outcome.LIMITED).user(longText.toString()).window(3, 1, 2).build();
        assertThat(row.time()).isEqualTo(Instant.parse("2026-01-02T03:04:05.678Z"));
        assertThat(row.user()).as("never half a pair").hasSize(Interception.MAX_TEXT - 1).isEqualTo(longText.substring(0, 3_999));
        assertThat(row.method()).isNull();
        assertThat(row.toString()).contains("LIMITED", "rule=wms.Order.list", "count=2 limit=1 interval=3");
    }

    @Test
    void whatARowCannotBeIsRefused() {
        assertThatThrownBy(() -> Interception.of(TIME, "", "r", Outcome.LIMITED)).hasMessageContaining("needs a module");
        assertThatThrownBy(() -> Interception.of(TIME, "m", null, Outcome.LIMITED)).hasMessageContaining("needs a rule");
        assertThatThrownBy(() -> Interception.of(TIME, "m", "r", null)).hasMessageContaining("outcome");
        Interception.Builder row = Interception.of(TIME, "m", "r", Outcome.LIMITED);
        for (long[] window : new long[][] {{-1, 0, 0}, {31_536_001, 0, 0}, {1, -1, 0}, {1, 0, -1}}) {
            assertThatThrownBy(() -> row.window(window[0], window[1], window[2])).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("window of " + window[0] + " s, limit " + window[1] + ", count " + window[2]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "1a", "a.b.c", ".a", "a.", "a;DROP TABLE b", "a\"", "`a`", "a--", "\u8868", "${a}", "a\n"})
    void aTableThatIsNoIdentifierIsRefused(String table) {
        DataSource dataSource = new JdbcDataSource();
        assertThatThrownBy(() -> new JdbcInterceptionRecorder(dataSource, table, Duration.ofSeconds(5)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("'" + table + "' can't be the table of records");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 999, 3_601_000, -5})
    void aTimeoutOutOfRangeIsRefused(long millis) {
        assertThatThrownBy(() -> new JdbcInterceptionRecorder(new JdbcDataSource(), "t", Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 s to 1 h");
    }
}
