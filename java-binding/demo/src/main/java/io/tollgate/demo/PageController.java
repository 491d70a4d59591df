package io.tollgate.demo;

import java.util.Collections;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

/** The page of the operation log. */
@Controller
class PageController {

    private final InventoryOpLogDao log;
    private final ObjectMapper json;

    PageController(InventoryOpLogDao log, ObjectMapper json) {
        this.log = log;
        this.json = json;
    }

    /** The first rows come with the page: only the totals are expensive, and those wait for "Query". */
    @GetMapping("/")
    String page(Model model) throws JsonProcessingException {
        OpLogQuery query = new OpLogQuery();
        DataGrid first = new DataGrid(log.count(query), log.page(query), Collections.emptyList());
        // JSON inside <script>: no text in it may close the element.
        model.addAttribute("firstPage", json.writeValueAsString(first).replace("<", "\\u003c"));
        model.addAttribute("warehouses", SampleLog.WAREHOUSES);
        return "oplog";
    }
}
