package io.tollgate.spring.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tables of databases that can't be had here, as far as H2 speaks their dialects. */
class OtherDatabasesTest {
    @ParameterizedTest
    @CsvSource({"oracle.sql, Oracle", "sqlserver.sql, MSSQLServer"})
    void theTableTakesRows(String ddl, String mode) throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:mem:" + mode + ";MODE=" + mode + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
            List<String> statements = RecorderContract.statements(RecorderContract.resource(ddl));
            assertThat(statements).hasSize(3);
            for (String sql : statements) {
                statement.execute(sql);
            }
            InterceptionRecorder recorder = new JdbcInterceptionRecorder(dataSource);
            recorder.record(RecorderContract.row().build());
            // Empty texts are NULL in Oracle: a required column must take what is written all the same.
            recorder.record(RecorderContract.row().user("").request("", "", "").instance("").method("").build());
            try (ResultSet rows = statement.executeQuery("SELECT COUNT(*), COUNT(user_id) FROM tollgate_interception")) {
                rows.next();
                assertThat(rows.getInt(1)).isEqualTo(2);
                assertThat(rows.getInt(2)).isEqualTo(1);
            }
            statement.execute("SHUTDOWN");
        }
    }
}
