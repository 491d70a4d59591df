package io.tollgate;

import java.util.List;

/** What a limiter said about one request. Immutable. */
public final class Decision {
    private static final int RECORD = 1 << 16;
    /** Ranks among several decisions: counted and passed; not counted. */
    private static final int WITHIN = 3;
    private static final int UNCOUNTED = 5;

    private final Outcome outcome;
    private final FaultKind fault;
    private final boolean record;
    private final long interval;
    private final long count;
    private final long limit;
    private final long remaining;
    private final long resetAfterMillis;

    /** From the native answer: outcome in bits 0 to 7 of {@code head}, fault in 8 to 15, "record" in 16, interval from 32 on. */
    Decision(long head, long count, long limit, long remaining, long resetAfterMillis) {
        this.outcome = Outcome.of((int) head & 0xff);
        this.fault = FaultKind.of((int) head >> 8 & 0xff);
        this.record = (head & RECORD) != 0;
        this.interval = head >>> 32;
        this.count = count;
        this.limit = limit;
        this.remaining = remaining;
        this.resetAfterMillis = resetAfterMillis;
    }

    /**
     * How the request was decided.
     *
     * @return never null
     */
    public Outcome outcome() {
        return outcome;
    }

    /**
     * Whether the request passes.
     *
     * @return what {@link Outcome#isAllowed()} says of {@link #outcome()}
     */
    public boolean isAllowed() {
        return outcome.isAllowed();
    }

    /**
     * The user's hits in this window, this one included, rejected ones too.
     *
     * @return 0 where nothing was counted, at most {@link Long#MAX_VALUE}
     */
    public long count() {
        return count;
    }

    /**
     * The window that this request was counted in, an operator's value if there is one.
     *
     * @return seconds, 1 to 31,536,000
     */
    public long interval() {
        return interval;
    }

    /**
     * The limit that this request was held against, an operator's value if there is one.
     *
     * @return hits in a window, 0 or more
     */
    public long limit() {
        return limit;
    }

    /**
     * How many more hits pass in this window.
     *
     * @return 0 or more
     */
    public long remaining() {
        return remaining;
    }

    /**
     * The time until the window ends.
     *
     * @return milliseconds, 0 where nothing was counted
     */
    public long resetAfterMillis() {
        return resetAfterMillis;
    }

    /**
     * Whether this rejection belongs into the host's records: the request was over the limit and {@code log.check} isn't off.
     *
     * @return true to record it
     */
    public boolean shouldRecord() {
        return record;
    }

    /**
     * Why the fault policy decided.
     *
     * @return null where the store answered
     */
    public FaultKind fault() {
        return fault;
    }

    /**
     * Which of several decisions on one request answers it.
     *
     * <p>Among those that turn away {@link Outcome#LIMITED} comes before {@link Outcome#FAULT_LOCAL_LIMITED}, and that before {@link
     * Outcome#FAULT_DENIED}: what the caller did is told before what befell the store. Of several alike the one that lasts longest
     * answers, so that whoever comes back then isn't turned away by it again. Where all let pass, the one with the fewest hits left
     * answers, of several the one that lasts longest; one over the limit of a rule in {@code shadow}, which limits nobody, only
     * where nothing else was counted.
     *
     * @param decisions those of {@link Tollgate#acquireAll(List, String)}
     * @return its index, -1 where nobody was turned away and nothing was counted
     */
    public static int tightest(List<Decision> decisions) {
        int tightest = -1;
        Decision found = null;
        int at = 0;
        for (Decision decision : decisions) {
            if (decision.rank() < UNCOUNTED && (found == null || decision.isTighterThan(found))) {
                tightest = at;
                found = decision;
            }
            at++;
        }
        return tightest;
    }

    private boolean isTighterThan(Decision other) {
        if (rank() != other.rank()) {
            return rank() < other.rank();
        }
        if (rank() == WITHIN && remaining != other.remaining) {
            return remaining < other.remaining;
        }
        return resetAfterMillis > other.resetAfterMillis;
    }

    private int rank() {
        switch (outcome) {
            case LIMITED:
                return 0;
            case FAULT_LOCAL_LIMITED:
                return 1;
            case FAULT_DENIED:
                return 2;
            default:
                return count == 0 ? UNCOUNTED : count <= limit ? WITHIN : WITHIN + 1;
        }
    }

    @Override
    public String toString() {
        return outcome + (fault == null ? "" : " (" + fault + ')') + " count=" + count + " limit=" + limit + " remaining="
                + remaining + " resetAfterMillis=" + resetAfterMillis;
    }
}
