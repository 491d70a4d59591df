package io.tollgate.spring;

import java.util.Objects;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.expression.EvaluationContext;

/** A call that is about to be made: of which method, in which request, and with what, where that is known. For one thread. */
final class Call {
    private static final Object[] NONE = new Object[0];

    private final GuardedMethod method;
    private final GuardedRequest request;
    private final Object[] arguments;

    /** A request that is about to reach a handler; its arguments aren't bound yet. */
    Call(GuardedMethod method, GuardedRequest request) {
        this(method, request, NONE);
    }

    Call(GuardedMethod method, GuardedRequest request, Object[] arguments) {
        this.method = Objects.requireNonNull(method, "method");
        this.request = Objects.requireNonNull(request, "request");
        this.arguments = arguments;
    }

    GuardedMethod method() {
        return method;
    }

    GuardedRequest request() {
        return request;
    }

    Object[] arguments() {
        return arguments;
    }

    /** Whether the rule counts this call. */
    boolean isCounted(GuardedRule rule, Identities identities, BeanFactory beans) {
        return (rule.condition() == null || isTrue(rule.condition(), identities, beans))
                && (rule.unless() == null || !isTrue(rule.unless(), identities, beans));
    }

    /** What the rule counts by in this call; null for nobody. */
    String identity(GuardedRule rule, Identities identities, BeanFactory beans) {
        switch (rule.by()) {
            case IP:
                return identities.address(request);
            case GLOBAL:
                return "*";
            case TENANT:
                return identities.tenant(request);
            case EXPRESSION:
                return key(rule.key(), identities, beans);
            default:
                return identities.user(request, method);
        }
    }

    private String key(MethodExpression key, Identities identities, BeanFactory beans) {
        EvaluationContext context = context(key, identities, beans);
        for (String part : key.context()) {
            // Else "null" would become a part of the text, and one counter of everybody who isn't known.
            if (!part.equals("request") && !part.equals("principal") && context.lookupVariable(part) == null) {
                return null;
            }
        }
        return KeyText.of(evaluate(key, context), key);
    }

    private boolean isTrue(MethodExpression condition, Identities identities, BeanFactory beans) {
        Object value = evaluate(condition, context(condition, identities, beans));
        if (value instanceof Boolean) {
            return (Boolean) value;
        }
        throw condition.failure("gave " + value + ", which is no boolean", null);
    }

    private static Object evaluate(MethodExpression expression, EvaluationContext context) {
        try {
            return expression.expression().getValue(context);
        } catch (RuntimeException e) {
            throw expression.failure("failed: " + e.getMessage(), e);
        }
    }

    private EvaluationContext context(MethodExpression expression, Identities identities, BeanFactory beans) {
        MethodBasedEvaluationContext context =
                new MethodBasedEvaluationContext(null, method.method(), arguments, MethodExpression.NAMES);
        if (beans != null) {
            context.setBeanResolver(new BeanFactoryResolver(beans));
        }
        for (String name : expression.context()) {
            context.setVariable(name, variable(name, identities));
        }
        return context;
    }

    private Object variable(String name, Identities identities) {
        switch (name) {
            case "request":
                return request.nativeRequest();
            case "principal":
                return LoggedIn.principal(request);
            case "ip":
                return identities.address(request);
            case "tenant":
                return identities.tenant(request);
            default:
                return identities.user(request, method);
        }
    }
}
