package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What a whole JVM decides: its encoding, its locale, its library. */
class ForkedTest {
    @Test
    void thePlatformsEncodingIsNobodysBusiness() throws Exception {
        List<String> lines = fork("-Dfile.encoding=ISO-8859-1", "-Dsun.jnu.encoding=ISO-8859-1");
        assertThat(lines).contains("encoding ISO-8859-1");
        assertThat(lines).contains("first 200 " + hex("list"));
        assertThat(lines).contains("zh-CN application/json;charset=UTF-8 "
                + hex("{\"error\":\"操作过于频繁，请稍后再试\",\"successful\":0}"));
        assertThat(lines).contains("ko application/json;charset=UTF-8 "
                + hex("{\"error\":\"요청이 너무 잦습니다. 잠시 후 다시 시도해 주세요.\",\"successful\":0}"));
    }

    @Test
    void aRequestWithoutALanguageSpeaksTheServers() throws Exception {
        List<String> lines = fork("-Duser.language=zh", "-Duser.country=CN");
        assertThat(lines).contains("none application/json;charset=UTF-8 "
                + hex("{\"error\":\"操作过于频繁，请稍后再试\",\"successful\":0}"));
    }

    @Test
    void withoutTheLibraryTheHostStartsRequestsPassAndTheLogSaysWhy() throws Exception {
        List<String> lines = fork("-Dio.tollgate.library=/nonexistent/libtollgate.so");
        assertThat(lines).contains("first 200 " + hex("list"));
        assertThat(lines.stream().filter(line -> line.startsWith("zh-CN") || line.startsWith("ko") || line.startsWith("none")))
                .hasSize(3).allMatch(line -> line.endsWith(' ' + hex("list")));
        List<String> errors = lines.stream().filter(line -> line.contains(" ERROR ")).collect(Collectors.toList());
        assertThat(errors).hasSize(2).allMatch(line -> line.contains("/nonexistent/libtollgate.so") && line.contains("NOT LIMIT"));
        assertThat(errors.get(0)).contains("1 guarded method").contains("io.tollgate.library");
    }

    private static List<String> fork(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(Arrays.asList(options));
        command.addAll(Arrays.asList("-cp", System.getProperty("java.class.path"), Forked.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<String> lines;
        try (BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.ISO_8859_1))) {
            lines = out.lines().collect(Collectors.toList());
        }
        assertThat(process.waitFor()).as(() -> String.join("\n", lines)).isZero();
        return lines;
    }

    static String hex(String text) {
        return hex(text.getBytes(StandardCharsets.UTF_8));
    }

    static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(String.format("%02x", b));
        }
        return hex.toString();
    }

    /** The other JVM: one host, a first hit, and three more in different languages. */
    static final class Forked {
        private Forked() {}

        public static void main(String[] arguments) {
            System.out.println("encoding " + System.getProperty("file.encoding"));
            try (Host host = Host.start(Orders.class)) {
                Http first = host.get("/list?usercode=%E5%BC%A0");
                System.out.println("first " + first.status() + ' ' + hex(first.bytes()));
                for (String language : new String[] {"zh-CN", "ko", "none"}) {
                    Http next = host.request("GET", "/list?usercode=%E5%BC%A0");
                    if (!language.equals("none")) {
                        next.header("Accept-Language", language);
                    }
                    next.send();
                    System.out.println(language + ' ' + next.responseHeader("Content-Type") + ' ' + hex(next.bytes()));
                }
            }
        }
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }
    }
}
