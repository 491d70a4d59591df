package io.tollgate.spring;

/** Knows the request that the current thread works for. */
@FunctionalInterface
public interface CurrentRequest {
    /**
     * The request.
     *
     * @return null outside of any
     */
    GuardedRequest get();
}
