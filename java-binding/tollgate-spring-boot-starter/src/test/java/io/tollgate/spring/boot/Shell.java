package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** What an operator or a developer types. */
final class Shell {
    private Shell() {}

    /** Runs it, each {@code redis-cli} against this server. What it prints; fails if it fails. */
    static String run(RedisServer redis, String script) {
        return run("sh", "-ec", script.replace("redis-cli", "redis-cli -p " + redis.port()));
    }

    /** Runs it in a folder with these files, which it may change. What it prints; fails if it fails. */
    static String run(Map<String, String> files, String script) {
        try {
            Path folder = Files.createTempDirectory("tollgate-shell");
            for (Map.Entry<String, String> file : files.entrySet()) {
                Files.write(folder.resolve(file.getKey()), file.getValue().getBytes(StandardCharsets.UTF_8));
            }
            String printed = run("sh", "-ec", "cd '" + folder + "'\n" + script);
            for (Map.Entry<String, String> file : files.entrySet()) {
                Path path = folder.resolve(file.getKey());
                file.setValue(new String(Files.readAllBytes(path), StandardCharsets.UTF_8));
                Files.delete(path);
            }
            Files.delete(folder);
            return printed;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String run(String... command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            ByteArrayOutputStream heard = new ByteArrayOutputStream();
            try (InputStream out = process.getInputStream()) {
                byte[] buffer = new byte[8192];
                for (int n = out.read(buffer); n >= 0; n = out.read(buffer)) {
                    heard.write(buffer, 0, n);
                }
            }
            String text = new String(heard.toByteArray(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(text).isZero();
            return text;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(String.join(" ", command), e);
        }
    }
}
