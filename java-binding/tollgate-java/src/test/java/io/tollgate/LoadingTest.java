package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loading in a JVM of its own: where it works, and what it says where it can't. */
class LoadingTest {
    @TempDir
    Path directory;

    private Path library;

    @BeforeEach
    void copyTheLibrary() throws Exception {
        library = directory.resolve("libtollgate.so");
        try (InputStream in = LoadingTest.class.getResourceAsStream("/META-INF/native/" + platform() + "/libtollgate-"
                + Tollgate.version() + ".so")) {
            Files.copy(in, library);
        }
    }

    @Test
    void worksWithoutAWordOnStderr() throws Exception {
        Jvm jvm = Jvm.run(UseMain.class, "-Dio.tollgate.tmpdir=" + directory);
        assertThat(jvm.exit).as("%s", jvm).isZero();
        assertThat(jvm.err).isEmpty();
        assertThat(jvm.out).contains("ALLOWED LIMITED NO_IDENTITY ALLOWED", "path " + directory, "there: false");
        assertThat(directory).isDirectoryNotContaining("glob:**libtollgate-*");
    }

    @Test
    void breaksNoRuleOfTheJvm() throws Exception {
        Jvm jvm = Jvm.run(UseMain.class, "-Xcheck:jni");
        assertThat(jvm.exit).as("%s", jvm).isZero();
        assertThat(jvm.out + jvm.err).contains("ALLOWED LIMITED").doesNotContain("WARNING", "FATAL");
    }

    @Test
    void aPropertyNamesAnotherFile() throws Exception {
        Jvm jvm = Jvm.run(UseMain.class, "-Dio.tollgate.library=" + library);
        assertThat(jvm.exit).as("%s", jvm).isZero();
        assertThat(jvm.out).contains("ALLOWED LIMITED", "path " + library + " there: true");
    }

    @Test
    void aFileThatIsNotThere() throws Exception {
        String missing = directory.resolve("missing.so").toString();
        fails("-Dio.tollgate.library=" + missing).contains("-Dio.tollgate.library=" + missing, "no readable file", "correct the path");
    }

    @Test
    void aFileThatIsNoLibrary() throws Exception {
        Files.write(library, "garbage".getBytes("UTF-8"));
        fails("-Dio.tollgate.library=" + library).contains("file too short", "libtollgate.so built for Linux");
    }

    @Test
    void aLibraryThatIsNotTollgates() throws Exception {
        Path other = Files.list(new File(System.getProperty("java.home"), "lib").toPath())
                .filter(file -> file.endsWith("libzip.so")).findFirst().orElseThrow(AssertionError::new);
        fails("-Dio.tollgate.library=" + other).contains("not tollgate's", "libtollgate.so " + Tollgate.version());
    }

    @Test
    void aLibraryOfAnotherVersion() throws Exception {
        Path later = Files.createDirectories(directory.resolve("later/io/tollgate"));
        Files.write(later.resolve("version.properties"), "version=9.9.9\n".getBytes("UTF-8"));
        String classPath = directory.resolve("later") + File.pathSeparator + System.getProperty("java.class.path");
        fails(Jvm.run(classPath, LoadMain.class, "-Dio.tollgate.library=" + library))
                .contains("it is version " + Tollgate.version() + " and this jar needs 9.9.9", "of one version");
    }

    @Test
    void aPlatformWithoutALibrary() throws Exception {
        fails("-Dos.name=Plan 9").contains("none for Plan 9", "linux-x86_64 and linux-aarch64", "-Dio.tollgate.library=PATH");
        fails("-Dos.arch=riscv64").contains("none for Linux riscv64");
    }

    @Test
    void aJarWithoutALibrary() throws Exception {
        Path classes = directory.resolve("classes");
        Path from = new File(NativeLibrary.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toPath();
        Files.createDirectories(classes.resolve("io/tollgate"));
        for (Path file : Files.list(from.resolve("io/tollgate")).collect(Collectors.toList())) {
            Files.copy(file, classes.resolve("io/tollgate").resolve(file.getFileName()));
        }
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> new File(entry).toPath().equals(from) ? classes.toString() : entry)
                .collect(Collectors.joining(File.pathSeparator));
        fails(Jvm.run(classPath, LoadMain.class)).contains("META-INF/native/" + platform(), "carries no library for " + platform());
    }

