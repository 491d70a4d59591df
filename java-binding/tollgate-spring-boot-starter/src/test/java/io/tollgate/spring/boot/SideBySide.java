package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.json.JsonParserFactory;

/** Two hosts that get the same requests: one with what a team has, one with what the guide makes of it. */
final class SideBySide implements AutoCloseable {
    final Host before;
    final Host after;

    SideBySide(Host before, Host after) {
        this.before = before;
        this.after = after;
    }

    /** Sends a request to both, with header names and values in turn; the answer that both gave. */
    String same(String path, String... headers) {
        Http old = send(before, path, headers);
        Http ours = send(after, path, headers);
        assertThat(ours.status()).as(path).isEqualTo(old.status());
        assertThat(mediaType(ours)).as(path).isEqualTo(mediaType(old));
        if (mediaType(old).equals("application/json")) {
            // Which member comes first is nothing that JSON promises.
            assertThat(JsonParserFactory.getJsonParser().parseMap(ours.text())).as(path)
                    .isEqualTo(JsonParserFactory.getJsonParser().parseMap(old.text()));
        } else {
            assertThat(ours.text()).as(path).isEqualTo(old.text());
        }
        return old.text();
    }

    static Http send(Host host, String path, String... headers) {
        Http request = host.request("GET", path);
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return request.send();
    }

    /** Ends the windows of these counters, each of which must be known to end, and waits until they have. */
    static void endWindows(RedisServer redis, long seconds, String... keys) {
        for (String key : keys) {
            assertThat(Long.parseLong(redis.command("TTL", key))).as(key).isBetween(1L, seconds);
            assertThat(redis.command("PEXPIRE", key, "50")).as(key).isEqualTo("1");
        }
        for (String key : keys) {
            RedisServer.await(() -> redis.command("EXISTS", key).equals("0"));
        }
    }

    private static String mediaType(Http answer) {
        String type = answer.responseHeader("Content-Type");
        return type.contains(";") ? type.substring(0, type.indexOf(';')) : type;
    }

    @Override
    public void close() {
        before.close();
        after.close();
    }
}
