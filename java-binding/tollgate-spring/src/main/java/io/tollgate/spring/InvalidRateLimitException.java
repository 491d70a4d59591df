package io.tollgate.spring;

import java.lang.reflect.Method;

/** An annotation that can't mean anything. The application doesn't start, and is told what to correct. */
public final class InvalidRateLimitException extends RuntimeException {
    private final String problem;
    private final String remedy;

    InvalidRateLimitException(Class<?> type, Method method, String attribute, String value, String problem, String remedy, Throwable cause) {
        super(describe(type, method, attribute, value) + ' ' + problem + ". " + remedy, cause);
        this.problem = describe(type, method, attribute, value) + ' ' + problem + '.';
        this.remedy = remedy;
    }

    private static String describe(Class<?> type, Method method, String attribute, String value) {
        return "@RateLimit(" + attribute + " = \"" + value + "\") of " + type.getName() + '.' + method.getName() + "()";
    }

    /**
     * What is wrong.
     *
     * @return a sentence that names class, method, attribute and value
     */
    public String problem() {
        return problem;
    }

    /**
     * What to do.
     *
     * @return a sentence
     */
    public String remedy() {
        return remedy;
    }
}
