package io.tollgate.spring.record;

import java.sql.CallableStatement;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import org.apache.ibatis.type.JdbcType;
import org.apache.ibatis.type.TypeHandler;

/** Between an {@link Instant} and a column without a zone that holds UTC, for MyBatis: {@code typeHandler=…UtcTimeTypeHandler}. */
public final class UtcTimeTypeHandler implements TypeHandler<Instant> {
    /** MyBatis makes it. */
    public UtcTimeTypeHandler() {}

    @Override
    public void setParameter(PreparedStatement statement, int index, Instant time, JdbcType type) throws SQLException {
        InterceptionTable.bindUtc(statement, index, time);
    }

    @Override
    public Instant getResult(ResultSet results, String column) throws SQLException {
        return instant(results.getTimestamp(column, InterceptionTable.utc()));
    }

    @Override
    public Instant getResult(ResultSet results, int column) throws SQLException {
        return instant(results.getTimestamp(column, InterceptionTable.utc()));
    }

    @Override
    public Instant getResult(CallableStatement statement, int column) throws SQLException {
        return instant(statement.getTimestamp(column, InterceptionTable.utc()));
    }

    private static Instant instant(Timestamp timestamp) {
        return timestamp == null ? null : timestamp.toInstant();
    }
}
