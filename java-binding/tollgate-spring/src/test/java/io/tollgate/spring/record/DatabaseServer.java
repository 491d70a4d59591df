package io.tollgate.spring.record;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A database server of our own, on a free port, with its data in a directory that goes with it. */
abstract class DatabaseServer implements AutoCloseable {
    final int port;
    Path directory;
    private Process process;

    DatabaseServer() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of the database that tests may fill; with all that it takes to get in. */
    abstract String url();

    /** Fills the directory. */
    abstract void initialize() throws IOException;

    abstract List<String> command();

    /** Of a database that is there from the start. */
    abstract String adminUrl();

    /** The user to run as where this process is root's; null for root. */
    abstract String unprivileged();

    DatabaseServer create() {
        try {
            directory = Files.createTempDirectory("tollgate-db");
            own(directory);
            initialize();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start();
        return this;
    }

    void start() {
        try {
            process = new ProcessBuilder(asUser(command())).directory(directory.toFile()).redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile()).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        until("the server answers, see " + directory.resolve("log"), () -> {
            if (!process.isAlive()) {
                throw new AssertionError("the server ended: " + log());
            }
            try (Connection connection = DriverManager.getConnection(adminUrl())) {
                return connection.isValid(5);
            } catch (SQLException e) {
                return false;
            }
        });
    }

    /** As a crash does. */
    void kill() {
        if (process.isAlive()) {
            // The server and then what it left: a stopped process must not outlive the test.
            List<String> left = children(pid());
            process.destroyForcibly();
            left.forEach(pid -> {
                try {
                    new ProcessBuilder("kill", "-s", "KILL", pid).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start().waitFor();
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }
        until("the server is gone", () -> !process.isAlive());
    }

    /** Sends a signal, like {@code STOP}, to it and its children. */
    void signal(String name) {
        List<String> pids = new ArrayList<>(Arrays.asList("kill", "-s", name, Long.toString(pid())));
        pids.addAll(children(pid()));
        try {
            run(pids);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long pid() {
        try {
            // By name, since Java 8 doesn't have it.
            return (Long) Process.class.getMethod("pid").invoke(process);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> children(long pid) {
        try {
            String[] found = new String(Files.readAllBytes(Paths.get("/proc/" + pid + "/task/" + pid + "/children"))).trim().split(" ");
            return found[0].isEmpty() ? new ArrayList<>() : Arrays.asList(found);
        } catch (IOException e) {
            return new ArrayList<>();
        }
    }

    @Override
    public void close() {
        if (process != null) {
            kill();
        }
        if (directory != null) {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    void run(List<String> words) throws IOException {
        File output = directory.resolve("tool").toFile();
        try {
            int status = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(output).start().waitFor();
            if (status != 0) {
                throw new AssertionError(words + " gave " + status + ": " + new String(Files.readAllBytes(output.toPath())));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    List<String> asUser(List<String> words) {
        if (!isRoot() || unprivileged() == null) {
            return words;
        }
        List<String> all = new ArrayList<>(Arrays.asList("setpriv", "--reuid=" + unprivileged(), "--regid=" + unprivileged(),
                "--clear-groups"));
        all.addAll(words);
        return all;
    }

    private void own(Path path) throws IOException {
        if (isRoot() && unprivileged() != null) {
            Files.setOwner(path, FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(unprivileged()));
        }
    }

    static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private String log() {
        try {
            return new String(Files.readAllBytes(directory.resolve("log")));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** The program, from the path or one of these folders. Without it the tests are skipped, or fail where servers are required. */
    static String program(String name, String packages, List<Path> folders) {
        List<Path> all = new ArrayList<>();
        for (String folder : System.getenv("PATH").split(File.pathSeparator)) {
            all.add(Paths.get(folder));
        }
        all.addAll(folders);
        for (Path folder : all) {
            if (Files.isExecutable(folder.resolve(name))) {
                return folder.resolve(name).toString();
            }
        }
        String missing = name + " is missing: install it (apt-get install " + packages + ")";
        if (System.getenv("TOLLGATE_REQUIRE_SERVERS") != null) {
            throw new AssertionError(missing);
        }
        Assumptions.assumeTrue(false, missing);
        throw new AssertionError(missing);
    }

    /** Waits for a condition, two minutes at most. */
    static void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + 120_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited in vain until " + what);
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
