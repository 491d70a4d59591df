package io.tollgate.spring;

import java.util.Locale;

/** Finds the text that a rejected user reads. A bean of this type replaces tollgate's own. */
@FunctionalInterface
public interface MessageResolver {
    /**
     * The text.
     *
     * @param key    the rule's own {@link GuardedRule#messageKey()}, or {@value RateLimitEngine#UNAVAILABLE_MESSAGE_KEY} where the limiter
     *               can't answer
     * @param rule   that turned the call away
     * @param locale that the host has chosen for the request
     * @return the text; where this throws or gives null, the raw key is taken
     */
    String resolve(String key, GuardedRule rule, Locale locale);
}
