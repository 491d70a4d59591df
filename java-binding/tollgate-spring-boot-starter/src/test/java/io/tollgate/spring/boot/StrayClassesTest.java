package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.coverage.Gap;
import io.tollgate.spring.coverage.MethodCoverage;
import io.tollgate.spring.coverage.RateLimitCoverage;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.event.ContextRefreshedEvent;

/** Classes of the application that are no beans. They are compiled here, since what lies among test classes is left out. */
class StrayClassesTest {
    private static final String IMPORTS = "import io.tollgate.spring.*; import org.springframework.context.annotation.*; "
            + "import org.springframework.stereotype.*; ";

    @TempDir
    Path classes;

    private final ClassLoader before = Thread.currentThread().getContextClassLoader();

    @AfterEach
    void restore() {
        Thread.currentThread().setContextClassLoader(before);
    }

    @Test
    void areSaidUnlessTheyAreMeantToBeSo() throws Exception {
        compile("Application", "@org.springframework.boot.autoconfigure.AutoConfigurationPackage @Configuration "
                + "@ComponentScan public class Application {}");
        compile("Forgotten", "public class Forgotten { @RateLimit public void list() {} public void other() {} }");
        compile("Whole", "@RateLimit public class Whole { public void all() {} void inside() {} }");
        compile("Several", "public class Several { @RateLimit @RateLimit(rule = \"daily\", limit = 9) public void twice() {} }");
        compile("Slow", "import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME) @RateLimit public @interface Slow {}");
        compile("Composed", "public class Composed { @Slow public void slow() {} }");
        compile("Base", "public class Base { @RateLimit(by = LimitBy.GLOBAL) public void inherited() {} }");
        compile("Bean", "@Service public class Bean extends Base {}");
        compile("Abstract", "public abstract class Abstract { @RateLimit public void list() {} }");
        compile("OtherProfile", "@Service @Profile(\"other\") public class OtherProfile { @RateLimit public void list() {} }");
        compile("Ignored", "public class Ignored { @RateLimit public void list() {} }");
        compile("Free", "public class Free { public void list() {} }");

        try (Output output = new Output(); Host host = start("tollgate.coverage.ignore=app.Ign*")) {
            List<MethodCoverage> open = host.bean(RateLimitCoverage.class).unprotected();
            assertThat(open).extracting(MethodCoverage::signature).containsExactlyInAnyOrder(
                    "app.Forgotten.list()", "app.Whole.all()", "app.Several.twice()", "app.Composed.slow()");
            assertThat(open).allSatisfy(next -> {
                assertThat(next.gap()).isEqualTo(Gap.NOT_A_BEAN);
                assertThat(next.beanName()).isNull();
                assertThat(next.rules()).isNotEmpty();
            });
            assertThat(output.lines("ERROR")).hasSize(4)
                    .anyMatch(line -> line.startsWith("tollgate: app.Forgotten.list() is NOT PROTECTED: its class isn't a bean. Make the class"));
        }
        try (Output output = new Output(); Host host = start("tollgate.coverage.scan=false")) {
            assertThat(host.bean(RateLimitCoverage.class).unprotected()).isEmpty();
            assertThat(output.lines("ERROR")).isEmpty();
        }
    }

    @Test
    void aClassFileThatCantBeReadIsPassedOver() throws Exception {
        compile("Selfish", "public class Selfish { @RateLimit public void step() {} public void run() { step(); } }");
        compile("Application", "@org.springframework.boot.autoconfigure.AutoConfigurationPackage @Configuration "
                + "public class Application { @Bean Selfish selfish() { return new Selfish(); } }");
        compile("Forgotten", "public class Forgotten { @RateLimit public void list() {} }");
        try (Host host = start()) {
            assertThat(gaps(host)).containsExactlyInAnyOrder(Gap.SELF_INVOKED, Gap.NOT_A_BEAN);
            // Only now, since some hosts read their packages themselves at start.
            Files.write(classes.resolve("app/CutOff.class"), Arrays.copyOf(Files.readAllBytes(classes.resolve("app/Forgotten.class")), 40));
            RateLimitCoverage anew = new RateLimitCoverage(host.context(), host.bean(GuardedMethods.class), host.bean(RateLimitGate.class),
                    () -> true, () -> Collections.singletonList("app"), Collections.emptyList());
            anew.onApplicationEvent(new ContextRefreshedEvent(host.context()));
            anew.complete();
            // It may be the one that calls the method: nothing is claimed then.
            assertThat(anew.unprotected()).extracting(MethodCoverage::gap).containsExactly(Gap.NOT_A_BEAN);
        }
    }

    @Test
    void beansOfALaterContextAreNone() throws Exception {
        compile("Application", "@org.springframework.boot.autoconfigure.AutoConfigurationPackage @Configuration public class Application {}");
        compile("Second", "public class Second { @RateLimit public void list() {} }");
        try (Host host = start(MvcHostsTest.Second.class)) {
            RateLimitCoverage coverage = host.bean(RateLimitCoverage.class);
            assertThat(coverage.unprotected()).extracting(MethodCoverage::signature).containsExactly("app.Second.list()");
            try (org.springframework.context.annotation.AnnotationConfigApplicationContext child =
                    new org.springframework.context.annotation.AnnotationConfigApplicationContext()) {
                child.setParent(host.context());
                child.setClassLoader(host.context().getClassLoader());
                child.register(child.getClassLoader().loadClass("app.Second"));
                child.refresh();
                // It is one now, which nothing makes a proxy of.
                assertThat(coverage.unprotected()).extracting(MethodCoverage::gap).containsExactly(Gap.NOT_PROXIED);
            }
        }
    }

    private static List<Gap> gaps(Host host) {
        return host.bean(RateLimitCoverage.class).unprotected().stream().map(MethodCoverage::gap).collect(Collectors.toList());
    }

    private Host start(Object... parts) throws Exception {
        ClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, before);
        Thread.currentThread().setContextClassLoader(loader);
        List<Object> all = new ArrayList<>(Arrays.asList(parts));
        all.add(loader.loadClass("app.Application"));
        return Host.start(all.toArray());
    }

    private void compile(String name, String source) throws IOException {
        Path file = classes.resolve(name + ".java");
        Files.write(file, ("package app; " + IMPORTS + source).getBytes(java.nio.charset.StandardCharsets.UTF_8));
        String path = System.getProperty("java.class.path") + java.io.File.pathSeparator + classes;
        // Scanned classes must be readable for the oldest Spring.
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null,
                "--release", "8", "-Xlint:-options", "-proc:none", "-parameters", "-cp", path, "-d", classes.toString(), file.toString())).isZero();
    }
}
