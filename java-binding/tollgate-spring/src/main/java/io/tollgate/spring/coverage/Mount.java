package io.tollgate.spring.coverage;

/** What stands before a guarded method. */
public enum Mount {
    /** The web framework asks before it calls a handler. */
    INTERCEPTOR,
    /** The bean's proxy asks before it calls the bean. */
    ASPECT
}
