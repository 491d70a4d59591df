package io.tollgate.spring.record;

class MariaDbRecorderTest extends ServerContract {
    @Override
    DatabaseServer server() {
        return new MariaDbServer();
    }

    @Override
    String ddl() {
        return "mysql.sql";
    }

    @Override
    String heading() {
        return "MySQL, MariaDB";
    }

    @Override
    String textType() {
        return "CHAR(40)";
    }
}
