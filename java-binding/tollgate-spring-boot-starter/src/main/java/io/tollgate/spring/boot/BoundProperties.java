package io.tollgate.spring.boot;

import java.time.Duration;
import java.util.Locale;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * {@link TollgateProperties}, or why they can't be used. Bound here and not by Spring Boot, which wouldn't start a host because
 * of a bad value.
 */
final class BoundProperties {
    private final TollgateProperties properties;
    private final String complaint;

    private BoundProperties(TollgateProperties properties, String complaint) {
        this.properties = properties;
        this.complaint = complaint;
    }

    static BoundProperties of(Environment environment) {
        try {
            return new BoundProperties(
                    Binder.get(environment).bind("tollgate", TollgateProperties.class).orElseGet(TollgateProperties::new), null);
        } catch (BindException e) {
            return new BoundProperties(new TollgateProperties(), complaint(e));
        }
    }

    /** For what must be known even if nothing is limited. */
    TollgateProperties orDefaults() {
        return properties;
    }

    /** Throws the complaint, if there is one. */
    TollgateProperties checked() {
        if (complaint != null) {
            throw new IllegalArgumentException(complaint);
        }
        return properties;
    }

    static String complaint(BindException e) {
        StringBuilder text = new StringBuilder("property ").append(e.getName());
        if (e.getProperty() != null) {
            text.append('=').append(e.getProperty().getValue()).append(" (").append(e.getProperty().getOrigin()).append(')');
        }
        return text.append(" is not usable: ").append(NestedExceptionUtils.getMostSpecificCause(e).getMessage())
                .append(". ").append(remedy(type(e.getTarget().getType()))).toString();
    }

    /** Of a list it is an element that is wrong. */
    private static Class<?> type(ResolvableType target) {
        ResolvableType element = target.asCollection().getGeneric();
        return (element == ResolvableType.NONE ? target : element).resolve(Object.class);
    }

    private static String remedy(Class<?> type) {
        if (type == Duration.class) {
            return "Give a duration such as 100ms or 2s.";
        }
        if (type.isEnum()) {
            String names = StringUtils.arrayToDelimitedString(type.getEnumConstants(), ", ").toLowerCase(Locale.ROOT);
            int last = names.lastIndexOf(", ");
            return "Give " + names.substring(0, last) + " or " + names.substring(last + 2) + '.';
        }
        if (type == boolean.class || type == Boolean.class) {
            return "Give true or false.";
        }
        return type == long.class || type == int.class || type == Integer.class ? "Give a whole number." : "Correct it.";
    }
}
