package io.tollgate.spring;

import java.util.Locale;

/** Finds the text that a rejected user reads. A bean of this type replaces tollgate's own. */
@FunctionalInterface
public interface MessageResolver {
    /**
     * The text.
     *
     * @param method that was rejected
     * @param locale that the host has chosen for the request
     * @return the text; where this throws or gives null, the raw message key is taken
     */
    String resolve(GuardedMethod method, Locale locale);
}
