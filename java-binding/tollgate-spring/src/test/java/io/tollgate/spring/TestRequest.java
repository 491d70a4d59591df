package io.tollgate.spring;

import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A request of which everything is said here. */
final class TestRequest implements GuardedRequest {
    private final Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    private final Map<String, String> parameters = new HashMap<>();
    private final Map<String, Object> session = new HashMap<>();
    private final Map<String, Object> attributes = new HashMap<>();
    private String uri = "/";
    private String contextPath = "";
    private String remote = "192.0.2.1";
    private Principal principal;

    TestRequest header(String name, String... lines) {
        for (String line : lines) {
            headers.computeIfAbsent(name, key -> new ArrayList<>()).add(line);
        }
        return this;
    }

    TestRequest parameter(String name, String value) {
        parameters.put(name, value);
        return this;
    }

    TestRequest session(String name, Object value) {
        session.put(name, value);
        return this;
    }

    TestRequest at(String contextPath, String uri) {
        this.contextPath = contextPath;
        this.uri = uri;
        return this;
    }

    TestRequest from(String remote) {
        this.remote = remote;
        return this;
    }

    TestRequest by(Principal principal) {
        this.principal = principal;
        return this;
    }

    @Override
    public String parameter(String name) {
        return parameters.get(name);
    }

    @Override
    public List<String> headers(String name) {
        return headers.getOrDefault(name, Collections.emptyList());
    }

    @Override
    public String httpMethod() {
        return "GET";
    }

    @Override
    public String uri() {
        return uri;
    }

    @Override
    public String contextPath() {
        return contextPath;
    }

    @Override
    public String remoteAddress() {
        return remote;
    }

    @Override
    public Principal principal() {
        return principal;
    }

    @Override
    public Object sessionAttribute(String name) {
        return session.get(name);
    }

    @Override
    public Object attribute(String name) {
        return attributes.get(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        attributes.put(name, value);
    }

    @Override
    public Locale locale() {
        return Locale.SIMPLIFIED_CHINESE;
    }

    @Override
    public Object nativeRequest() {
        return null;
    }
}
