package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A defect inside, with a library that cargo builds for this test, beside the one that is shipped. */
class PanicTest {
    private static final Path ROOT = Paths.get("../..").toAbsolutePath().normalize();

    @Test
    void isAnExceptionAndALogLineAndTheNextCallIsRight() throws Exception {
        Path target = ROOT.resolve("target/test-panic");
        Jvm cargo;
        try {
            cargo = Jvm.execute(Arrays.asList("cargo", "build", "--quiet", "--manifest-path", ROOT.resolve("Cargo.toml").toString(),
                    "--package", "tollgate-ffi", "--features", "test-panic", "--target-dir", target.toString()));
        } catch (IOException e) {
            assumeTrue(false, "needs cargo: " + e.getMessage());
            return;
        }
        assertThat(cargo.exit).as("%s", cargo).isZero();

        Jvm jvm = Jvm.run(PanicMain.class, "-Dio.tollgate.library=" + target.resolve("debug/libtollgate.so"));
        assertThat(jvm.exit).as("%s", jvm).isZero();
        String[] lines = jvm.out.split("\n");
        assertThat(Arrays.stream(lines).filter(line -> line.startsWith("io.tollgate.TollgateException: defect in tollgate")))
                .hasSize(3).allMatch(line -> line.contains("asked to") && line.contains("boundary.rs"));
        // Through SLF4J to logback's console, and not from a panic hook to stderr.
        assertThat(Arrays.stream(lines).filter(line -> line.contains("ERROR tollgate"))).hasSize(3)
                .allMatch(line -> line.contains("asked to"));
        assertThat(jvm.err).isEmpty();
        assertThat(lines).contains("ALLOWED", "LIMITED").doesNotContain("did not fail");
    }
}
