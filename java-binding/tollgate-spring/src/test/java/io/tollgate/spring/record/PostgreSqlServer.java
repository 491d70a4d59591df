package io.tollgate.spring.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** PostgreSQL, with a time zone of its own that must not come through. */
final class PostgreSqlServer extends DatabaseServer {
    private final String install = program("initdb", "postgresql", folders());
    private final String server = program("postgres", "postgresql", folders());

    private static List<Path> folders() {
        // Debian's aren't on the path.
        try (Stream<Path> versions = Files.list(Paths.get("/usr/lib/postgresql"))) {
            return versions.map(version -> version.resolve("bin")).collect(Collectors.toList());
        } catch (IOException e) {
            return Collections.emptyList();
        }
    }

    @Override
    String url() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=owner";
    }

    @Override
    String adminUrl() {
        return url();
    }

    @Override
    String unprivileged() {
        // Debian's package makes it. The server refuses to be root.
        return "postgres";
    }

    @Override
    void initialize() throws IOException {
        run(asUser(Arrays.asList(install, "-D", directory.resolve("data").toString(), "-U", "owner", "-A", "trust", "-E", "UTF8",
                "--locale=C", "--no-sync")));
    }

    @Override
    List<String> command() {
        return Arrays.asList(server, "-D", directory.resolve("data").toString(), "-p", Integer.toString(port), "-c",
                "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c",
                "timezone=Asia/Tokyo");
    }

    @Override
    DatabaseServer create() {
        super.create();
        try (Connection connection = DriverManager.getConnection(adminUrl()); Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA audit");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        return this;
    }
}
