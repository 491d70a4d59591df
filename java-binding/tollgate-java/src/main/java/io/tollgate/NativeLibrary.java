package io.tollgate;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Properties;

/**
 * Loads the native library: from the file that {@code -Dio.tollgate.library=PATH} names or, without that, from this jar's {@code
 * META-INF/native/linux-<arch>/libtollgate-<version>.so}.
 *
 * <p>The jar's library is copied under a name of its own to {@code java.io.tmpdir}, or the directory that {@code
 * -Dio.tollgate.tmpdir=PATH} names, loaded, and deleted again. So each class loader (each web application) has its own copy.
 *
 * <p>{@link Tollgate} does this by itself; call {@link #load()} to learn early whether it works.
 */
public final class NativeLibrary {
    /** Names a library file to load instead of the jar's. */
    static final String LIBRARY_PROPERTY = "io.tollgate.library";
    /** Names a directory to extract to instead of java.io.tmpdir. */
    static final String TMPDIR_PROPERTY = "io.tollgate.tmpdir";

    private static final String SUPPORTED = "linux-x86_64 and linux-aarch64 with glibc";

    private static volatile String path;
    private static LibraryLoadException failure;

    private NativeLibrary() {}

    /**
     * Loads the library if it isn't loaded yet.
     *
     * @throws LibraryLoadException it can't be loaded; later calls throw with the same text
     */
    public static void load() {
        if (path == null) {
            loadOnce();
        }
    }

    /**
     * Whether the library is loaded.
     *
     * @return true after {@link #load()} succeeded
     */
    public static boolean isLoaded() {
        return path != null;
    }

    /**
     * The file that was loaded. One that came out of the jar is deleted again after loading.
     *
     * @return its absolute path, or null while nothing is loaded
     */
    public static String path() {
        return path;
    }

    static String nativeVersion() {
        return version();
    }

    private static synchronized void loadOnce() {
        if (path != null) {
            return;
        }
        if (failure != null) {
            // A new one, so that each caller's stack trace is its own.
            throw new LibraryLoadException(failure.getMessage(), failure);
        }
        try {
            String expected = artifactVersion();
            String override = System.getProperty(LIBRARY_PROPERTY);
            String loaded = override == null || override.isEmpty() ? loadExtracted(expected) : loadOverride(override);
            checkVersion(loaded, expected);
            path = loaded;
        } catch (LibraryLoadException e) {
            failure = e;
            throw e;
        }
    }

    private static String loadOverride(String override) {
        Path file = Paths.get(override).toAbsolutePath();
        if (!Files.isReadable(file)) {
            throw failed("-D" + LIBRARY_PROPERTY + '=' + override, "there is no readable file at " + file,
                    "correct the path, or leave the property out to use the library in the jar", null);
        }
        loadFile(file, "-D" + LIBRARY_PROPERTY + '=' + override);
        return file.toString();
    }

    private static String loadExtracted(String version) {
        String resource = "META-INF/native/" + platform() + "/libtollgate-" + version + ".so";
        String directory = System.getProperty(TMPDIR_PROPERTY, System.getProperty("java.io.tmpdir"));
        Path file = extract(resource, Paths.get(directory).toAbsolutePath(), version);
        try {
            loadFile(file, resource + " from the jar, extracted to " + file);
        } finally {
            // Safe once it is mapped, and nothing is left behind however the process ends.
            delete(file);
        }
        return file.toString();
    }

    private static Path extract(String resource, Path directory, String version) {
        ClassLoader loader = NativeLibrary.class.getClassLoader();
        try (InputStream in = loader == null ? ClassLoader.getSystemResourceAsStream(resource)
                : loader.getResourceAsStream(resource)) {
            if (in == null) {
                throw failed(resource + " on the class path", "this jar carries no library for " + platform()
                        + " (there are builds for " + SUPPORTED + ')',
                        "use a jar built for this platform, or build libtollgate.so here and name it with -D" + LIBRARY_PROPERTY
                        + "=PATH", null);
            }
            // A name of its own: one file can be loaded in one class loader only.
            Path file = Files.createTempFile(directory, "libtollgate-" + version + '-', ".so");
            try {
                Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException | RuntimeException e) {
                delete(file);
                throw e;
            }
            return file;
        } catch (IOException e) {
            throw failed(resource + " from the jar, to be extracted to " + directory, reason(e),
                    "free space there and make it writable, or name another directory with -D" + TMPDIR_PROPERTY + "=PATH", e);
        }
    }

