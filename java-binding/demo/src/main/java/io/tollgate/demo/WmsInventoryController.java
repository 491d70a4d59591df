package io.tollgate.demo;

import java.util.List;
import java.util.Map;

import io.tollgate.spring.RateLimit;
import org.springframework.validation.BindException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.RestController;

/** The inventory operation log. */
@RestController
@RequestMapping("/inventory")
public class WmsInventoryController {

    private final InventoryOpLogDao log;

    public WmsInventoryController(InventoryOpLogDao log) {
        this.log = log;
    }

    /** One page of the log and its totals, which nobody can afford twice in a row: hence the limit. */
    @RateLimit(interval = 3)
    @RequestMapping(path = "/opLogList", method = {RequestMethod.GET, RequestMethod.POST})
    public DataGrid queryInventoryOpLogList(OpLogQuery query) {
        query.check();
        return new DataGrid(log.count(query), log.page(query), log.totals(query));
    }

    /** How much there is, warehouse by warehouse. Cheap, hence unguarded. */
    @GetMapping("/summary")
    public List<Map<String, Object>> summary() {
        return log.summary();
    }

    /** What can't be answered has the shape that every page of this system understands. */
    @ExceptionHandler
    Failure refused(IllegalArgumentException cause) {
        return new Failure(cause.getMessage());
    }

    @ExceptionHandler
    Failure refused(BindException cause) {
        return new Failure(cause.getFieldErrors().stream()
                .map(error -> error.getField() + ": '" + error.getRejectedValue() + "' is not a whole number")
                .findFirst().orElse(cause.getMessage()));
    }

    /** {@code {"error": text, "successful": 0}}. */
    static final class Failure {
        private final String error;

        Failure(String error) {
            this.error = error;
        }

        public String getError() {
            return error;
        }

        public int getSuccessful() {
            return 0;
        }
    }
}
