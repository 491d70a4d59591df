package io.tollgate.spring.record;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TimeZone;
import java.util.regex.Pattern;

/** What is known of the table: its columns, as the DDL files beside this class have them, and what its absence looks like. */
final class InterceptionTable {
    static final String NAME = "tollgate_interception";
    static final String COLUMNS = "time_utc, user_id, module_name, rule_name, method_name, http_method, uri, "
            + "interval_seconds, hit_limit, hit_count, outcome, client_address, instance_name";

    private static final Pattern IDENTIFIER = Pattern.compile("([A-Za-z_][A-Za-z0-9_$]{0,127}\\.)?[A-Za-z_][A-Za-z0-9_$]{0,127}");
    private static final DateTimeFormatter MYSQL_TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final String FOLDER = "io/tollgate/spring/record/";
    /** SQL states of a missing table, or column: MySQL, MariaDB and H2; PostgreSQL; SQL Server. */
    private static final Set<String> MISFIT_STATES = new HashSet<>(Arrays.asList(
            "42S02", "42S03", "42S04", "42S22", "42P01", "42703", "S0002", "S0022"));

    private InterceptionTable() {}

    static String checked(String name) {
        if (name == null || !IDENTIFIER.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + name + "' can't be the table of records: use letters, digits, _ and $, "
                    + "no digit first, with a schema and a dot before it where one is needed, as in audit." + NAME);
        }
        return name;
    }

    /** A row whose texts the columns take. */
    static Interception fit(Interception row) {
        return row.copy(Texts.fit(row.module(), 128), Texts.fit(row.rule(), 256))
                .user(Texts.fit(row.user(), 128))
                .method(Texts.fit(row.method(), 400))
                .request(Texts.fit(row.httpMethod(), 16), Texts.fit(row.uri(), 1_000), Texts.fit(row.client(), 64))
                .instance(Texts.fit(row.instance(), 128))
                .build();
    }

    /** Binds a time to a column without a zone, as UTC. */
    static void bindUtc(PreparedStatement statement, int index, Instant time) throws SQLException {
        if (time == null) {
            statement.setNull(index, Types.TIMESTAMP);
            return;
        }
        if (isMySql(product(statement.getConnection()))) {
            // Its drivers shift times between zones in ways that differ by version and setting, and some write a Thai locale's year.
            statement.setString(index, MYSQL_TIME.format(time));
        } else {
            statement.setTimestamp(index, Timestamp.from(time), utc());
        }
    }

    /** Gregorian whatever the locale: a Buddhist calendar's year is another. New each time, since drivers set it. */
    static Calendar utc() {
        return new GregorianCalendar(TimeZone.getTimeZone("UTC"), Locale.ROOT);
    }

    /** What to do about a failure that comes from the table itself; null for any other. */
    static String remedy(SQLException failure, String table, Connection connection) {
        // Oracle has one state for many things; its codes are of a missing table and a missing column.
        boolean isOracle = "42000".equals(failure.getSQLState()) && (failure.getErrorCode() == 942 || failure.getErrorCode() == 904);
        if (!isOracle && !MISFIT_STATES.contains(failure.getSQLState())) {
            return null;
        }
        return "the table " + table + " is missing or has other columns: create it with " + FOLDER + ddl(connection)
                + " from tollgate-spring's jar, or set tollgate.records.enabled=false";
    }

    private static String ddl(Connection connection) {
        String product = product(connection);
        return isMySql(product) ? "mysql.sql"
                : product.contains("postgres") ? "postgresql.sql"
                : product.contains("oracle") ? "oracle.sql"
                : product.contains("microsoft") ? "sqlserver.sql"
                : product.equals("h2") ? "h2.sql" : "*.sql (the nearest to your database)";
    }

    private static boolean isMySql(String product) {
        return product.contains("mysql") || product.contains("mariadb");
    }

    private static String product(Connection connection) {
        try {
            return connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
        } catch (SQLException | RuntimeException e) {
            return "";
        }
    }
}
