package io.tollgate.spring.record;

class PostgreSqlRecorderTest extends ServerContract {
    @Override
    DatabaseServer server() {
        return new PostgreSqlServer();
    }

    @Override
    String ddl() {
        return "postgresql.sql";
    }

    @Override
    String heading() {
        return "PostgreSQL";
    }
}
