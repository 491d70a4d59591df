package io.tollgate;

/**
 * The native library can't be used on this machine. The message says what was tried, the cause and the remedy, and stays the
 * same for every later attempt in this process.
 */
public class LibraryLoadException extends TollgateException {
    private static final long serialVersionUID = 1L;

    /**
     * An exception with this text and cause.
     *
     * @param message what was tried, the cause, the remedy
     * @param cause   what the JVM or the file system said, or null
     */
    public LibraryLoadException(String message, Throwable cause) {
        super(message, cause);
    }
}
