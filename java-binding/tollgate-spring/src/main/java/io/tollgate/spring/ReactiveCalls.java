package io.tollgate.spring;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.util.ClassUtils;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods that return a publisher: nobody waits for their decision. Used only where Reactor is there. */
final class ReactiveCalls {
    private static final boolean IS_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux", ReactiveCalls.class.getClassLoader());

    private ReactiveCalls() {}

    /** Whether it is Reactor's Mono or Flux. */
    static boolean isPublisher(Class<?> type) {
        return IS_PRESENT && Types.isPublisher(type);
    }

    static Function<String, Object> holder(Class<?> type) {
        return Types.holder(type);
    }

    /**
     * The method's own publisher once the decision allows it, else what {@code rejected} makes of the rejection.
     *
     * @param decision was asked for by now, and is counted however often the result is subscribed to
     */
    static Object when(
            Class<?> type, CompletableFuture<RateLimited> decision, Supplier<Object> called, Function<RateLimited, Object> rejected) {
        return Types.when(type, decision, called, rejected);
    }

    /** What a publisher's callback throws for the publisher to fail with it. */
    static RuntimeException propagate(Throwable failure) {
        return Exceptions.propagate(failure);
    }

    /** Apart, so that the library is looked for only when it is there. */
    private static final class Types {
        static boolean isPublisher(Class<?> type) {
            return type == Mono.class || type == Flux.class;
        }

        static Function<String, Object> holder(Class<?> type) {
            return type == Mono.class ? Mono::just : Flux::just;
        }

        static Object when(
                Class<?> type, CompletableFuture<RateLimited> decision, Supplier<Object> called, Function<RateLimited, Object> rejected) {
            // An allowed call completes with null, which a Mono takes for nothing.
            Mono<Boolean> isAllowed = Mono.fromFuture(decision.thenApply(limited -> limited == null));
            if (type == Mono.class) {
                return isAllowed.flatMap(allowed -> (Mono<?>) (allowed ? called.get() : rejected.apply(decision.join())));
            }
            return isAllowed.flatMapMany(allowed -> (Flux<?>) (allowed ? called.get() : rejected.apply(decision.join())));
        }
    }
}
