package io.tollgate.spring;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.BeanUtils;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParseException;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/** An expression of an annotation: parsed once, its names checked against the method. Immutable. */
final class MethodExpression {
    static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
    /** What is known beside arguments. */
    private static final Set<String> CONTEXT = new TreeSet<>(Arrays.asList("ip", "principal", "request", "tenant", "user"));
    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    private final Class<?> type;
    private final Method method;
    private final String attribute;
    private final String text;
    private final SpelExpression expression;
    private final Set<String> context = new HashSet<>();
    private boolean usesArguments;

    private MethodExpression(Class<?> type, Method method, String attribute, String text) {
        this.type = type;
        this.method = method;
        this.attribute = attribute;
        this.text = text;
        this.expression = parse();
        check(expression.getAST());
        if (!attribute.equals("key")) {
            checkCondition(expression.getAST());
        }
    }

    /** Null for a blank text; throws {@link InvalidRateLimitException} with the place, the text and the remedy. */
    static MethodExpression of(Class<?> type, Method method, String attribute, String text) {
        return StringUtils.hasText(text) ? new MethodExpression(type, method, attribute, text) : null;
    }

    /** Whether it can only be evaluated when the method is called. */
    boolean usesArguments() {
        return usesArguments;
    }

    /** Those of {@code request}, {@code principal}, {@code user}, {@code ip} and {@code tenant} that it names. */
    Set<String> context() {
        return context;
    }

    SpelExpression expression() {
        return expression;
    }

    /** What went wrong while it was evaluated, for a log line. */
    IllegalStateException failure(String problem, Exception cause) {
        return new IllegalStateException("@RateLimit(" + attribute + " = \"" + text + "\") of " + type.getName() + '.' + method.getName()
                + "() " + problem, cause);
    }

    private SpelExpression parse() {
        try {
            return PARSER.parseRaw(text);
        } catch (SpelParseException e) {
            throw invalid("can't be parsed: " + e.getSimpleMessage(), "Correct the expression; texts in it stand in single quotes.", e);
        } catch (ParseException | IllegalStateException e) {
            throw invalid("can't be parsed: " + e.getMessage(), "Correct the expression; texts in it stand in single quotes.", e);
        }
    }

    private void check(SpelNode node) {
        if (node instanceof FunctionReference) {
            throw invalid("calls " + node.toStringAST() + ", and there are no functions", "Call a bean, like @orders.size(#p0).", null);
        }
        if (node instanceof VariableReference) {
            checkVariable(node.toStringAST().substring(1));
        }
        if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference) {
            checkProperties(node);
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            check(node.getChild(i));
        }
    }

    private void checkVariable(String name) {
        if (parameter(name) >= 0) {
            usesArguments = true;
        } else if (CONTEXT.contains(name)) {
            context.add(name);
        } else if (!name.equals("this") && !name.equals("root")) {
            throw invalid("names #" + name + ", which isn't there", remedy(name), null);
        }
    }

    private String remedy(String name) {
        List<String> known = new ArrayList<>();
        String[] names = NAMES.getParameterNames(method);
        for (int i = 0; i < method.getParameterCount(); i++) {
            known.add(names == null ? "#p" + i : "#" + names[i]);
        }
        for (String other : CONTEXT) {
            known.add("#" + other);
        }
        String lost = names == null && method.getParameterCount() > 0 && !name.matches("[pa]\\d+")
                ? "The class was compiled without the names of its parameters: write #p0 for the first, or compile with -parameters. " : "";
        return lost + "Name one of " + String.join(", ", known) + '.';
    }

    /** The index of the parameter that a name means, negative for none. */
    private int parameter(String name) {
        if (name.matches("[pa]\\d{1,3}")) {
            int index = Integer.parseInt(name.substring(1));
            return index < method.getParameterCount() ? index : -1;
        }
        String[] names = NAMES.getParameterNames(method);
        return names == null ? -1 : Arrays.asList(names).indexOf(name);
    }

    /** Follows {@code #argument.property.property} as far as the declared types tell. */
    private void checkProperties(SpelNode compound) {
        int index = parameter(compound.getChild(0).toStringAST().substring(1));
        Class<?> owner = index < 0 ? null : method.getParameterTypes()[index];
        for (int i = 1; i < compound.getChildCount() && isTelling(owner); i++) {
            if (!(compound.getChild(i) instanceof PropertyOrFieldReference)) {
                return;
            }
            String property = ((PropertyOrFieldReference) compound.getChild(i)).getName();
            Class<?> next = propertyType(owner, property);
            if (next == null) {
                throw invalid("looks for " + property + " in a " + owner.getName() + ", which has no such property",
                        "Name a public field or one with a getter, or call a method, like #p0.size().", null);
            }
            owner = next;
        }
    }

    /** Whether what isn't declared can't be there: a subclass may have more, and an array has its length. */
    private static boolean isTelling(Class<?> owner) {
        return owner != null && !owner.isInterface() && !owner.isArray() && !owner.isPrimitive() && owner != Object.class
                && !Modifier.isAbstract(owner.getModifiers());
    }

    private static Class<?> propertyType(Class<?> owner, String property) {
        String capital = StringUtils.capitalize(property);
        for (String accessor : new String[] {"get" + capital, "is" + capital, property}) {
            Method found = ReflectionUtils.findMethod(owner, accessor);
            if (found != null && Modifier.isPublic(found.getModifiers()) && (!accessor.equals(property) || isRecord(owner))) {
                return found.getReturnType();
            }
        }
        Field field = ReflectionUtils.findField(owner, property);
        if (field != null && Modifier.isPublic(field.getModifiers())) {
            return field.getType();
        }
        return BeanUtils.getPropertyDescriptor(owner, property) != null ? Object.class : null;
    }

    private static boolean isRecord(Class<?> owner) {
        return owner.getSuperclass() != null && owner.getSuperclass().getName().equals("java.lang.Record");
    }

    private void checkCondition(SpelNode root) {
        Class<?> result = null;
        if (root instanceof Literal) {
            Object value = ((Literal) root).getLiteralValue().getValue();
            result = value == null ? Void.class : value.getClass();
        } else if (root instanceof VariableReference && parameter(root.toStringAST().substring(1)) >= 0) {
            result = method.getParameterTypes()[parameter(root.toStringAST().substring(1))];
        }
        if (result != null && result != Object.class && result != boolean.class && result != Boolean.class) {
            throw invalid("gives a " + result.getSimpleName() + ", not a boolean", "Compare it with something, like #p0 == 'all'.", null);
        }
    }

    private InvalidRateLimitException invalid(String problem, String remedy, Exception cause) {
        return new InvalidRateLimitException(type, method, attribute, text, problem, remedy, cause);
    }
}
