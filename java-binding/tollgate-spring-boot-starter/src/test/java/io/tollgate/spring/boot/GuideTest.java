package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimited;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Replays the commands that docs/spring.md shows, and keeps its code what runs here. */
class GuideTest {
    private static final String ADDRESS = "http://localhost:8080";

    /** Each section is an application of its own, with the properties that it shows. */
    @ParameterizedTest
    @MethodSource("sections")
    void theCommandsOfTheGuideGiveWhatItShows(Section section) throws Exception {
        try (Host host = Host.start(section.parts(OrderController.class, SearchController.class, Others.class, PriceService.class))) {
            for (String[] exchange : section.exchanges) {
                String command = exchange[0].replace(ADDRESS, host.url("").replaceAll("/$", ""));
                assertThat(command).as("only the application is asked").startsWith("curl ").contains(host.url(""));
                assertThat(run(command)).as(exchange[0]).matches(pattern(exchange[0], exchange[1]));
            }
        }
    }

    static List<Section> sections() throws IOException {
        return Section.read(guide()).stream().filter(section -> !section.exchanges.isEmpty()).collect(Collectors.toList());
    }

    @Test
    void theCodeOfTheGuideIsWhatRunsHere() throws IOException {
        String source = squeeze(read(moduleFile("src/test/java/io/tollgate/spring/boot/GuideTest.java")));
        List<String> blocks = Section.read(guide()).stream().flatMap(section -> section.code.stream()).collect(Collectors.toList());
        assertThat(blocks).hasSizeGreaterThan(4);
        assertThat(blocks).allSatisfy(block -> Stream.of(block.split("\n\n"))
                .forEach(part -> assertThat(source).contains(squeeze(part).replaceAll("}$", ""))));
    }

    private static String squeeze(String text) {
        return text.replaceAll("\\s+", " ").replaceAll("(public|static) class", "class").trim();
    }

    private static Path guide() {
        return moduleFile("../../docs/spring.md");
    }

    /** Tests run in the folder of a module, which may be another one that borrows these tests. */
    private static Path moduleFile(String path) {
        return Paths.get("../tollgate-spring-boot-starter").resolve(path);
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** The output as it is shown, an ellipsis for anything; of header fields only those that are shown have to be there, in this order. */
    private static String pattern(String command, String shown) {
        String between = command.contains("-D -") ? "[^\n]*\n(?:.*\n)?" : "\n";
        return "(?s)" + Stream.of(shown.trim().split("\n"))
                .map(line -> Stream.of(line.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*?")))
                .collect(Collectors.joining(between)) + (command.contains("-D -") ? ".*" : "\\s*");
    }

    private static String run(String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", command + " --max-time 60").redirectErrorStream(true).start();
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        byte[] buffer = new byte[4096];
        try (InputStream in = process.getInputStream()) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                output.write(buffer, 0, n);
            }
        }
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return new String(output.toByteArray(), StandardCharsets.UTF_8).replace("\r", "");
    }

    /** What stands below one heading. */
    static final class Section {
        final String title;
        final List<String> code = new ArrayList<>();
        final List<String> properties = new ArrayList<>();
        final List<String[]> exchanges = new ArrayList<>();

        Section(String title) {
            this.title = title;
        }

        static List<Section> read(Path guide) throws IOException {
            List<Section> sections = new ArrayList<>();
            Section section = new Section("");
            String kind = null;
            StringBuilder block = new StringBuilder();
            for (String line : Files.readAllLines(guide, StandardCharsets.UTF_8)) {
                if (kind == null && line.startsWith("#")) {
                    section = new Section(line);
                    sections.add(section);
                } else if (kind == null && line.startsWith("```")) {
                    kind = line.substring(3);
                } else if (kind != null && line.equals("```")) {
                    section.add(kind, block.toString());
                    block.setLength(0);
                    kind = null;
                } else if (kind != null) {
                    block.append(line).append('\n');
                }
            }
            return sections;
        }

        private void add(String kind, String block) {
            if (kind.equals("java")) {
                code.add(block.trim());
            } else if (kind.equals("properties")) {
                properties.addAll(Arrays.asList(block.trim().split("\n")));
            } else if (kind.equals("console")) {
                for (String exchange : block.split("(?m)^\\$ ")) {
                    if (!exchange.isEmpty()) {
                        exchanges.add(exchange.split("\n", 2));
                    }
                }
            }
        }

        Object[] parts(Class<?>... classes) {
            List<Object> parts = new ArrayList<>(properties);
            parts.add("orders.export.limit=1");
            parts.addAll(0, Arrays.asList(classes));
            return parts.stream().filter(part -> !part.equals("orders.export.limit=1")
                    || properties.stream().noneMatch(property -> property.startsWith("orders."))).toArray();
        }

        @Override
        public String toString() {
            return title;
        }
    }

    @RestController
    static class OrderController {
        @RateLimit(interval = 3600)
        @GetMapping("/orders")
        public List<String> list() {
            return Arrays.asList("o1", "o2");
        }
    }

    @RestController
    static class SearchController {
        @RateLimit(interval = 3600, limit = 2)
        @RateLimit(rule = "Search.daily", interval = 86_400, limit = 3)
        @GetMapping("/search")
        public String search() {
            return "found";
        }
    }

    @RestController
    static class Others {
        @Autowired
        private PriceService prices;

        @RateLimit(by = LimitBy.IP, interval = 3600)
        @GetMapping("/login-page")
        public String page() {
            return "page";
        }

        @RateLimit(key = "#user + '|' + #p0", interval = 3600)
        @GetMapping("/close")
        public String close(@RequestParam("id") String id) {
            return "closed " + id;
        }

        @RateLimit(condition = "#rows > 100", unless = "#principal?.name == 'robot'", interval = 3600)
        @GetMapping("/rows")
        public String rows(@RequestParam("rows") int rows) {
            return rows + " rows";
        }

        @RateLimit(interval = 3600, message = "One report an hour, please")
        @GetMapping("/report")
        public String report() {
            return "report";
        }

        @RateLimit(intervalString = "${orders.export.window:PT1H}", limitString = "${orders.export.limit}")
        @GetMapping("/export")
        public String export() {
            return "export";
        }

        @GetMapping("/price")
        public String price(@RequestParam("item") String item) {
            return prices.price(item);
        }
    }

    @Service
    static class PriceService {
        @RateLimit(by = LimitBy.GLOBAL, interval = 3600, limit = 2, fallback = "lastKnown")
        public String price(String item) {
            return "fresh price of " + item;
        }

        private String lastKnown(String item, RateLimited limited) {
            return "last known price of " + item;
        }
    }
}
