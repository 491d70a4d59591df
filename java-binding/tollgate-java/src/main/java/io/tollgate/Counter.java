package io.tollgate;

/** A user's counter as it stood in the store, from {@link Tollgate#counter(Rule, String)}. Immutable. */
public final class Counter {
    private final long count;
    private final long endsInMillis;

    Counter(long count, long endsInMillis) {
        this.count = count;
        this.endsInMillis = endsInMillis;
    }

    /**
     * Hits in the window, rejected ones too.
     *
     * @return 0 or more
     */
    public long count() {
        return count;
    }

    /**
     * The time until the window ends.
     *
     * @return milliseconds, -1 for a counter whose end was lost, which its next hit gives one
     */
    public long endsInMillis() {
        return endsInMillis;
    }

    @Override
    public String toString() {
        return "count=" + count + " endsInMillis=" + endsInMillis;
    }
}
