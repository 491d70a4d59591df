package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.support.ReloadableResourceBundleMessageSource;
import org.springframework.context.support.ResourceBundleMessageSource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;

/** What the jars of tollgate-java and of this module tell GraalVM names what is there, and all that has to be named. */
class NativeImageTest {
    private static final Set<String> KEYS = new HashSet<>(Arrays.asList("condition", "name", "fields", "methods",
            "allDeclaredConstructors", "allDeclaredFields", "allDeclaredMethods", "allPublicMethods"));

    @ParameterizedTest
    @CsvSource({"tollgate-java, jni", "tollgate-java, reflect", "tollgate-spring, reflect"})
    void everyMemberThatIsNamedExists(String module, String kind) throws Exception {
        JsonNode entries = read(module, kind);
        assertThat(entries).isNotEmpty();
        for (JsonNode entry : entries) {
            entry.fieldNames().forEachRemaining(key -> assertThat(KEYS).contains(key));
            checkCondition(entry);
            Class<?> type = type(entry.get("name").asText());
            for (JsonNode field : entry.path("fields")) {
                assertThat(type.getDeclaredField(field.get("name").asText())).isNotNull();
            }
            for (JsonNode method : entry.path("methods")) {
                Class<?>[] parameters = texts(method.get("parameterTypes")).stream().map(NativeImageTest::type).toArray(Class<?>[]::new);
                String name = method.get("name").asText();
                assertThat(name.equals("<init>") ? type.getDeclaredConstructor(parameters) : type.getDeclaredMethod(name, parameters))
                        .isNotNull();
            }
        }
    }

    @Test
    void everyProxyIsOfInterfaces() throws Exception {
        JsonNode entries = read("tollgate-spring", "proxy");
        assertThat(entries).isNotEmpty();
        for (JsonNode entry : entries) {
            checkCondition(entry);
            assertThat(texts(entry.get("interfaces"))).isNotEmpty().allMatch(name -> type(name).isInterface());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tollgate-java", "tollgate-spring"})
    void everyResourcePatternMatches(String module) throws Exception {
        Set<String> there = resources();
        List<String> patterns = patterns(module);
        assertThat(patterns).isNotEmpty().allMatch(pattern -> there.stream().anyMatch(name -> name.matches(pattern)));
        for (JsonNode bundle : read(module, "resource").path("bundles")) {
            String base = bundle.get("name").asText().replace('.', '/');
            Set<String> files = texts(bundle.get("locales")).stream()
                    .map(locale -> base + (locale.isEmpty() ? "" : "_" + locale) + ".properties").collect(Collectors.toSet());
            assertThat(files).isEqualTo(there.stream().filter(name -> name.startsWith(base)).collect(Collectors.toSet()));
        }
    }

    @Test
    void everyResourceIsNamed() throws Exception {
        List<String> patterns = Stream.of(patterns("tollgate-java"), patterns("tollgate-spring"))
                .flatMap(List::stream).collect(Collectors.toList());
        assertThat(resources()).hasSizeGreaterThan(9).allMatch(name -> patterns.stream().anyMatch(name::matches));
    }

    @Test
    void everyClassWithNativeMethodsIsNamed() throws Exception {
        Set<String> natives = new TreeSet<>();
        for (String file : paths("io/tollgate/*.class")) {
            Class<?> type = type(file.replace(".class", "").replace('/', '.'));
            if (Arrays.stream(type.getDeclaredMethods()).map(Method::getModifiers).anyMatch(Modifier::isNative)) {
                natives.add(type.getName());
            }
        }
        assertThat(natives).contains("io.tollgate.Tollgate");
        assertThat(names(read("tollgate-java", "jni"))).containsAll(natives);
    }

    @Test
    void everyClassThatTheNativeSideNamesIsNamed() throws Exception {
        Set<String> named = new TreeSet<>();
        Pattern literal = Pattern.compile("\"((?:io/tollgate|java)/[\\w/$]+)\"");
        try (Stream<Path> sources = Files.walk(Paths.get("../../ffi/src"))) {
            for (Path source : sources.filter(file -> file.toString().endsWith(".rs")).collect(Collectors.toList())) {
                Matcher found = literal.matcher(new String(Files.readAllBytes(source), StandardCharsets.UTF_8));
                while (found.find()) {
                    named.add(found.group(1).replace('/', '.'));
                }
            }
        }
        assertThat(named).contains("io.tollgate.TollgateException");
        assertThat(names(read("tollgate-java", "jni"))).containsAll(named);
    }

    @ParameterizedTest
    @ValueSource(classes = {ResourceBundleMessageSource.class, ReloadableResourceBundleMessageSource.class})
    void theFieldsOfAHostsMessagesAreNamed(Class<?> source) throws Exception {
        JsonNode entries = read("tollgate-spring", "reflect");
        for (Class<?> next = source; next != Object.class; next = next.getSuperclass()) {
            assertThat(names(entries)).contains(next.getName());
        }
    }

    private static void checkCondition(JsonNode entry) {
        if (entry.has("condition")) {
            type(entry.get("condition").get("typeReachable").asText());
        }
    }

    private static Class<?> type(String name) {
        try {
            return ClassUtils.forName(name, NativeImageTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(name + " isn't there", e);
        }
    }

    private static JsonNode read(String module, String kind) throws IOException {
        return new ObjectMapper().readTree(NativeImageTest.class.getResource(
                "/META-INF/native-image/io.tollgate/" + module + "/" + kind + "-config.json"));
    }

    private static List<String> patterns(String module) throws IOException {
        List<String> patterns = new ArrayList<>();
        read(module, "resource").get("resources").get("includes").forEach(include -> patterns.add(include.get("pattern").asText()));
        return patterns;
    }

    private static Set<String> names(JsonNode entries) {
        Set<String> names = new TreeSet<>();
        entries.forEach(entry -> names.add(entry.get("name").asText()));
        return names;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    /** What both jars carry for run time. */
    private static Set<String> resources() throws IOException {
        Set<String> names = paths("io/tollgate/**/*.*");
        names.addAll(paths("META-INF/native/**/*.*"));
        names.removeIf(name -> name.endsWith(".class"));
        return names;
    }

    /** Paths within the folders and jars of the class path. */
    private static Set<String> paths(String pattern) throws IOException {
        String root = pattern.substring(0, pattern.indexOf('*'));
        Set<String> paths = new TreeSet<>();
        for (Resource resource : new PathMatchingResourcePatternResolver().getResources("classpath*:" + pattern)) {
            String url = resource.getURL().toString();
            // The last one, since a folder of the build may have such a name too.
            paths.add(url.substring(url.lastIndexOf("/" + root) + 1));
        }
        return paths;
    }
}
