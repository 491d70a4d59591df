package io.tollgate.spring.record;

import io.tollgate.Decision;
import io.tollgate.spring.DecisionReport;
import io.tollgate.spring.GuardedRequest;
import io.tollgate.spring.GuardedRule;
import io.tollgate.spring.RateLimitObserver;
import java.lang.reflect.Method;
import java.time.Clock;
import java.util.Objects;
import java.util.function.Function;

/** Makes a row of each decision that it hears of, and leaves it in a queue: the recorder of a {@link DecisionReport}. Thread-safe. */
public final class InterceptionObserver implements RateLimitObserver {
    private final InterceptionQueue queue;
    private final Function<GuardedRequest, String> client;
    private final String instance;
    private final Clock clock;

    /**
     * An observer.
     *
     * @param queue    takes the rows; stays the caller's to close
     * @param client   says which address a request comes from; may answer null
     * @param instance names this process; may be null
     * @param clock    tells the time of a row
     */
    public InterceptionObserver(InterceptionQueue queue, Function<GuardedRequest, String> client, String instance, Clock clock) {
        this.queue = Objects.requireNonNull(queue, "queue");
        this.client = Objects.requireNonNull(client, "client");
        this.instance = instance;
        this.clock = Objects.requireNonNull(clock, "clock");
    }

    @Override
    public void decided(GuardedRule rule, Decision decision, String identity, GuardedRequest request) {
        Method method = rule.guarded().method();
        queue.offer(Interception.of(clock.instant(), rule.module(), rule.rule(), decision.outcome())
                .user(identity)
                .method(rule.guarded().type().getName() + '.' + method.getName())
                .request(request.httpMethod(), request.uri(), client.apply(request))
                .window(decision.interval(), decision.limit(), decision.count())
                .instance(instance)
                .build());
    }
}
