package io.tollgate;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A redis-server of our own on a free port. */
final class RedisServer implements AutoCloseable {
    private final int port;
    private Process process;

    RedisServer() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
    }

    static RedisServer started() throws IOException {
        RedisServer server = new RedisServer();
        server.start();
        return server;
    }

    String url() {
        return "redis://127.0.0.1:" + port;
    }

    void start() throws IOException {
        process = new ProcessBuilder("redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port",
                Integer.toString(port)).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start();
        Wait.until(() -> {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
                return true;
            } catch (IOException e) {
                return false;
            }
        });
    }

    /** Sends one command, like {@code CLIENT UNPAUSE}. */
    void command(String command) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
            int first = socket.getInputStream().read();
            if (first == '-' || first < 0) {
                throw new AssertionError(command + " was refused");
            }
        }
    }

    /** Sends a signal, like {@code STOP}. */
    void signal(String name) throws IOException {
        try {
            int status = new ProcessBuilder("kill", "-s", name, Long.toString(pid())).start().waitFor();
            if (status != 0) {
                throw new AssertionError("kill -s " + name + " gave " + status);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    long pid() {
        try {
            // By name, since Java 8 doesn't have it.
            return (Long) Process.class.getMethod("pid").invoke(process);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    void kill() {
        process.destroyForcibly();
        Wait.until(() -> !process.isAlive());
    }

    @Override
    public void close() {
        if (process != null) {
            kill();
        }
    }
}
