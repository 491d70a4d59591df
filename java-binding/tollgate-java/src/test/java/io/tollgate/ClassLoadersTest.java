package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

/** Two web applications in one JVM: each has its own copy, also after one was redeployed. */
class ClassLoadersTest {
    @Test
    @SuppressWarnings("try") // Closing in the middle is what this is about.
    void eachHasItsOwnCopy() throws Exception {
        try (Application first = new Application(); Application second = new Application()) {
            assertThat(first.hit()).isEqualTo("ALLOWED");
            assertThat(first.hit()).isEqualTo("LIMITED");
            assertThat(second.hit()).isEqualTo("ALLOWED");
            assertThat(first.path()).isNotEqualTo(second.path()).isNotEqualTo(NativeLibrary.path());
            first.close();
            assertThat(second.hit()).isEqualTo("LIMITED");
            try (Application redeployed = new Application()) {
                assertThat(redeployed.hit()).isEqualTo("ALLOWED");
            }
        }
    }

    @Test
    void aClosedOneCanBeCollected() throws Exception {
        Application application = new Application();
        application.hit();
        WeakReference<ClassLoader> loader = new WeakReference<>(application.loader);
        application.close();
        application = null;
        Wait.until(() -> {
            System.gc();
            return loader.get() == null;
        });
    }

    private static final class Application implements AutoCloseable {
        private final URLClassLoader loader;
        private final AutoCloseable tollgate;
        private final Object rule;

        Application() throws Exception {
            URL classes = Tollgate.class.getProtectionDomain().getCodeSource().getLocation();
            ClassLoader slf4j = new Only("org.slf4j.", "ch.qos.logback.");
            loader = new URLClassLoader(new URL[] {classes}, slf4j);
            Class<?> type = loader.loadClass("io.tollgate.Tollgate");
            assertThat(type).isNotSameAs(Tollgate.class);
            tollgate = (AutoCloseable) type.getMethod("open", String.class).invoke(null, "memory:");
            Object builder = type.getMethod("rule", String.class, String.class).invoke(tollgate, "wms", "Order.list");
            builder.getClass().getMethod("interval", long.class).invoke(builder, 3600);
            rule = builder.getClass().getMethod("register").invoke(builder);
        }

        String hit() throws Exception {
            Object decision = tollgate.getClass().getMethod("acquire", rule.getClass(), String.class).invoke(tollgate, rule, "u1");
            return decision.getClass().getMethod("outcome").invoke(decision).toString();
        }

        String path() throws Exception {
            return (String) loader.loadClass("io.tollgate.NativeLibrary").getMethod("path").invoke(null);
        }

        @Override
        public void close() throws IOException {
            try {
                tollgate.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            loader.close();
        }
    }

    /** Lets a server's own packages through, and nothing of the application's. */
    private static final class Only extends ClassLoader {
        private final String[] packages;

        Only(String... packages) {
            super(null);
            this.packages = packages;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            for (String prefix : packages) {
                if (name.startsWith(prefix)) {
                    return ClassLoadersTest.class.getClassLoader().loadClass(name);
                }
            }
            throw new ClassNotFoundException(name);
        }
    }
}
