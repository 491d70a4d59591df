package io.tollgate.spring.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.web.server.ServerWebExchange;

/** The beans of a type that do the work once tollgate has had its word, in the order in which Spring asks them. Thread-safe. */
final class Others<T> {
    private final Class<T> type;
    private final T self;
    private final ApplicationContext own;
    /** A second server, such as the actuator's, has a context of its own with beans of its own. */
    private final Map<ApplicationContext, List<T>> known = new ConcurrentReferenceHashMap<>();

    Others(Class<T> type, T self, ApplicationContext own) {
        this.type = type;
        this.self = self;
        this.own = own;
    }

    List<T> of(ServerWebExchange exchange) {
        ApplicationContext serving = exchange.getApplicationContext();
        ApplicationContext context = serving == null ? own : serving;
        List<T> found = known.get(context);
        if (found == null) {
            found = new ArrayList<>(BeanFactoryUtils.beansOfTypeIncludingAncestors(context, type, true, false).values());
            found.removeIf(each -> each == self);
            AnnotationAwareOrderComparator.sort(found);
            known.put(context, found);
        }
        return found;
    }
}
