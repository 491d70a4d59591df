package io.tollgate.spring.boot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** One exchange over a real connection: what was sent, then what came back. */
final class Http {
    static {
        // Origin and the preflight's headers are among those that Java holds back.
        System.setProperty("sun.net.http.allowRestrictedHeaders", "true");
    }

    private static final int TIMEOUT_MILLIS = 30_000;

    private final String method;
    private final String url;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private byte[] sent;

    private int status;
    private byte[] body;
    private HttpURLConnection connection;

    Http(String method, String url) {
        this.method = method;
        this.url = url;
    }

    Http header(String name, String value) {
        headers.put(name, value);
        return this;
    }

    Http body(String contentType, String text) {
        return body(contentType, text.getBytes(StandardCharsets.UTF_8));
    }

    Http body(String contentType, byte[] bytes) {
        headers.put("Content-Type", contentType);
        sent = bytes;
        return this;
    }

    Http send() {
        try {
            connection = (HttpURLConnection) new URL(url).openConnection();
            connection.setRequestMethod(method);
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            // Reactor Netty 1.3 may lose a request that comes by the same connection just as the answer before it ends on another thread.
            connection.setRequestProperty("Connection", "close");
            headers.forEach(connection::setRequestProperty);
            if (sent != null) {
                connection.setDoOutput(true);
                connection.getOutputStream().write(sent);
            }
            status = connection.getResponseCode();
            try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                body = in == null ? new byte[0] : read(in);
            }
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(method + ' ' + url, e);
        }
    }

    int status() {
        return status;
    }

    byte[] bytes() {
        return body;
    }

    String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    String responseHeader(String name) {
        return connection.getHeaderField(name);
    }

    boolean isRejection() {
        return status == 200 && text().startsWith("{\"error\":\"") && text().endsWith("\",\"successful\":0}");
    }

    @Override
    public String toString() {
        return method + ' ' + url + " -> " + status + ' ' + text();
    }

    private static byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
        }
        return out.toByteArray();
    }
}
