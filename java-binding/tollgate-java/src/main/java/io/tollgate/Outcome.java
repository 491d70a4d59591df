package io.tollgate;

/** How a request was decided. The names are the same in logs, metrics, records and the other languages. */
public enum Outcome {
    /** Inside the limit: passes. */
    ALLOWED(0, true),
    /** Over the limit: rejected until the window ends. */
    LIMITED(1, false),
    /** Over the limit of a rule whose switch says {@code shadow}: counted, told, let through. */
    SHADOWED(2, true),
    /** The rule's switch is off: passes, not counted. */
    OFF(3, true),
    /** Nobody to count for (a null, blank, {@code null} or {@code undefined} user): passes, not counted. */
    NO_IDENTITY(4, true),
    /** The store failed and the fault policy is {@link OnFault#ALLOW}: passes. */
    FAULT_ALLOWED(5, true),
    /** The store failed and the fault policy is {@link OnFault#DENY}: rejected. */
    FAULT_DENIED(6, false),
    /** The store failed, the policy is {@link OnFault#LOCAL} and this process' own count is inside the limit: passes. */
    FAULT_LOCAL_ALLOWED(7, true),
    /** The store failed, the policy is {@link OnFault#LOCAL} and this process' own count is over the limit: rejected. */
    FAULT_LOCAL_LIMITED(8, false);

    private static final Outcome[] ALL = values();

    private final int code;
    private final boolean allowed;

    Outcome(int code, boolean allowed) {
        this.code = code;
        this.allowed = allowed;
    }

    /**
     * The number that stands for this outcome in the C interface; never reused.
     *
     * @return 0 to 8
     */
    public int code() {
        return code;
    }

    /**
     * Whether a request with this outcome passes.
     *
     * @return true for all but {@link #LIMITED}, {@link #FAULT_DENIED} and {@link #FAULT_LOCAL_LIMITED}
     */
    public boolean isAllowed() {
        return allowed;
    }

    static Outcome of(int code) {
        // Declared in the order of their codes, which a test pins.
        return ALL[code];
    }
}
