package io.tollgate.spring;

import java.lang.reflect.Method;
import org.springframework.util.StringUtils;

/** A handler method that carries {@link RateLimit}, with every name worked out. Immutable. */
public final class GuardedMethod {
    private final Class<?> type;
    private final Method method;
    private final String module;
    private final String rule;
    private final long interval;
    private final long limit;
    private final String messageKey;
    private final String message;
    private final String attribute;

    GuardedMethod(Class<?> type, Method method, String module, String rule, RateLimit limits) {
        this.type = type;
        this.method = method;
        this.module = module;
        this.rule = rule;
        this.interval = limits.interval();
        this.limit = limits.limit();
        this.messageKey = StringUtils.hasText(limits.messageKey()) ? limits.messageKey() : RateLimit.DEFAULT_MESSAGE_KEY;
        this.message = limits.message();
        // The length keeps module "a", rule "b:c" apart from module "a:b", rule "c".
        this.attribute = RateLimit.class.getName() + ':' + module.length() + ':' + module + ':' + rule;
    }

    /**
     * The controller's class as it was written, never a proxy's.
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
     * The first part of the rule's name.
     *
     * @return like {@code wms}
     */
    public String module() {
        return module;
    }

    /**
     * The second part of the rule's name.
     *
     * @return like {@code WmsInventoryController.queryInventoryOpLogList}
     */
    public String rule() {
        return rule;
    }

    /**
     * The rule's own window.
     *
     * @return seconds, as annotated
     */
    public long interval() {
        return interval;
    }

    /**
     * The rule's own limit.
     *
     * @return hits in one window, as annotated
     */
    public long limit() {
        return limit;
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

    /** The request attribute that remembers this rule's decision; the same for all methods of one rule. */
    String attribute() {
        return attribute;
    }

    /** True for the same method of the same class, in the same module. */
    @Override
    public boolean equals(Object other) {
        if (this == other) {
            return true;
        }
        if (!(other instanceof GuardedMethod)) {
            return false;
        }
        GuardedMethod that = (GuardedMethod) other;
        return type == that.type && method.equals(that.method) && attribute.equals(that.attribute);
    }

    @Override
    public int hashCode() {
        return 31 * type.hashCode() + method.hashCode();
    }

    /**
     * The rule's name and the method.
     *
     * @return like {@code wms.Order.list (com.acme.Order.list)}
     */
    @Override
    public String toString() {
        return module + '.' + rule + " (" + type.getName() + '.' + method.getName() + ')';
    }
}
