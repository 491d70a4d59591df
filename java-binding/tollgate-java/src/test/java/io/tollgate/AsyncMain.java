package io.tollgate;

import java.io.IOException;
import java.net.URI;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Leaves hits under way and its limiter open, for a JVM of its own. */
public final class AsyncMain {
    private AsyncMain() {}

    public static void main(String[] arguments) throws IOException {
        String url = System.getProperty("redis.url");
        Tollgate tollgate = Tollgate.builder().url(url).deadline(Duration.ofSeconds(60)).connectTimeout(Duration.ofSeconds(60)).open();
        Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(1_000).register();
        System.out.println(tollgate.acquireAsync(rule, "u1").toCompletableFuture().join().outcome());
        try (Socket socket = new Socket("127.0.0.1", URI.create(url).getPort())) {
            socket.getOutputStream().write("CLIENT PAUSE 600000 WRITE\r\n".getBytes(StandardCharsets.UTF_8));
            socket.getInputStream().read();
        }
        for (int i = 0; i < 100; i++) {
            tollgate.acquireAsync(rule, "u1").thenAccept(System.out::println);
        }
        System.out.println("main ends");
    }
}
