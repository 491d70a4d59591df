package io.tollgate;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Waits for conditions. */
final class Wait {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private Wait() {}

    static void until(BooleanSupplier condition) {
        until(condition::getAsBoolean, (Boolean met) -> met);
    }

    static <T> T until(Supplier<T> source, Predicate<T> condition) {
        long start = System.nanoTime();
        while (true) {
            T value = source.get();
            if (condition.test(value)) {
                return value;
            }
            if (System.nanoTime() - start > PATIENCE) {
                throw new AssertionError("not within a minute; last: " + value);
            }
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
