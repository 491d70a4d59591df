package io.tollgate.spring;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.stereotype.Controller;

/** A method that carries {@link RateLimit}, with its rules worked out. Immutable. */
public final class GuardedMethod {
    private final Class<?> type;
    private final Method method;
    private final List<GuardedRule> rules;
    private final boolean isByType;
    private final boolean isByInvocation;
    private final boolean isHandlersOnly;
    private final String attribute;

    GuardedMethod(Class<?> type, Method method, RateLimitLookup.Found found, RuleNames names, ConfiguredValues values) {
        this.type = type;
        this.method = method;
        this.isByType = found.isOnType;
        List<GuardedRule> made = new ArrayList<>();
        Set<String> attributes = new HashSet<>();
        boolean needsInvocation = false;
        for (RateLimit limits : found.limits) {
            GuardedRule rule = new GuardedRule(this, made.size(), limits, names, values);
            if (!attributes.add(rule.attribute())) {
                throw new InvalidRateLimitException(type, method, "rule", rule.rule(), "is there twice, so that each call would count twice",
                        "Give one of them another name.", null);
            }
            needsInvocation |= rule.needsInvocation();
            made.add(rule);
        }
        this.rules = Collections.unmodifiableList(made);
        this.isByInvocation = needsInvocation;
        this.isHandlersOnly = isByType && AnnotatedElementUtils.hasAnnotation(type, Controller.class);
        this.attribute = GuardedMethod.class.getName() + ':' + type.getName() + '.' + method;
    }

    /**
     * The class as it was written, never a proxy's.
     *
     * @return the class
     */
    public Class<?> type() {
        return type;
    }

    /**
     * The method that runs.
     *
     * @return the most specific one, never a bridge
     */
    public Method method() {
        return method;
    }

    /**
     * What it is limited by.
     *
     * @return at least one
     */
    public List<GuardedRule> rules() {
        return rules;
    }

    /**
     * Whether the annotation stands on the class.
     *
     * @return false if it stands on the method
     */
    public boolean isByType() {
        return isByType;
    }

    /**
     * Whether it can only be decided when the method is called, so that the aspect has to: a rule looks at arguments, or has
     * a value returned in place of the method's.
     *
     * @return false if a request is enough
     */
    public boolean isByInvocation() {
        return isByInvocation;
    }

    /**
     * Whether a rule looks at the request, so that a call outside of any is nobody's.
     *
     * @return false if all count by arguments, or globally
     */
    public boolean usesRequest() {
        return rules.stream().anyMatch(GuardedRule::usesRequest);
    }

    /**
     * Whether a rule asks who sent the request, for which parameters, the session or the login may have to be looked at.
     *
     * @return false if the address is enough, or nothing of the request is needed
     */
    public boolean usesCaller() {
        return rules.stream().anyMatch(GuardedRule::usesCaller);
    }

    /**
     * Whether only requests count, and no calls by other beans: an annotation on a controller's class means its handlers.
     *
     * @return false if all calls count
     */
    public boolean isHandlersOnly() {
        return isHandlersOnly;
    }

    /** The request attribute by which the interceptor and the aspect tell each other what was done. */
    String attribute() {
        return attribute;
    }

    /** True for the same method of the same class. */
    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof GuardedMethod
                && type == ((GuardedMethod) other).type && method.equals(((GuardedMethod) other).method);
    }

    @Override
    public int hashCode() {
        return 31 * type.hashCode() + method.hashCode();
    }

    /**
     * The first rule's name and the method.
     *
     * @return like {@code wms.Order.list (com.acme.Order.list)}
     */
    @Override
    public String toString() {
        return rules.get(0) + " (" + type.getName() + '.' + method.getName() + ')';
    }
}
