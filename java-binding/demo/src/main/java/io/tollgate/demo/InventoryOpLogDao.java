package io.tollgate.demo;

import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.springframework.jdbc.core.namedparam.BeanPropertySqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.stereotype.Repository;

/** Reads the operation log. */
@Repository
class InventoryOpLogDao {

    private final NamedParameterJdbcTemplate jdbc;

    InventoryOpLogDao(NamedParameterJdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    long count(OpLogQuery query) {
        Long count = jdbc.queryForObject("SELECT COUNT(*) FROM inventory_op_log l" + where(query), parameters(query), Long.class);
        return count == null ? 0 : count;
    }

    List<Map<String, Object>> page(OpLogQuery query) {
        return jdbc.queryForList(
                "SELECT op_no AS \"opNo\", FORMATDATETIME(op_time, 'yyyy-MM-dd HH:mm:ss') AS \"opTime\", op_type AS \"opType\","
                        + " warehouse AS \"warehouse\", location AS \"location\", material AS \"material\", material_name AS \"materialName\","
                        + " batch AS \"batch\", qty AS \"qty\", unit AS \"unit\", balance AS \"balance\", operator AS \"operator\""
                        + " FROM inventory_op_log l" + where(query)
                        + " ORDER BY " + column(query.getSort()) + " " + query.getOrder() + ", op_no DESC"
                        + " LIMIT :rows OFFSET :offset",
                parameters(query));
    }

    /**
     * What came in, what went out, and what is in stock: the last balance of each material and warehouse. The log has no index for
     * that, so each row looks through the whole table for it. This is the query that brought the old system down.
     */
    List<Map<String, Object>> totals(OpLogQuery query) {
        return jdbc.queryForList(
                "SELECT COALESCE(SUM(CASE WHEN l.qty > 0 THEN l.qty END), 0) AS \"in\","
                        + " COALESCE(SUM(CASE WHEN l.qty < 0 THEN -l.qty END), 0) AS \"out\","
                        + " COALESCE(SUM(CASE WHEN l.op_no = (SELECT MAX(last.op_no) FROM inventory_op_log last"
                        + "   WHERE last.material = l.material AND last.warehouse = l.warehouse) THEN l.balance END), 0) AS \"balance\""
                        + " FROM inventory_op_log l" + where(query),
                parameters(query));
    }

    List<Map<String, Object>> summary() {
        return jdbc.getJdbcOperations().queryForList(
                "SELECT warehouse AS \"warehouse\", COUNT(*) AS \"operations\", COUNT(DISTINCT material) AS \"materials\","
                        + " FORMATDATETIME(MAX(op_time), 'yyyy-MM-dd HH:mm') AS \"lastOperation\""
                        + " FROM inventory_op_log GROUP BY warehouse ORDER BY warehouse");
    }

    private static String where(OpLogQuery query) {
        StringBuilder where = new StringBuilder(" WHERE TRUE");
        if (!query.getWarehouse().isEmpty()) {
            where.append(" AND l.warehouse = :warehouse");
        }
        if (!query.getOpType().isEmpty()) {
            where.append(" AND l.op_type = :opType");
        }
        if (!query.getMaterial().isEmpty()) {
            where.append(" AND LOCATE(LOWER(:material), LOWER(l.material || ' ' || l.material_name)) > 0");
        }
        return where.toString();
    }

    /** {@code opTime} is {@code op_time}; the name was checked against {@link OpLogQuery#SORTABLE}. */
    private static String column(String sort) {
        return "l." + sort.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    private static BeanPropertySqlParameterSource parameters(OpLogQuery query) {
        return new BeanPropertySqlParameterSource(query);
    }
}
