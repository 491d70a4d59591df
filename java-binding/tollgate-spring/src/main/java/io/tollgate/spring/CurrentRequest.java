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

    /**
     * The request of a call: where requests aren't bound to threads, its arguments may know it.
     *
     * @param arguments what a method is called with
     * @return null outside of any
     */
    default GuardedRequest get(Object[] arguments) {
        return get();
    }
}
