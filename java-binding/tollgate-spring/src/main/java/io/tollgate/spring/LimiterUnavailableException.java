package io.tollgate.spring;

/**
 * Thrown in place of a call under the fault policy {@code deny} while the store can't answer. Nobody called too often: compare
 * {@link RateLimitedException}.
 */
public final class LimiterUnavailableException extends RuntimeException {
    private final transient RateLimited limited;

    LimiterUnavailableException(RateLimited limited) {
        super(limited.text(), null, false, false);
        this.limited = limited;
    }

    /**
     * What was turned away, and why.
     *
     * @return null only after serialisation
     */
    public RateLimited limited() {
        return limited;
    }
}
