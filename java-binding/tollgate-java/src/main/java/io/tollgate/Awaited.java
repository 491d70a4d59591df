package io.tollgate;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A native call whose decisions are yet to come: of one hit a {@link Hit}, of several {@link Hits}. */
abstract class Awaited<T> extends CompletableFuture<T> {
    /** What the native side calls it. */
    final long number;
    /** Whether only a waiting thread knows it, so that completing it runs nothing of a caller's. */
    final boolean awaited;

    Awaited(long number, boolean awaited) {
        this.number = number;
        this.awaited = awaited;
    }

    /** Takes the next of its decisions, on one thread; whether it was the last. */
    abstract boolean take(Decision decision);

    /** Completes it with what it took. */
    abstract void completeAsTaken();

    /** The answer; waits for it like any call that can't be interrupted. */
    T await() {
        try {
            return join();
        } catch (CompletionException e) {
            // A new one, so that the stack trace is the caller's.
            throw new TollgateException(e.getCause().getMessage(), e.getCause());
        }
    }
}
