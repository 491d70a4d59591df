package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

class VirtualThreadsTest {
    @Test
    void thisThreadIsNone() {
        assertThat(VirtualThreads.isCurrent()).isFalse();
    }

    @Test
    void oneThatWaitsForADecisionLetsItsCarrierGo() throws Exception {
        assumeTrue(hasVirtualThreads(), "needs a JVM of 21 or later: -Djvm=PATH");
        try (RedisServer server = RedisServer.started()) {
            Jvm jvm = Jvm.run(VirtualThreadsMain.class, "-Dredis.url=" + server.url(), "-Dredis.pid=" + server.pid(),
                    "-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1");
            assertThat(jvm.exit).as("%s", jvm).isZero();
            assertThat(jvm.out.split("\n")).as("%s", jvm).contains("virtual: true", "waiting together: 100", "others went on: true",
                    "[FAULT_ALLOWED] by 100", "grown: false", "short threads: [ALLOWED] by 20000", "left behind: 0");
        }
    }

    private static boolean hasVirtualThreads() {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class);
            return !System.getProperty("java.specification.version").matches("19|20");
        } catch (NoSuchMethodException e) {
            return false;
        }
    }
}
