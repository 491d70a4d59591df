package io.tollgate.spring.record;

import java.sql.SQLException;
import org.junit.jupiter.api.BeforeAll;

class H2RecorderTest extends RecorderContract {
    @BeforeAll
    void createTheSchema() throws SQLException {
        execute("CREATE SCHEMA IF NOT EXISTS audit");
    }

    @Override
    String url() {
        return "jdbc:h2:mem:records;DB_CLOSE_DELAY=-1";
    }

    @Override
    String ddl() {
        return "h2.sql";
    }

    @Override
    String heading() {
        return "H2";
    }
}
