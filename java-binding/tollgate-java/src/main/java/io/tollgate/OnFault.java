package io.tollgate;

/** What happens to requests while the store can't answer; set for a limiter, and for single rules where they differ. */
public enum OnFault {
    /** Let them through. The default: a limiter is a guest and must not take its host down. */
    ALLOW(1),
    /** Reject them: for actions that are worse unlimited than unavailable. */
    DENY(2),
    /** Count in this process' memory until the store is back. */
    LOCAL(3);

    private final int code;

    OnFault(int code) {
        this.code = code;
    }

    /** The policy's number for the native side; 0 there means "not said". */
    static int code(OnFault policy) {
        return policy == null ? 0 : policy.code;
    }
}
