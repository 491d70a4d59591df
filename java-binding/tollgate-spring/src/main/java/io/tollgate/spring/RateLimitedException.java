package io.tollgate.spring;

/**
 * Thrown in place of a call that came too often. It is the caller's affair, and nothing is wrong: {@link
 * LimiterUnavailableException} is the other case, and neither is ever thrown for the other.
 */
public final class RateLimitedException extends RuntimeException {
    private final transient RateLimited limited;

    RateLimitedException(RateLimited limited) {
        // Without a stack trace: scripts provoke these by the thousand, and the rule's name says where.
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
