package io.tollgate.spring.coverage;

import java.lang.reflect.Method;
import java.util.Objects;

/** A method that requests reach, as a web framework knows it. Immutable. */
public final class MappedHandler {
    private final Object bean;
    private final Class<?> type;
    private final Method method;
    private final String shadow;

    /**
     * A handler.
     *
     * @param bean   the bean, or its name
     * @param type   the bean's class, as far as it is known without making it
     * @param method the method, of that class or of one of its interfaces
     * @param shadow why requests reach it uncounted, as the end of a sentence that begins with "requests of it aren't counted: "; null if they don't
     */
    public MappedHandler(Object bean, Class<?> type, Method method, String shadow) {
        this.bean = Objects.requireNonNull(bean, "bean");
        this.type = Objects.requireNonNull(type, "type");
        this.method = Objects.requireNonNull(method, "method");
        this.shadow = shadow;
    }

    Object bean() {
        return bean;
    }

    Class<?> type() {
        return type;
    }

    Method method() {
        return method;
    }

    String shadow() {
        return shadow;
    }
}
