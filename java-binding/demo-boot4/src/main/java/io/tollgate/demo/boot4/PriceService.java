package io.tollgate.demo.boot4;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimited;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Service;

/** Prices from a supplier who lets all of us together ask twice in 10 seconds. */
@Service
class PriceService {
    private final Map<String, Price> known = new ConcurrentHashMap<>();

    @RateLimit(by = LimitBy.GLOBAL, interval = 10, limit = 2, fallback = "lastKnown")
    Price of(String article) {
        Price price = new Price(article, 100 + Math.abs(article.hashCode() % 900), "supplier");
        known.put(article, price);
        return price;
    }

    private Price lastKnown(String article, RateLimited limited) {
        Price last = known.get(article);
        return new Price(article, last == null ? -1 : last.cents(), "last known, ask again in " + limited.decision().resetAfterMillis() + " ms");
    }
}
