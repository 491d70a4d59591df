package io.tollgate.spring.record;

import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Options;
import org.apache.ibatis.annotations.Param;

/** The insert as a MyBatis mapper, for hosts whose plug-ins are to see it. {@link MyBatisInterceptionRecorder} registers and calls it. */
public interface InterceptionMapper {
    /**
     * Inserts a row, within 5 seconds. It cuts and cleans nothing.
     *
     * @param table the table; it stands in the statement as it is
     * @param row   values that the columns take
     * @return 1
     */
    @Insert("INSERT INTO ${table} (" + InterceptionTable.COLUMNS + ") VALUES ("
            + "#{row.time,typeHandler=io.tollgate.spring.record.UtcTimeTypeHandler}, #{row.user,jdbcType=VARCHAR}, "
            + "#{row.module,jdbcType=VARCHAR}, #{row.rule,jdbcType=VARCHAR}, #{row.method,jdbcType=VARCHAR}, "
            + "#{row.httpMethod,jdbcType=VARCHAR}, #{row.uri,jdbcType=VARCHAR}, #{row.interval}, #{row.limit}, #{row.count}, "
            + "#{row.outcome,jdbcType=VARCHAR}, #{row.client,jdbcType=VARCHAR}, #{row.instance,jdbcType=VARCHAR})")
    @Options(timeout = 5)
    int insert(@Param("table") String table, @Param("row") Interception row);
}
