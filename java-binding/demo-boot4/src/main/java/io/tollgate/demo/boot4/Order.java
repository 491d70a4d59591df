package io.tollgate.demo.boot4;

import java.util.List;

/** An order. */
record Order(String id, String article, int pieces) {
    static final List<Order> SAMPLES = List.of(new Order("o1", "tea", 3), new Order("o2", "salt", 1), new Order("o3", "green tea", 12));
}
