package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the guide on migrating shows is what is tested, in both languages. */
class MigratingGuideTest {
    /** What the tests take from the guide itself. */
    private static final Set<String> TAKEN = new HashSet<>(Arrays.asList("dependency", "ruoyi-properties", "ruoyi-messages", "ruoyi-sed",
            "ruoyi-sed-run", "ruoyi-shadow", "ruoyi-look", "ruoyi-switch", "aop-properties"));

    @Test
    void theJavaItShowsIsThatOfTheTests() {
        Map<String, String> shown = Guide.shown();
        assertThat(shown.keySet()).containsExactlyInAnyOrder("ruoyi-before", "ruoyi-after", "ruoyi-bridge", "aop-before", "aop-after");
        Map<String, String> java = new LinkedHashMap<>(Guide.blocks("migrating.md"));
        java.keySet().removeAll(TAKEN);
        assertThat(java).isEqualTo(shown);
    }

    @Test
    void theChineseGuideShowsTheSame() {
        assertThat(Guide.blocks("migrating.zh-CN.md")).isEqualTo(Guide.blocks("migrating.md"));
        assertThat(rows("migrating.zh-CN.md")).isEqualTo(rows("migrating.md"));
    }

    /** How many cells each row of its tables has. */
    private static List<Integer> rows(String file) {
        return Guide.lines("docs/" + file).stream().filter(line -> line.startsWith("|"))
                .map(line -> line.split("\\|", -1).length).collect(Collectors.toList());
    }

    @Test
    void whatItGivesToCopyIsWhatIsThere() {
        assertThat(Guide.lines("README.md")).contains("    " + Guide.block("dependency").trim());
        List<String> messages = Arrays.asList(Guide.block("ruoyi-messages").trim().split("\n"));
        assertThat(messages).isEqualTo(Guide.lines(
                "java-binding/tollgate-spring-boot-starter/src/test/resources/migrating/messages.properties"));
    }

    /** Wherever a table names an attribute of ours, it is one. */
    @Test
    void theAttributesItNamesExist() {
        Set<String> names = Arrays.stream(RateLimit.class.getDeclaredMethods())
                .map(Method::getName).collect(Collectors.toSet());
        for (String file : new String[] {"migrating.md", "migrating.zh-CN.md"}) {
            List<String> attributes = Guide.lines("docs/" + file).stream()
                    .filter(line -> line.startsWith("| ") && line.split("\\|").length > 2)
                    .flatMap(line -> Arrays.stream(line.split("\\|")[2].split("`")))
                    .filter(code -> code.matches("[a-zA-Z]+ = .*"))
                    .map(code -> code.substring(0, code.indexOf(' ')))
                    .collect(Collectors.toList());
            assertThat(attributes).as(file).hasSizeGreaterThan(10);
            assertThat(names).as(file).containsAll(attributes);
        }
    }
}
