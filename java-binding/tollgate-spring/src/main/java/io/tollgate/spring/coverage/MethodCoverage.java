package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedRule;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

/** What became of one method that carries {@link io.tollgate.spring.RateLimit}. Immutable. */
public final class MethodCoverage {
    private final String beanName;
    private final Class<?> type;
    private final Method method;
    private final GuardedMethod guarded;
    private final boolean isHandler;
    private final Set<Mount> mounts;
    private final Gap gap;
    private final String reason;
    private final String remedy;

    private MethodCoverage(
            String beanName, Class<?> type, Method method, GuardedMethod guarded, boolean isHandler, Set<Mount> mounts, Finding finding) {
        this.beanName = beanName;
        this.type = type;
        this.method = method;
        this.guarded = guarded;
        this.isHandler = isHandler;
        this.mounts = Collections.unmodifiableSet(mounts);
        this.gap = finding == null ? null : finding.gap;
        this.reason = finding == null ? null : finding.reason;
        this.remedy = finding == null ? null : finding.remedy;
    }

    static MethodCoverage covered(String beanName, GuardedMethod guarded, boolean isHandler, Set<Mount> mounts) {
        return new MethodCoverage(beanName, guarded.type(), guarded.method(), guarded, isHandler, mounts, null);
    }

    static MethodCoverage open(String beanName, GuardedMethod guarded, Finding finding) {
        return new MethodCoverage(beanName, guarded.type(), guarded.method(), guarded, false, EnumSet.noneOf(Mount.class), finding);
    }

    static MethodCoverage unreadable(String beanName, Class<?> type, Method method, String reason) {
        return new MethodCoverage(beanName, type, method, null, false, EnumSet.noneOf(Mount.class), new Finding(Gap.UNREADABLE, reason));
    }

    /**
     * The bean that it belongs to.
     *
     * @return its name, null for a class that is no bean
     */
    public String beanName() {
        return beanName;
    }

    /**
     * The bean's class.
     *
     * @return as it was written, never a proxy's
     */
    public Class<?> type() {
        return type;
    }

    /**
     * The method.
     *
     * @return the most specific one
     */
    public Method method() {
        return method;
    }

    /**
     * Its rules.
     *
     * @return with their own defaults; empty only for {@link Gap#UNREADABLE}
     */
    public List<GuardedRule> rules() {
        return guarded == null ? Collections.emptyList() : guarded.rules();
    }

    /**
     * What stands before it.
     *
     * @return empty where it isn't protected
     */
    public Set<Mount> mounts() {
        return mounts;
    }

    /**
     * Whether its calls are counted.
     *
     * @return false where there is a {@link #gap()}
     */
    public boolean isProtected() {
        return gap == null;
    }

    /**
     * Why it isn't protected.
     *
     * @return null if it is
     */
    public Gap gap() {
        return gap;
    }

    /**
     * The same in words.
     *
     * @return null if it is protected
     */
    public String reason() {
        return reason;
    }

    /**
     * What to do about it.
     *
     * @return null if it is protected
     */
    public String remedy() {
        return remedy;
    }

    /**
     * Its name with the types of its parameters, which tell overloads apart.
     *
     * @return like {@code com.acme.Orders.list(String, int)}
     */
    public String signature() {
        StringJoiner parameters = new StringJoiner(", ", "(", ")");
        for (Class<?> parameter : method.getParameterTypes()) {
            parameters.add(parameter.getSimpleName());
        }
        return type.getName() + '.' + method.getName() + parameters;
    }

    /** Whether requests reach it. */
    boolean isHandler() {
        return isHandler;
    }

    GuardedMethod guarded() {
        return guarded;
    }

    @Override
    public String toString() {
        String name = signature() + (beanName == null ? "" : " of bean " + beanName);
        return isProtected() ? name + " by " + mounts : name + " is NOT PROTECTED: " + reason + ". " + remedy();
    }
}
