package io.tollgate.demo;

import java.util.List;
import java.util.Map;

/** What EasyUI's datagrid reads: {@code {"total", "rows", "footer"}}. */
public final class DataGrid {

    private final long total;
    private final List<Map<String, Object>> rows;
    private final List<Map<String, Object>> footer;

    DataGrid(long total, List<Map<String, Object>> rows, List<Map<String, Object>> footer) {
        this.total = total;
        this.rows = rows;
        this.footer = footer;
    }

    public long getTotal() {
        return total;
    }

    public List<Map<String, Object>> getRows() {
        return rows;
    }

    public List<Map<String, Object>> getFooter() {
        return footer;
    }
}
