package io.tollgate.spring.record;

/** MySQL's own driver, with settings of old estates: a zone that isn't the server's, and no word about an encoding. */
class MySqlDriverRecorderTest extends ServerContract {
    @Override
    DatabaseServer server() {
        return new MariaDbServer("mysql", "&useSSL=false&serverTimezone=GMT%2B8");
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