    @Test
    void aDirectoryThatIsNotThere() throws Exception {
        Path missing = directory.resolve("missing");
        fails("-Dio.tollgate.tmpdir=" + missing).contains("extracted to " + missing, "NoSuchFileException", "-Dio.tollgate.tmpdir=PATH");
    }

    @Test
    void aDirectoryWithoutExecution() throws Exception {
        Path mount = Files.createDirectory(directory.resolve("noexec"));
        Jvm mounted = Jvm.execute(Arrays.asList("mount", "-t", "tmpfs", "-o", "noexec,size=64m", "tmpfs", mount.toString()));
        assumeTrue(mounted.exit == 0, "needs the right to mount: " + mounted.err);
        try {
            fails("-Dio.tollgate.tmpdir=" + mount).contains("extracted to " + mount, "failed to map segment", "noexec",
                    "-Dio.tollgate.tmpdir=PATH");
            // Nothing is left behind.
            assertThat(mount).isEmptyDirectory();
        } finally {
            assertThat(Jvm.execute(Arrays.asList("umount", mount.toString())).exit).isZero();
        }
    }

    @Test
    void aJvmThatDeniesNativeCode() throws Exception {
        String version = System.getProperty("java.specification.version");
        assumeTrue(!version.startsWith("1.") && Integer.parseInt(version) >= 24, "JDK " + version + " denies nothing");
        fails("--illegal-native-access=deny").contains("--enable-native-access=ALL-UNNAMED");
    }

    @Test
    void aManifestAllowsNativeCodeWithoutAWarning() throws Exception {
        String version = System.getProperty("java.specification.version");
        assumeTrue(!version.startsWith("1.") && Integer.parseInt(version) >= 24, "JDK " + version + " warns of nothing");
        Jvm without = launch(jar("without.jar", new Manifest()));
        assertThat(without.exit).as("%s", without).isZero();
        assertThat(without.err).contains("WARNING", "--enable-native-access=ALL-UNNAMED");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().putValue("Enable-Native-Access", "ALL-UNNAMED");
        Jvm with = launch(jar("with.jar", manifest));
        assertThat(with.exit).as("%s", with).isZero();
        assertThat(with.err).isEmpty();
        assertThat(with.out).contains("ALLOWED LIMITED");
    }

    /** A jar that starts {@link UseMain} from the class path of this test. */
    private Path jar(String name, Manifest manifest) throws Exception {
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, UseMain.class.getName());
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH,
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(entry -> new File(entry).toURI().toString()).collect(Collectors.joining(" ")));
        Path jar = directory.resolve(name);
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    private static Jvm launch(Path jar) throws Exception {
        return Jvm.execute(Arrays.asList(System.getProperty("java.home") + "/bin/java", "-jar", jar.toString()));
    }

    private static org.assertj.core.api.AbstractStringAssert<?> fails(String... options) throws Exception {
        return fails(Jvm.run(LoadMain.class, options));
    }

    /** Says the same each time, and nothing else. */
    private static org.assertj.core.api.AbstractStringAssert<?> fails(Jvm jvm) {
        assertThat(jvm.exit).as("%s", jvm).isZero();
        String[] lines = jvm.out.split("\n");
        assertThat(lines).as("%s", jvm).hasSize(4);
        assertThat(lines[1]).isEqualTo(lines[0]);
        assertThat(lines[2]).isEqualTo(lines[0]);
        assertThat(lines[3]).isEqualTo("loaded: false from null");
        return assertThat(lines[0]).contains("Tried: ", "Cause: ", "Remedy: ");
    }

    private static String platform() {
        return "aarch64".equals(System.getProperty("os.arch")) ? "linux-aarch64" : "linux-x86_64";
    }
}
