package io.tollgate;

/** What a limiter has done since it was opened: a snapshot from {@link Tollgate#stats()}. Immutable. */
public final class Stats {
    private static final int OUTCOMES = Outcome.values().length;
    /** Length of the native answer: a total for each outcome, then counters, whether the store is up, rules, and connects. */
    static final int LENGTH = OUTCOMES + 4;

    private final long[] values;
    private final String storeFault;

    Stats(long[] values, String storeFault) {
        this.values = values;
        this.storeFault = storeFault;
    }

    /**
     * Decisions with this outcome.
     *
     * @param outcome which
     * @return 0 or more
     */
    public long count(Outcome outcome) {
        return values[outcome.code()];
    }

    /**
     * All decisions.
     *
     * @return the sum over all outcomes
     */
    public long total() {
        long total = 0;
        for (int i = 0; i < OUTCOMES; i++) {
            total += values[i];
        }
        return total;
    }

    /**
     * Counters that this process holds in memory right now.
     *
     * @return 0 or more
     */
    public long counters() {
        return values[OUTCOMES];
    }

    /**
     * Whether the store can be asked right now.
     *
     * @return false while hits get the fault policy
     */
    public boolean isStoreUp() {
        return values[OUTCOMES + 1] != 0;
    }

    /**
     * Why the store can't be asked right now.
     *
     * @return a sentence for people, never with a password; null while {@link #isStoreUp()}
     */
    public String storeFault() {
        return storeFault;
    }

    /**
     * Connections made to the store so far; one more than it keeps is a reconnect.
     *
     * @return 0 or more
     */
    public long connects() {
        return values[OUTCOMES + 3];
    }

    /**
     * Rules that are registered.
     *
     * @return 0 or more, at most 10,000
     */
    public long rules() {
        return values[OUTCOMES + 2];
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Outcome outcome : Outcome.values()) {
            text.append(outcome).append('=').append(count(outcome)).append(' ');
        }
        return text.append("counters=").append(counters()).append(" rules=").append(rules()).append(" storeUp=").append(isStoreUp())
                .toString();
    }
}
