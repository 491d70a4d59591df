package io.tollgate.spring;

import io.tollgate.Decision;

/** A request that was turned away. */
public final class Rejection {
    private final GuardedMethod method;
    private final Decision decision;
    private final GuardedRequest request;
    private final String text;

    Rejection(GuardedMethod method, Decision decision, GuardedRequest request, String text) {
        this.method = method;
        this.decision = decision;
        this.request = request;
        this.text = text;
    }

    /**
     * What it was about to call.
     *
     * @return the method and its rule
     */
    public GuardedMethod method() {
        return method;
    }

    /**
     * The numbers behind it; {@code decision().resetAfterMillis()} tells when to come back.
     *
     * @return the decision
     */
    public Decision decision() {
        return decision;
    }

    /**
     * The request.
     *
     * @return the request
     */
    public GuardedRequest request() {
        return request;
    }

    /**
     * What the user is to read, in the language of the request.
     *
     * @return never null
     */
    public String text() {
        return text;
    }
}
