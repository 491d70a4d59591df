package io.tollgate.spring.record;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** MariaDB, with a time zone and a character set of its own that must not come through. */
final class MariaDbServer extends DatabaseServer {
    private static final List<Path> FOLDERS = Collections.singletonList(Paths.get("/usr/sbin"));

    private final String install = program("mariadb-install-db", "mariadb-server", FOLDERS);
    private final String server = program("mariadbd", "mariadb-server", FOLDERS);

    private final String scheme;
    private final String options;

    MariaDbServer() {
        this("mariadb", "");
    }

    /** Reached by another driver than its own. */
    MariaDbServer(String scheme, String options) {
        this.scheme = scheme;
        this.options = options;
    }

    @Override
    String url() {
        return "jdbc:" + scheme + "://127.0.0.1:" + port + "/records?user=root" + options;
    }

    @Override
    String adminUrl() {
        return "jdbc:" + scheme + "://127.0.0.1:" + port + "/?user=root" + options;
    }

    @Override
    String unprivileged() {
        return null;
    }

    @Override
    void initialize() throws IOException {
        run(Arrays.asList(install, "--no-defaults", "--datadir=" + directory.resolve("data"), "--skip-test-db",
                "--auth-root-authentication-method=normal", "--user=" + System.getProperty("user.name")));
    }

    @Override
    List<String> command() {
        return Arrays.asList(server, "--no-defaults", "--datadir=" + directory.resolve("data"), "--port=" + port,
                "--bind-address=127.0.0.1", "--socket=" + directory.resolve("socket"), "--pid-file=" + directory.resolve("pid"),
                "--user=" + System.getProperty("user.name"), "--skip-name-resolve", "--innodb-buffer-pool-size=16M",
                "--innodb-flush-log-at-trx-commit=2", "--default-time-zone=+09:00", "--character-set-server=latin1");
    }

    @Override
    DatabaseServer create() {
        super.create();
        try (Connection connection = DriverManager.getConnection(adminUrl()); Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE records");
            statement.execute("CREATE DATABASE audit");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        return this;
    }
}
