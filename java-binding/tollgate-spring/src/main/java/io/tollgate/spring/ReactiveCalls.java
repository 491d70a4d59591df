package io.tollgate.spring;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import org.springframework.util.ClassUtils;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/** Methods that return a publisher: nobody waits for their decision. Used only where Reactor is there. */
final class ReactiveCalls {
    private static final boolean IS_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux", ReactiveCalls.class.getClassLoader());

    private ReactiveCalls() {}

    /** Whether it is Reactor's Mono or Flux, or the interface of both. */
    static boolean isPublisher(Class<?> type) {
        return IS_PRESENT && Types.isPublisher(type);
    }

    /** Whether the current thread is one that others wait for, such as a server's event loop. */
    static boolean isNonBlockingThread() {
        return IS_PRESENT && Schedulers.isInNonBlockingThread();
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

    /**
     * The same, with a decision that the first subscriber asks for: only a subscription knows the request.
     *
     * @param decide asks; told of no request where there is none
     */
    static Object whenSubscribed(Class<?> type, GuardedMethod method, Function<GuardedRequest, CompletableFuture<RateLimited>> decide,
            Supplier<Object> called, Function<RateLimited, Object> rejected) {
        return Types.whenSubscribed(type, method, decide, called, rejected);
    }

    private static CompletableFuture<RateLimited> once(AtomicReference<CompletableFuture<RateLimited>> asked,
            Function<GuardedRequest, CompletableFuture<RateLimited>> decide, GuardedRequest request) {
        CompletableFuture<RateLimited> answer = new CompletableFuture<>();
        if (!asked.compareAndSet(null, answer)) {
            return asked.get();
        }
        decide.apply(request).whenComplete((limited, failure) -> answer.complete(limited));
        return answer;
    }

    /** What a publisher's callback throws for the publisher to fail with it. */
    static RuntimeException propagate(Throwable failure) {
        return Exceptions.propagate(failure);
    }

    /** Apart, with all that a verifier would look the library up for: most hosts don't have it. */
    private static final class Types {
        static boolean isPublisher(Class<?> type) {
            return type == Mono.class || type == Flux.class || type == Publisher.class;
        }

        static Function<String, Object> holder(Class<?> type) {
            return type == Flux.class ? Flux::just : Mono::just;
        }

        static Object when(
                Class<?> type, CompletableFuture<RateLimited> decision, Supplier<Object> called, Function<RateLimited, Object> rejected) {
            return when(type, Mono.defer(() -> await(decision)), called, rejected);
        }

        static Object whenSubscribed(Class<?> type, GuardedMethod method,
                Function<GuardedRequest, CompletableFuture<RateLimited>> decide, Supplier<Object> called,
                Function<RateLimited, Object> rejected) {
            AtomicReference<CompletableFuture<RateLimited>> asked = new AtomicReference<>();
            return when(type, new FromContext<>(context -> {
                SubscribedRequest source = context.getOrDefault(SubscribedRequest.KEY, null);
                Mono<GuardedRequest> request = source == null ? Mono.just(NoRequest.INSTANCE) : source.collect(method);
                return asked.get() != null ? await(asked.get()) : request.flatMap(found -> await(once(asked, decide, found)));
            }), called, rejected);
        }

        private static Object when(Class<?> type, Mono<Optional<RateLimited>> decision, Supplier<Object> called,
                Function<RateLimited, Object> rejected) {
            Function<Optional<RateLimited>, Object> next = limited -> limited.isPresent() ? rejected.apply(limited.get()) : called.get();
            return type == Mono.class
                    ? decision.flatMap(limited -> (Mono<?>) next.apply(limited))
                    : decision.flatMapMany(limited -> (Publisher<?>) next.apply(limited));
        }

        /** A future of its own for each subscription, since a cancelled one takes its future with it. */
        static Mono<Optional<RateLimited>> await(CompletableFuture<RateLimited> decision) {
            Mono<Optional<RateLimited>> answer = Mono.fromFuture(decision.thenApply(Optional::ofNullable));
            // What follows belongs on a thread like this one, not among those that carry decisions.
            return decision.isDone() || !Schedulers.isInNonBlockingThread() ? answer : answer.publishOn(Schedulers.parallel());
        }

        /** What depends on the subscriber's context. Reactor's own operators for it aren't the same in all versions. */
        static final class FromContext<T> extends Mono<T> {
            private final Function<Context, Mono<T>> source;

            FromContext(Function<Context, Mono<T>> source) {
                this.source = source;
            }

            @Override
            public void subscribe(CoreSubscriber<? super T> subscriber) {
                Mono<T> found;
                try {
                    found = source.apply(subscriber.currentContext());
                } catch (RuntimeException e) {
                    found = Mono.error(e);
                }
                found.subscribe(subscriber);
            }
        }
    }
}
