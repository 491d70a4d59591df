package io.tollgate.spring.boot;

import io.tollgate.OnFault;
import java.time.Duration;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.env.Environment;

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
                .append(". ").append(remedy(e.getTarget().getType().resolve(Object.class))).toString();
    }

    private static String remedy(Class<?> type) {
        if (type == Duration.class) {
            return "Give a duration such as 100ms or 2s.";
        }
        if (type == OnFault.class) {
            return "Give allow, deny or local.";
        }
        if (type == boolean.class || type == Boolean.class) {
            return "Give true or false.";
        }
        return type == long.class || type == Integer.class ? "Give a whole number." : "Correct it.";
    }
}
