package io.tollgate;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Threads of this process, those that the JVM doesn't know included. */
final class Tasks {
    private Tasks() {}

    static long count() {
        return list().size();
    }

    /** How many have a name that begins like this. */
    static long named(String prefix) {
        return list().stream().filter(task -> name(task).startsWith(prefix)).count();
    }

    private static List<Path> list() {
        try (Stream<Path> tasks = Files.list(Paths.get("/proc/self/task"))) {
            return tasks.collect(Collectors.toList());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String name(Path task) {
        try {
            return new String(Files.readAllBytes(task.resolve("comm")), StandardCharsets.UTF_8);
        } catch (IOException e) {
            // It has ended.
            return "";
        }
    }
}
