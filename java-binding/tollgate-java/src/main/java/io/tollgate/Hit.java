package io.tollgate;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A hit whose decision is yet to come. */
final class Hit extends CompletableFuture<Decision> {
    /** What the native side calls it. */
    final long number;
    /** Whether only a waiting thread knows it, so that completing it runs nothing of a caller's. */
    final boolean awaited;

    Hit(long number, boolean awaited) {
        this.number = number;
        this.awaited = awaited;
    }

    /** The decision; waits for it like any call that can't be interrupted. */
    Decision await() {
        try {
            return join();
        } catch (CompletionException e) {
            // A new one, so that the stack trace is the caller's.
            throw new TollgateException(e.getCause().getMessage(), e.getCause());
        }
    }
}