    private static void loadFile(Path file, String what) {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError | RuntimeException e) {
            throw failed(what, e.getMessage(), remedy(e, file), e);
        }
    }

    private static String remedy(Throwable from, Path file) {
        String cause = String.valueOf(from.getMessage());
        // By name, since Java 8 doesn't have it: since JDK 24 a JVM can be told to deny native code.
        if (from.getClass().getSimpleName().equals("IllegalCallerException")) {
            return "start the JVM with --enable-native-access=ALL-UNNAMED, or =io.tollgate where the jar is on the module path";
        }
        if (cause.contains("failed to map segment")) {
            return "the directory " + file.getParent() + " is probably mounted noexec: name another one with -D" + TMPDIR_PROPERTY
                    + "=PATH, or put the library where code may be run and name it with -D" + LIBRARY_PROPERTY + "=PATH";
        }
        if (isMusl() || cause.contains("ld-linux")) {
            return "this system's C library is musl and the library needs glibc: use a glibc image (like eclipse-temurin:17), or build "
                    + "libtollgate.so here and name it with -D" + LIBRARY_PROPERTY + "=PATH";
        }
        if (cause.contains("GLIBC_")) {
            return "this system's glibc is older than the library needs: build libtollgate.so here and name it with -D"
                    + LIBRARY_PROPERTY + "=PATH";
        }
        if (cause.contains("already loaded in another classloader")) {
            return "another class loader has loaded this very file: give each its own copy, or leave -D" + LIBRARY_PROPERTY + " out";
        }
        return "use a libtollgate.so built for " + System.getProperty("os.name") + ' ' + System.getProperty("os.arch")
                + " and name it with -D" + LIBRARY_PROPERTY + "=PATH";
    }

    private static void checkVersion(String loaded, String expected) {
        String found;
        try {
            found = version();
        } catch (UnsatisfiedLinkError e) {
            throw failed(loaded, "it is a library, but not tollgate's: " + e.getMessage(),
                    "name libtollgate.so " + expected + " with -D" + LIBRARY_PROPERTY + "=PATH", e);
        }
        if (!found.equals(expected)) {
            throw failed(loaded, "it is version " + found + " and this jar needs " + expected,
                    "use the jar and the library of one version", null);
        }
    }

    /** {@code linux-x86_64} or {@code linux-aarch64}. */
    private static String platform() {
        String os = System.getProperty("os.name");
        String arch = System.getProperty("os.arch");
        boolean x86 = "amd64".equals(arch) || "x86_64".equals(arch);
        if (!"Linux".equals(os) || !x86 && !"aarch64".equals(arch)) {
            throw failed("the library in the jar", "there is none for " + os + ' ' + arch + " (there are builds for " + SUPPORTED + ')',
                    "build tollgate's native library for this platform and name it with -D" + LIBRARY_PROPERTY + "=PATH", null);
        }
        return x86 ? "linux-x86_64" : "linux-aarch64";
    }

    private static boolean isMusl() {
        File[] musl = new File("/lib").listFiles((directory, name) -> name.startsWith("ld-musl-"));
        return musl != null && musl.length > 0 && !new File("/lib64/ld-linux-x86-64.so.2").exists()
                && !new File("/lib/ld-linux-aarch64.so.1").exists();
    }

    private static String artifactVersion() {
        Properties properties = new Properties();
        try (InputStream in = NativeLibrary.class.getResourceAsStream("version.properties")) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            throw failed("io/tollgate/version.properties in the jar", reason(e), "use a jar that isn't damaged", e);
        }
        String version = properties.getProperty("version");
        if (version == null || version.startsWith("$")) {
            throw failed("io/tollgate/version.properties on the class path", "it is missing or doesn't say the version",
                    "keep it beside the classes when jars are repackaged", null);
        }
        return version;
    }

    private static LibraryLoadException failed(String tried, String cause, String remedy, Throwable from) {
        return new LibraryLoadException("tollgate's native library can't be used. Tried: " + tried + ". Cause: " + cause
                + ". Remedy: " + remedy + '.', from);
    }

    private static String reason(IOException e) {
        // A NoSuchFileException's message is the path alone.
        return e.getClass().getSimpleName() + ": " + e.getMessage();
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            file.toFile().deleteOnExit();
        }
    }

    private static native String version();
}
