package io.tollgate.demo;

import java.util.Arrays;
import java.util.List;

/** What a datagrid asks for: {@code page}, {@code rows}, {@code sort}, {@code order}, and the filters of the toolbar. */
public class OpLogQuery {

    /** The columns that can be sorted by: a request's text never becomes SQL. */
    static final List<String> SORTABLE =
            Arrays.asList("opTime", "opNo", "opType", "warehouse", "location", "material", "batch", "qty", "balance", "operator");

    private static final int MOST_ROWS = 200;

    private int page = 1;
    private int rows = 20;
    private String sort = "opTime";
    private String order = "desc";
    private String warehouse = "";
    private String opType = "";
    private String material = "";

    /** @throws IllegalArgumentException naming the parameter, its value and what is possible */
    void check() {
        require(page >= 1, "page", page, "1 or more");
        require(rows >= 1 && rows <= MOST_ROWS, "rows", rows, "from 1 to " + MOST_ROWS);
        require(SORTABLE.contains(sort), "sort", sort, "one of " + SORTABLE);
        require(order.equals("asc") || order.equals("desc"), "order", order, "asc or desc");
    }

    private static void require(boolean holds, String parameter, Object value, String possible) {
        if (!holds) {
            throw new IllegalArgumentException(parameter + ": '" + value + "' must be " + possible);
        }
    }

    public long getOffset() {
        return (page - 1L) * rows;
    }

    public int getRows() {
        return rows;
    }

    public String getSort() {
        return sort;
    }

    public String getOrder() {
        return order;
    }

    public String getWarehouse() {
        return warehouse;
    }

    public String getOpType() {
        return opType;
    }

    public String getMaterial() {
        return material;
    }

    public void setPage(int page) {
        this.page = page;
    }

    public void setRows(int rows) {
        this.rows = rows;
    }

    public void setSort(String sort) {
        this.sort = sort;
    }

    public void setOrder(String order) {
        this.order = order;
    }

    public void setWarehouse(String warehouse) {
        this.warehouse = warehouse;
    }

    public void setOpType(String opType) {
        this.opType = opType;
    }

    public void setMaterial(String material) {
        this.material = material;
    }
}
