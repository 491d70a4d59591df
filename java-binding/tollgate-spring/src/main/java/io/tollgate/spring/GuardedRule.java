package io.tollgate.spring;

import io.tollgate.OnFault;
import java.lang.reflect.Method;
import org.springframework.util.StringUtils;

/** One {@link RateLimit} of a method, with every name and value worked out. Immutable. */
public final class GuardedRule {
    private final GuardedMethod guarded;
    private final String module;
    private final String rule;
    private final long interval;
    private final long limit;
    private final LimitBy by;
    private final MethodExpression key;
    private final MethodExpression condition;
    private final MethodExpression unless;
    private final String messageKey;
    private final String message;
    private final Substitute substitute;
    private final OnFault onFault;
    private final boolean isRecorded;
    private final boolean isMonitored;
    private final String attribute;

    GuardedRule(GuardedMethod guarded, int index, RateLimit limits, RuleNames names, ConfiguredValues values) {
        this.guarded = guarded;
        Class<?> type = guarded.type();
        Method method = guarded.method();
        this.module = StringUtils.hasText(limits.module()) ? limits.module().trim() : names.module();
        this.rule = StringUtils.hasText(limits.rule()) ? limits.rule().trim() : RuleNames.rule(type, method, index);
        this.interval = StringUtils.hasText(limits.intervalString())
                ? values.seconds(type, method, "intervalString", limits.intervalString()) : limits.interval();
        this.limit = StringUtils.hasText(limits.limitString())
                ? values.number(type, method, "limitString", limits.limitString()) : limits.limit();
        this.by = by(limits);
        this.key = MethodExpression.of(type, method, "key", limits.key());
        this.condition = MethodExpression.of(type, method, "condition", limits.condition());
        this.unless = MethodExpression.of(type, method, "unless", limits.unless());
        this.messageKey = StringUtils.hasText(limits.messageKey()) ? limits.messageKey() : RateLimit.DEFAULT_MESSAGE_KEY;
        this.message = limits.message();
        this.substitute = Substitute.of(type, method, limits);
        this.onFault = onFault(limits);
        this.isRecorded = limits.record();
        this.isMonitored = limits.monitor();
        // The length keeps module "a", rule "b:c" apart from module "a:b", rule "c".
        this.attribute = RateLimit.class.getName() + ':' + module.length() + ':' + module + ':' + rule;
    }

    private LimitBy by(RateLimit limits) {
        boolean hasKey = StringUtils.hasText(limits.key());
        if (hasKey && limits.by() != LimitBy.USER && limits.by() != LimitBy.EXPRESSION) {
            throw invalid("key", limits.key(), "stands beside by = " + limits.by() + ", and a rule counts by one thing",
                    "Leave one of them out; #user, #ip and #tenant are known to the expression.");
        }
        if (!hasKey && limits.by() == LimitBy.EXPRESSION) {
            throw invalid("by", "EXPRESSION", "has no expression", "Give a key, like key = \"#p0\".");
        }
        return hasKey ? LimitBy.EXPRESSION : limits.by();
    }

    private OnFault onFault(RateLimit limits) {
        if (limits.onFault().length > 1) {
            throw invalid("onFault", StringUtils.arrayToCommaDelimitedString(limits.onFault()), "names several policies", "Keep one of them.");
        }
        return limits.onFault().length == 0 ? null : limits.onFault()[0];
    }

    private InvalidRateLimitException invalid(String attribute, String value, String problem, String remedy) {
        return new InvalidRateLimitException(guarded.type(), guarded.method(), attribute, value, problem, remedy, null);
    }

    /**
     * The method that it guards.
     *
     * @return the method
     */
    public GuardedMethod guarded() {
        return guarded;
    }

    /**
     * The first part of its name.
     *
     * @return like {@code wms}
     */
    public String module() {
        return module;
    }

    /**
     * The second part of its name.
     *
     * @return like {@code WmsInventoryController.queryInventoryOpLogList}
     */
    public String rule() {
        return rule;
    }

    /**
     * Its own window, which the configuration hash may overrule.
     *
     * @return seconds, as annotated
     */
    public long interval() {
        return interval;
    }

    /**
     * Its own limit, which the configuration hash may overrule.
     *
     * @return hits in one window, as annotated
     */
    public long limit() {
        return limit;
    }

    /**
     * What it counts by.
     *
     * @return never null
     */
    public LimitBy by() {
        return by;
    }

    /**
     * The key of the rejection's text.
     *
     * @return never blank
     */
    public String messageKey() {
        return messageKey;
    }

    /**
     * The rejection's text for all languages.
     *
     * @return blank if {@link #messageKey()} is to be looked up
     */
    public String message() {
        return message;
    }

    /**
     * What happens while the store can't answer.
     *
     * @return null for the limiter's own policy
     */
    public OnFault onFault() {
        return onFault;
    }

    /**
     * Whether its rejections are recorded where the application keeps records.
     *
     * @return as annotated
     */
    public boolean isRecorded() {
        return isRecorded;
    }

    /**
     * Whether {@link RateLimitObserver}s hear of its decisions.
     *
     * @return as annotated
     */
    public boolean isMonitored() {
        return isMonitored;
    }

    /** What it counts by where that is an expression; else null. */
    MethodExpression key() {
        return key;
    }

    /** Null if there is none. */
    MethodExpression condition() {
        return condition;
    }

    /** Null if there is none. */
    MethodExpression unless() {
        return unless;
    }

    /** What is returned in place of a call that was turned away; null if it is rejected. */
    Substitute substitute() {
        return substitute;
    }

    boolean needsInvocation() {
        return substitute != null || usesArguments(key) || usesArguments(condition) || usesArguments(unless);
    }

    /** Whether it counts by, or names, anything of a request. */
    boolean usesRequest() {
        return by == LimitBy.IP || usesCaller();
    }

    /** Whether it counts by, or names, more of a request than headers and address. */
    boolean usesCaller() {
        return by == LimitBy.USER || by == LimitBy.TENANT || usesContext(key) || usesContext(condition) || usesContext(unless);
    }

    private static boolean usesContext(MethodExpression expression) {
        return expression != null && !expression.context().isEmpty();
    }

    private static boolean usesArguments(MethodExpression expression) {
        return expression != null && expression.usesArguments();
    }

    /** The request attribute that remembers this rule's decision; the same for all methods of one rule. */
    String attribute() {
        return attribute;
    }

    /**
     * Whether two rules of one name, of two methods perhaps, say the same of what the limiter keeps.
     *
     * @param other the other
     * @return false if interval, limit, policy or what is counted by differ
     */
    public boolean hasSettingsOf(GuardedRule other) {
        return interval == other.interval && limit == other.limit && onFault == other.onFault && by == other.by;
    }

    /** True for the rule of the same name on the same method. */
    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof GuardedRule
                && guarded.equals(((GuardedRule) other).guarded) && attribute.equals(((GuardedRule) other).attribute);
    }

    @Override
    public int hashCode() {
        return 31 * guarded.hashCode() + attribute.hashCode();
    }

    /**
     * Its name, with which its fields in the configuration hash begin.
     *
     * @return like {@code wms.Order.list}
     */
    @Override
    public String toString() {
        return module + '.' + rule;
    }
}
