package io.tollgate;

/**
 * Something failed that the caller could not have avoided: the store while reading or writing {@link Settings}, or a defect
 * inside the native library (which goes on working: the next call is answered as usual).
 *
 * <p>Decisions don't throw this because of the store; see {@link Outcome}.
 */
public class TollgateException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * An exception with this text.
     *
     * @param message what failed and why
     */
    public TollgateException(String message) {
        super(message);
    }

    /**
     * An exception with this text and cause.
     *
     * @param message what failed and why
     * @param cause   what made it fail
     */
    public TollgateException(String message, Throwable cause) {
        super(message, cause);
    }
}
