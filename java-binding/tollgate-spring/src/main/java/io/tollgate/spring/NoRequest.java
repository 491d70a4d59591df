package io.tollgate.spring;

import java.security.Principal;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.springframework.context.i18n.LocaleContextHolder;

/** What the limiter sees of a call outside of any request. */
enum NoRequest implements GuardedRequest {
    /** The only one; there is nothing to tell two apart. */
    INSTANCE;

    @Override
    public String parameter(String name) {
        return null;
    }

    @Override
    public List<String> headers(String name) {
        return Collections.emptyList();
    }

    @Override
    public String httpMethod() {
        return null;
    }

    @Override
    public String uri() {
        return null;
    }

    @Override
    public String remoteAddress() {
        return null;
    }

    @Override
    public Principal principal() {
        return null;
    }

    @Override
    public Object sessionAttribute(String name) {
        return null;
    }

    @Override
    public Object attribute(String name) {
        return null;
    }

    @Override
    public void setAttribute(String name, Object value) {
        // There is no further dispatch that could see it.
    }

    @Override
    public Locale locale() {
        return LocaleContextHolder.getLocale();
    }

    @Override
    public Object nativeRequest() {
        return null;
    }
}
