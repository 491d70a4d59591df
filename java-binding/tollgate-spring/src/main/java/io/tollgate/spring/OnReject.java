package io.tollgate.spring;

/** What becomes of a call that is turned away and has no fallback. */
public enum OnReject {
    /** A request is answered in the configured style; a call of another bean throws {@link RateLimitedException}. */
    REJECT,
    /**
     * The call returns the text in place of its own value, as aspects of one's own often do. The method must be able to return a
     * {@code String}, or a future or publisher of one, else the application doesn't start. Needs the aspect, on controllers too.
     */
    RETURN_MESSAGE
}
