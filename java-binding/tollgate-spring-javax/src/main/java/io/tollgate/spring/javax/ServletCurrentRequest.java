package io.tollgate.spring.javax;

import io.tollgate.spring.CurrentRequest;
import io.tollgate.spring.GuardedRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The request as Spring keeps it for the thread that works on it. */
public final class ServletCurrentRequest implements CurrentRequest {
    @Override
    public GuardedRequest get() {
        RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
        return attributes instanceof ServletRequestAttributes
                ? new ServletGuardedRequest(((ServletRequestAttributes) attributes).getRequest()) : null;
    }
}
