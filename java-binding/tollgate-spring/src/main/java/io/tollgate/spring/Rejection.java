package io.tollgate.spring;

import java.util.Objects;

/** A request that was turned away. */
public final class Rejection extends RateLimited {
    private final GuardedRequest request;

    /**
     * A rejection.
     *
     * @param limited what was turned away, and why
     * @param request the request
     */
    public Rejection(RateLimited limited, GuardedRequest request) {
        super(limited.rule(), limited.decision(), limited.user(), limited.text());
        this.request = Objects.requireNonNull(request, "request");
    }

    /**
     * The request.
     *
     * @return the request
     */
    public GuardedRequest request() {
        return request;
    }
}
