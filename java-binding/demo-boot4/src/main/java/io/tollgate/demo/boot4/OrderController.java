package io.tollgate.demo.boot4;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What can be asked too often, each in its own way. */
@RestController
class OrderController {
    private final PriceService prices;

    OrderController(PriceService prices) {
        this.prices = prices;
    }

    /** Two windows in one round trip: once in 3 seconds, and five times a minute. */
    @RateLimit(interval = 3)
    @RateLimit(rule = "OrderController.search.minute", interval = 60, limit = 5)
    @GetMapping("/api/orders")
    List<Order> search(@RequestParam(defaultValue = "") String text) {
        return Order.SAMPLES.stream().filter(order -> order.article().contains(text)).toList();
    }

    /** Each order can be cancelled once in 10 seconds, whoever asks. */
    @RateLimit(key = "#id", interval = 10)
    @PostMapping("/api/orders/{id}/cancel")
    Order cancel(@PathVariable String id) {
        return new Order(id, "cancelled", 0);
    }

    /** Ten pages a minute for each address. */
    @RateLimit(by = LimitBy.IP, interval = 60, limit = 10)
    @GetMapping("/api/articles")
    List<String> articles() {
        return Order.SAMPLES.stream().map(Order::article).toList();
    }

    /** The service behind it is limited, and has something else to say then. */
    @GetMapping("/api/prices/{article}")
    Price price(@PathVariable String article) {
        return prices.of(article);
    }
}
