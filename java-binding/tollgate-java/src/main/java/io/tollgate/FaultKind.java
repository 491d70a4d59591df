package io.tollgate;

/** What went wrong with the store when a decision was left to the fault policy. */
public enum FaultKind {
    /** The request wasn't sent: no connection, or the circuit is open after an earlier fault. */
    UNAVAILABLE(1),
    /** The request was sent and not answered within the deadline; the server may have counted it. */
    TIMEOUT(2),
    /** The server refused the request and didn't count it ({@code OOM}, {@code READONLY}, {@code NOAUTH}…). */
    REFUSED(3),
    /** The connection broke or the reply made no sense; the server may have counted it. */
    PROTOCOL(4);

    private static final FaultKind[] ALL = values();

    private final int code;

    FaultKind(int code) {
        this.code = code;
    }

    /**
     * The number that stands for this kind in the C interface; never reused.
     *
     * @return 1 to 4
     */
    public int code() {
        return code;
    }

    /** The kind with this code, or null for 0, "no fault". */
    static FaultKind of(int code) {
        return code == 0 ? null : ALL[code - 1];
    }
}
