package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Rule;
import io.tollgate.Tollgate;
import io.tollgate.spring.RateLimit;
import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.core.ThreadLocalLeakPreventionListener;
import org.apache.catalina.startup.ContextConfig;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.scan.StandardJarScanner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.support.SpringBootServletInitializer;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Two web applications in one Tomcat, each with all classes and the native library of its own, of which one is redeployed. */
class TwoWebappsTest {
    private static final String COUNTER = "ratelimit:wms:Orders.list:";

    @Test
    void theyShareCountsAndOneThatIsUndeployedLeavesNothingBehind(@TempDir Path directory) throws Exception {
        try (RedisServer redis = new RedisServer(null).start();
                Webapps webapps = new Webapps(directory, redis)) {
            webapps.deploy("one");
            webapps.deploy("two");
            assertThat(webapps.get("one", "/list?usercode=u").text()).isEqualTo("list");
            assertThat(webapps.get("two", "/list?usercode=u").isRejection()).isTrue();
            assertThat(redis.command("HGET", COUNTER + "u", "count")).isEqualTo("2");
            assertThat(webapps.libraryOf("one")).isNotNull().isNotEqualTo(webapps.libraryOf("two"));

            assertThat(webapps.get("one", "/later?usercode=u").text()).isEqualTo("true");
            assertThat(webapps.get("two", "/later?usercode=u").text()).isEqualTo("false");

            try (Watch watch = new Watch(() -> webapps.get("two", "/list?usercode=u"))) {
                assertThat(threadsOf(webapps.loader("one"))).contains("tollgate-log", "tollgate-async");
                WeakReference<ClassLoader> undeployed = webapps.undeploy("one");
                RedisServer.await(() -> threadsOf(undeployed.get()).isEmpty());
                RedisServer.await(() -> {
                    System.gc();
                    return undeployed.get() == null;
                });
                assertThat(webapps.get("one", "/list?usercode=u").status()).isEqualTo(404);
                assertThat(webapps.get("two", "/list?usercode=v").text()).isEqualTo("list");
                watch.awaitMore();

                webapps.deploy("one");
                assertThat(webapps.get("one", "/list?usercode=u").isRejection()).isTrue();
                assertThat(webapps.get("one", "/list?usercode=v").isRejection()).isTrue();
                assertThat(webapps.get("one", "/list?usercode=w").text()).isEqualTo("list");
                assertThat(webapps.get("two", "/list?usercode=w").isRejection()).isTrue();
                watch.awaitMore();
            }
        }
    }

