package io.tollgate.spring.record;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * Inserts a row for each rejection, by plain JDBC over any {@link DataSource}. Texts are cut to the columns' widths, U+FFFD
 * stands where a database refuses a character, empty texts are NULL, times are UTC whatever the zone of JVM and session.
 * The table comes from one of the {@code .sql} files beside this class. Thread-safe.
 *
 * <pre>{@code
 * InterceptionQueue records = new InterceptionQueue(new JdbcInterceptionRecorder(dataSource));
 * }</pre>
 */
public final class JdbcInterceptionRecorder implements InterceptionRecorder {
    /** Where rows go unless another table is named. */
    public static final String DEFAULT_TABLE = InterceptionTable.NAME;
    /** How long an insert may take unless said otherwise: 5 seconds. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);

    private final DataSource dataSource;
    private final String table;
    private final String insert;
    private final int timeoutSeconds;

    /**
     * Inserts into {@value InterceptionTable#NAME}, within 5 seconds.
     *
     * @param dataSource gives connections, in whatever mode of commit
     */
    public JdbcInterceptionRecorder(DataSource dataSource) {
        this(dataSource, DEFAULT_TABLE, DEFAULT_TIMEOUT);
    }

    /**
     * Inserts into a table of another name.
     *
     * @param dataSource gives connections, in whatever mode of commit
     * @param table      its name, with a schema and a dot before it where one is needed; it stands unquoted in the statement
     * @param timeout    for the statement, 1 s to 1 h, in whole seconds, which the driver keeps
     * @throws IllegalArgumentException where the name isn't a plain identifier, or the timeout is out of range
     */
    public JdbcInterceptionRecorder(DataSource dataSource, String table, Duration timeout) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        this.table = InterceptionTable.checked(table);
        this.insert = "INSERT INTO " + table + " (" + InterceptionTable.COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        long seconds = timeout.getSeconds();
        if (seconds < 1 || seconds > 3_600) {
            throw new IllegalArgumentException("a timeout of " + timeout + " for records is out of range: give 1 s to 1 h");
        }
        this.timeoutSeconds = (int) seconds;
    }

    @Override
    public void record(Interception interception) throws SQLException {
        Interception row = InterceptionTable.fit(interception);
        try (Connection connection = dataSource.getConnection()) {
            boolean commits = !connection.getAutoCommit();
            try (PreparedStatement statement = connection.prepareStatement(insert)) {
                statement.setQueryTimeout(timeoutSeconds);
                bind(statement, row);
                statement.executeUpdate();
                if (commits) {
                    connection.commit();
                }
            } catch (SQLException e) {
                rollBack(connection, commits, e);
                throw explained(e, connection);
            } catch (RuntimeException | Error e) {
                rollBack(connection, commits, e);
                throw e;
            }
        }
    }

    private static void bind(PreparedStatement statement, Interception row) throws SQLException {
        InterceptionTable.bindUtc(statement, 1, row.time());
        statement.setString(2, row.user());
        statement.setString(3, row.module());
        statement.setString(4, row.rule());
        statement.setString(5, row.method());
        statement.setString(6, row.httpMethod());
        statement.setString(7, row.uri());
        statement.setLong(8, row.interval());
        statement.setLong(9, row.limit());
        statement.setLong(10, row.count());
        statement.setString(11, row.outcome().name());
        statement.setString(12, row.client());
        statement.setString(13, row.instance());
    }

    /** Not every pool does it for a connection that comes back. */
    private static void rollBack(Connection connection, boolean commits, Throwable failure) {
        if (commits) {
            try {
                connection.rollback();
            } catch (SQLException | RuntimeException e) {
                failure.addSuppressed(e);
            }
        }
    }

    private SQLException explained(SQLException failure, Connection connection) {
        String remedy = InterceptionTable.remedy(failure, table, connection);
        return remedy == null ? failure : new SQLException(remedy, failure.getSQLState(), failure.getErrorCode(), failure);
    }

    @Override
    public String toString() {
        return "JDBC, table " + table;
    }
}
