package io.tollgate.spring.boot;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A real redis-server on a free port of the loopback interface. */
final class RedisServer implements AutoCloseable {
    private final int port = freePort();
    private final String password;
    private Path directory;
    private Process process;

    RedisServer(String password) {
        this.password = password;
    }

    int port() {
        return port;
    }

    RedisServer start() {
        try {
            directory = Files.createTempDirectory("tollgate-redis");
            List<String> command = new ArrayList<>(Arrays.asList("redis-server", "--port", String.valueOf(port), "--bind", "127.0.0.1",
                    "--save", "", "--appendonly", "no", "--daemonize", "no",
                    "--dir", directory.toString()));
            if (password != null) {
                // In a file, since an argument would be in the platform's encoding.
                Path config = directory.resolve("redis.conf");
                String quoted = password.replace("\\", "\\\\").replace("\"", "\\\"");
                Files.write(config, ("requirepass \"" + quoted + "\"\n").getBytes(StandardCharsets.UTF_8));
                command.add(1, config.toString());
            }
            process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start();
        } catch (IOException e) {
            throw new IllegalStateException("redis-server can't be started: install it (apt-get install redis-server)", e);
        }
        await(() -> "PONG".equals(command("PING")));
        return this;
    }

    void stop() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
            Files.deleteIfExists(directory.resolve("redis.conf"));
            Files.deleteIfExists(directory);
        } catch (InterruptedException | IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends a signal, like {@code STOP}. */
    void signal(String name) {
        try {
            // Process.pid() came with Java 9.
            Object pid = Process.class.getMethod("pid").invoke(process);
            if (new ProcessBuilder("kill", "-s", name, pid.toString()).start().waitFor() != 0) {
                throw new AssertionError("kill -s " + name + " failed");
            }
        } catch (ReflectiveOperationException | IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The reply's text, or null: for a nil, and while the server doesn't answer. */
    String command(String... words) {
        return command(0, words);
    }

    String command(int database, String... words) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(10_000);
            BufferedReader replies = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            if (password != null) {
                exchange(socket, replies, "AUTH", password);
            }
            exchange(socket, replies, "SELECT", String.valueOf(database));
            return exchange(socket, replies, words);
        } catch (IOException e) {
            return null;
        }
    }

    private static String exchange(Socket socket, BufferedReader replies, String... words) throws IOException {
        StringBuilder request = new StringBuilder("*").append(words.length).append("\r\n");
        for (String word : words) {
            request.append('$').append(word.getBytes(StandardCharsets.UTF_8).length).append("\r\n").append(word).append("\r\n");
        }
        OutputStream out = socket.getOutputStream();
        out.write(request.toString().getBytes(StandardCharsets.UTF_8));
        out.flush();
        String reply = replies.readLine();
        if (reply == null || reply.equals("$-1")) {
            return null;
        }
        return reply.startsWith("$") ? replies.readLine() : reply.substring(1);
    }

    /** Waits for a condition, half a minute at most. */
    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("what was waited for didn't come");
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        if (process != null) {
            stop();
        }
    }
}
