package io.tollgate.spring.coverage;

import java.util.Collection;
import org.springframework.context.ApplicationContext;

/** Knows which methods of a context requests reach. Each adapter to a web framework brings a bean of this type. */
@FunctionalInterface
public interface HandlerSource {
    /**
     * The handlers of a context, not of its parents.
     *
     * @param context refreshed
     * @return guarded or not, one entry a mapping
     */
    Collection<MappedHandler> handlers(ApplicationContext context);
}