    /** Names of the live threads that hold a class loader: as theirs, or by their class. */
    private static List<String> threadsOf(ClassLoader loader) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> loader != null && (thread.getContextClassLoader() == loader
                        || thread.getClass().getClassLoader() == loader))
                .map(Thread::getName).collect(Collectors.toList());
    }

    /** Asks again and again, and fails at its end unless all answers were rejections. */
    private static final class Watch implements AutoCloseable {
        private final AtomicBoolean isOver = new AtomicBoolean();
        private final AtomicInteger rejections = new AtomicInteger();
        private final CompletableFuture<Void> run;

        Watch(Supplier<Http> ask) {
            run = CompletableFuture.runAsync(() -> {
                while (!isOver.get()) {
                    Http answer = ask.get();
                    assertThat(answer.isRejection()).as(answer::toString).isTrue();
                    rejections.incrementAndGet();
                }
            });
            awaitMore();
        }

        /** Waits for an answer to a request that was sent after now. */
        void awaitMore() {
            int before = rejections.get();
            RedisServer.await(() -> rejections.get() > before + 1 || run.isCompletedExceptionally());
        }

        @Override
        public void close() {
            isOver.set(true);
            run.join();
        }
    }

    /** A Tomcat, and below it the test's class path as web applications. */
    private static final class Webapps implements AutoCloseable {
        /** Jars that a web application brings; the container has the servlet API, and the tests the rest. */
        private static final Pattern BROUGHT = Pattern.compile("(spring-(core|jcl|beans|context|aop|expression|web|webmvc)"
                + "|spring-boot|spring-boot-autoconfigure|logback-(core|classic)|slf4j-api|snakeyaml|jackson-(core|databind|annotations)"
                + "|javax\\.annotation-api|jakarta\\.annotation-api)-[0-9].*\\.jar|tollgate-.*\\.jar");

        private final Tomcat tomcat = new Tomcat();
        private final Path directory;
        private final RedisServer redis;

        Webapps(Path directory, RedisServer redis) throws LifecycleException {
            this.directory = directory;
            this.redis = redis;
            tomcat.setBaseDir(directory.resolve("tomcat").toString());
            tomcat.setPort(0);
            tomcat.getConnector().setProperty("address", "127.0.0.1");
            tomcat.getHost();
            tomcat.setSilent(true);
            // As in the server.xml that Tomcat comes with: its threads forget what a web application put there.
            tomcat.getServer().addLifecycleListener(new ThreadLocalLeakPreventionListener());
            tomcat.start();
        }

        void deploy(String name) throws IOException {
            Path home = directory.resolve(name);
            if (!Files.exists(home)) {
                write(home);
            }
            StandardContext context = new StandardContext();
            context.setName("/" + name);
            context.setPath("/" + name);
            context.setDocBase(home.toString());
            context.setParentClassLoader(new ContainerOnly());
            context.addLifecycleListener(new ContextConfig());
            StandardJarScanner scanner = new StandardJarScanner();
            scanner.setScanClassPath(false);
            scanner.setScanManifest(false);
            context.setJarScanner(scanner);
            // Both need --add-opens since Java 9, and are about what the JDK keeps.
            context.setClearReferencesRmiTargets(false);
            context.setClearReferencesObjectStreamClassCaches(false);
            context.setClearReferencesThreadLocals(false);
            tomcat.getHost().addChild(context);
            assertThat(context.getState()).isEqualTo(LifecycleState.STARTED);
        }

        private void write(Path home) throws IOException {
            Path lib = Files.createDirectories(home.resolve("WEB-INF/lib"));
            Path classes = Files.createDirectories(home.resolve("WEB-INF/classes"));
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                Path path = Paths.get(entry);
                if (path.endsWith("target/classes")) {
                    // A module that isn't packed yet; in one directory some of their files would have the same name.
                    pack(path, lib.resolve(path.getName(path.getNameCount() - 3) + ".jar"));
                } else if (BROUGHT.matcher(path.getFileName().toString()).matches()) {
                    Files.copy(path, lib.resolve(path.getFileName()));
                }
            }
            for (Class<?> own : Arrays.asList(Webapp.class, Orders.class, TwoWebappsTest.class)) {
                String file = own.getName().replace('.', '/') + ".class";
                Path target = classes.resolve(file);
                Files.createDirectories(target.getParent());
                Files.copy(own.getClassLoader().getResourceAsStream(file), target);
            }
            Files.write(classes.resolve("application.properties"), Arrays.asList("spring.application.name=app-wms",
                    "spring.main.banner-mode=off", "spring.jmx.enabled=false", "logging.level.root=warn", "tollgate.deadline=20s",
                    "tollgate.redis.url=redis://127.0.0.1:" + redis.port()), StandardCharsets.ISO_8859_1);
        }

        private static void pack(Path from, Path jar) throws IOException {
            try (Stream<Path> files = Files.walk(from);
                    JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
                for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                    out.putNextEntry(new JarEntry(from.relativize(file).toString()));
                    Files.copy(file, out);
                }
            }
        }

        /** The class loader that it had, which nothing should hold any more. */
        WeakReference<ClassLoader> undeploy(String name) {
            Context context = context(name);
            WeakReference<ClassLoader> loader = new WeakReference<>(loader(name));
            // It stops and destroys it.
            tomcat.getHost().removeChild(context);
            return loader;
        }

        ClassLoader loader(String name) {
            return context(name).getLoader().getClassLoader();
        }

        /** The file that its own classes loaded. */
        Object libraryOf(String name) throws ReflectiveOperationException {
            Class<?> library = loader(name).loadClass("io.tollgate.NativeLibrary");
            assertThat(library.getClassLoader()).isSameAs(loader(name));
            return library.getMethod("path").invoke(null);
        }

        Http get(String name, String path) {
            return new Http("GET", "http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + '/' + name + path).send();
        }

        private Context context(String name) {
            return (Context) tomcat.getHost().findChild("/" + name);
        }

        @Override
        public void close() throws LifecycleException {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    /** What a container shows its web applications: the JDK, the servlet API and itself, and of the test's class path nothing else. */
    private static final class ContainerOnly extends ClassLoader {
        private static final Pattern SHOWN = Pattern.compile(
                "javax\\.(servlet|el|websocket)\\..*|org\\.apache\\.(catalina|coyote|el|jasper|juli|naming|tomcat)\\..*");

        ContainerOnly() {
            super(ClassLoader.getSystemClassLoader().getParent());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (SHOWN.matcher(name).matches()) {
                return Tomcat.class.getClassLoader().loadClass(name);
            }
            throw new ClassNotFoundException(name);
        }

        @Override
        protected URL findResource(String name) {
            return SHOWN.matcher(name.replace('/', '.')).matches() ? Tomcat.class.getClassLoader().getResource(name) : null;
        }
    }

    /** The web application; found by Spring in it, through the servlet container. */
    @Configuration
    @EnableAutoConfiguration
    @Import(Orders.class)
    public static class Webapp extends SpringBootServletInitializer {
        @Override
        protected SpringApplicationBuilder configure(SpringApplicationBuilder builder) {
            return builder.sources(Webapp.class);
        }
    }

    @RestController
    public static class Orders {
        private final Tollgate tollgate;
        private final Rule later;

        Orders(Tollgate tollgate) {
            this.tollgate = tollgate;
            later = tollgate.rule("wms", "Orders.later").interval(3600).register();
        }

        @RateLimit(interval = 3600)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        /** Decided without a thread that waits, and so with threads of tollgate's. */
        @GetMapping("/later")
        CompletionStage<String> later(@RequestParam("usercode") String user) {
            return tollgate.acquireAsync(later, user).thenApply(decision -> String.valueOf(decision.isAllowed()));
        }
    }
}
