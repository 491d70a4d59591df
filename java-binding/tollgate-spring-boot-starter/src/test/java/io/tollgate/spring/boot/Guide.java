package io.tollgate.spring.boot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The guide on migrating, whose code is what the tests run. A block in it follows {@code <!-- tested: name -->}; Java is shown from {@code
 * // shown: name} to {@code // end} of a test, all else the tests take from the guide.
 */
final class Guide {
    private static final Path ROOT = root();
    private static final String TESTS = "java-binding/tollgate-spring-boot-starter/src/test/java/io/tollgate/spring/boot";

    private Guide() {}

    /** The blocks of a language's guide by name; those without a name are named by their first line. */
    static Map<String, String> blocks(String file) {
        Map<String, String> blocks = new LinkedHashMap<>();
        String name = null;
        List<String> block = new ArrayList<>();
        List<String> lines = new ArrayList<>(lines(ROOT.resolve("docs").resolve(file)));
        lines.add("end");
        for (String line : lines) {
            if (line.startsWith("    ") || line.isEmpty() && !block.isEmpty()) {
                block.add(line);
                continue;
            }
            if (!block.isEmpty()) {
                String text = dedent(block);
                blocks.put(name == null ? text.split("\n")[0] : name, text);
                name = null;
                block.clear();
            }
            if (line.startsWith("<!-- tested: ")) {
                name = line.substring("<!-- tested: ".length(), line.indexOf(" -->"));
            }
        }
        return blocks;
    }

    /** A block of the guide. */
    static String block(String name) {
        String block = blocks("migrating.md").get(name);
        if (block == null) {
            throw new AssertionError("docs/migrating.md has no block <!-- tested: " + name + " -->");
        }
        return block;
    }

    /** What tests show, by name. */
    static Map<String, String> shown() {
        Map<String, String> shown = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(ROOT.resolve(TESTS))) {
            files.filter(file -> file.getFileName().toString().endsWith("MigrationTest.java")).sorted().forEach(file -> {
                String name = null;
                List<String> region = new ArrayList<>();
                for (String line : lines(file)) {
                    if (line.trim().startsWith("// shown: ")) {
                        name = line.trim().substring("// shown: ".length());
                    } else if (name != null && line.trim().equals("// end")) {
                        shown.put(name, dedent(region));
                        name = null;
                        region.clear();
                    } else if (name != null) {
                        region.add(line);
                    }
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return shown;
    }

    static List<String> lines(String path) {
        return lines(ROOT.resolve(path));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String dedent(List<String> lines) {
        int indent = lines.stream().filter(line -> !line.isEmpty())
                .mapToInt(line -> line.length() - line.replaceFirst("^ +", "").length()).min().orElse(0);
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            text.append(line.isEmpty() ? "" : line.substring(indent)).append('\n');
        }
        return text.toString().trim() + '\n';
    }

    private static Path root() {
        for (Path next = Paths.get("").toAbsolutePath(); next != null; next = next.getParent()) {
            if (Files.exists(next.resolve("docs/migrating.md"))) {
                return next;
            }
        }
        throw new AssertionError("docs/migrating.md is in no folder above " + Paths.get("").toAbsolutePath());
    }
}
