package io.tollgate.spring;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanExpressionContext;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.NestedExceptionUtils;

/** Attributes that come from configuration: {@code ${…}} and {@code #{…}}, as {@code @Scheduled} has them. */
final class ConfiguredValues {
    private final ConfigurableBeanFactory beans;

    /** Without a bean factory that knows placeholders, texts are taken as they are. */
    ConfiguredValues(BeanFactory beans) {
        this.beans = beans instanceof ConfigurableBeanFactory ? (ConfigurableBeanFactory) beans : null;
    }

    long number(Class<?> type, Method method, String attribute, String text) {
        String value = resolve(type, method, attribute, text);
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new InvalidRateLimitException(type, method, attribute, text, "is " + quoted(value) + ", which is no whole number",
                    "Give one of 0 or more.", e);
        }
    }

    long seconds(Class<?> type, Method method, String attribute, String text) {
        String value = resolve(type, method, attribute, text);
        try {
            if (!value.startsWith("P") && !value.startsWith("p")) {
                return Long.parseLong(value);
            }
            Duration duration = Duration.parse(value);
            if (duration.getNano() == 0) {
                return duration.getSeconds();
            }
        } catch (NumberFormatException | DateTimeParseException e) {
            throw noSeconds(type, method, attribute, text, value, e);
        }
        throw noSeconds(type, method, attribute, text, value, null);
    }

    private static InvalidRateLimitException noSeconds(
            Class<?> type, Method method, String attribute, String text, String value, Exception cause) {
        return new InvalidRateLimitException(type, method, attribute, text, "is " + quoted(value) + ", which makes no whole seconds",
                "Give seconds, 1 to 31536000, or a duration like PT1H.", cause);
    }

    private String resolve(Class<?> type, Method method, String attribute, String text) {
        if (beans == null) {
            return text.trim();
        }
        try {
            String resolved = beans.resolveEmbeddedValue(text);
            if (resolved != null && resolved.contains("${")) {
                // An application without a placeholder configurer leaves what it can't resolve.
                throw new IllegalArgumentException("nothing defines " + resolved);
            }
            Object value = beans.getBeanExpressionResolver() == null
                    ? resolved : beans.getBeanExpressionResolver().evaluate(resolved, new BeanExpressionContext(beans, null));
            return String.valueOf(value).trim();
        } catch (RuntimeException e) {
            throw new InvalidRateLimitException(type, method, attribute, text,
                    "can't be resolved: " + NestedExceptionUtils.getMostSpecificCause(e).getMessage(),
                    "Set the property, or give a default after a colon, like ${orders.limit:5}.", e);
        }
    }

    private static String quoted(String value) {
        return '"' + value + '"';
    }
}
