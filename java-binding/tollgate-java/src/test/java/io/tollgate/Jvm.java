package io.tollgate;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another JVM of the kind that runs the tests. */
final class Jvm {
    final int exit;
    final String out;
    final String err;

    private Jvm(int exit, String out, String err) {
        this.exit = exit;
        this.out = out;
        this.err = err;
    }

    static Jvm run(Class<?> main, String... options) throws IOException, InterruptedException {
        return run(System.getProperty("java.class.path"), main, options);
    }

    static Jvm run(String classPath, Class<?> main, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        if (!Arrays.asList(options).contains("--illegal-native-access=deny")) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(Arrays.asList(options));
        command.addAll(Arrays.asList("-cp", classPath, main.getName()));
        return execute(command);
    }

    static Jvm execute(List<String> command) throws IOException, InterruptedException {
        Path out = Files.createTempFile("out", ".txt");
        Path err = Files.createTempFile("err", ".txt");
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
            // What the surrounding build sets for its own JVMs.
            builder.environment().remove("JAVA_TOOL_OPTIONS");
            Process process = builder.start();
            if (!process.waitFor(10, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError(command + " doesn't end");
            }
            return new Jvm(process.exitValue(), text(out), text(err));
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "exit " + exit + "\n" + out + "\n" + err;
    }
}
