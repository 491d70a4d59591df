package io.tollgate.spring.record;

import java.sql.SQLException;
import java.util.Objects;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;

/**
 * Inserts a row for each rejection through a host's MyBatis (3.4 and later, MyBatis-Plus too), in a session of its own that is
 * committed at once. The host's plug-ins see the insert; what they add to it, such as a tenant's column, the table must have.
 * Rows are made fit as by {@link JdbcInterceptionRecorder}. Thread-safe.
 *
 * <pre>{@code
 * InterceptionQueue records = new InterceptionQueue(new MyBatisInterceptionRecorder(sqlSessionFactory));
 * }</pre>
 */
public final class MyBatisInterceptionRecorder implements InterceptionRecorder {
    private final SqlSessionFactory factory;
    private final String table;

    /**
     * Inserts into {@value InterceptionTable#NAME}.
     *
     * @param factory the host's; {@link InterceptionMapper} is added to its configuration where it isn't there yet
     */
    public MyBatisInterceptionRecorder(SqlSessionFactory factory) {
        this(factory, InterceptionTable.NAME);
    }

    /**
     * Inserts into a table of another name.
     *
     * @param factory the host's; {@link InterceptionMapper} is added to its configuration where it isn't there yet
     * @param table   its name, with a schema and a dot before it where one is needed; it stands unquoted in the statement
     * @throws IllegalArgumentException where the name isn't a plain identifier
     */
    public MyBatisInterceptionRecorder(SqlSessionFactory factory, String table) {
        this.factory = Objects.requireNonNull(factory, "factory");
        this.table = InterceptionTable.checked(table);
        Configuration configuration = factory.getConfiguration();
        synchronized (configuration) {
            if (!configuration.hasMapper(InterceptionMapper.class)) {
                configuration.addMapper(InterceptionMapper.class);
            }
        }
    }

    @Override
    public void record(Interception interception) {
        Interception row = InterceptionTable.fit(interception);
        // Not a session with auto-commit: Spring's transactions leave that to the pool, and would then leave the row uncommitted.
        try (SqlSession session = factory.openSession(ExecutorType.SIMPLE, false)) {
            try {
                session.getMapper(InterceptionMapper.class).insert(table, row);
                session.commit(true);
            } catch (RuntimeException e) {
                throw explained(e, session);
            }
        }
    }

    private RuntimeException explained(RuntimeException failure, SqlSession session) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException) {
                String remedy = InterceptionTable.remedy((SQLException) cause, table, session.getConnection());
                return remedy == null ? failure : new IllegalStateException(remedy, failure);
            }
        }
        return failure;
    }

    @Override
    public String toString() {
        return "MyBatis, table " + table;
    }
}
