package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringBootVersion;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;

class StoreUrlTest {
    /** Spring Boot 2.1 knows no users, and so leaves them out. */
    private static final boolean USERS = !SpringBootVersion.getVersion().startsWith("2.1.");
    private static final boolean BOOT_2 = SpringBootVersion.getVersion().startsWith("2.");

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "a=b | memory:",
        "tollgate.redis.url=redis://r:1/2 | redis://r:1/2",
        "tollgate.redis.url=redis://r; spring.redis.host=h | redis://r",
        "tollgate.redis.url= ; spring.redis.host=h | redis://h:6379/0",
        "tollgate.redis.url=memory:; spring.redis.host=h | memory:",
        "spring.redis.host=h | redis://h:6379/0",
        "spring.redis.host=::1; spring.redis.port=7000 | redis://[::1]:7000/0",
        "spring.redis.host=my_redis | redis://my_redis:6379/0",
        "spring.redis.port=7000 | redis://localhost:7000/0",
        "spring.redis.database=4 | redis://localhost:6379/4",
        "spring.redis.password=a@b | redis://:a%40b@localhost:6379/0",
        "spring.redis.host=h; spring.redis.ssl=true | rediss://h:6379/0",
        "spring.redis.host= | memory:",
        "spring.redis.timeout=5s | memory:",
        "spring.redis.url=redis://h | redis://h:6379/0",
        "spring.redis.url=redis://h:7000; spring.redis.host=x; spring.redis.port=1; spring.redis.password=x | redis://h:7000/0",
        "spring.redis.url=rediss://h:7000/5 | rediss://h:7000/5",
        "spring.redis.url=redis://h:7000/5; spring.redis.database=6 | redis://h:7000/6",
        "spring.redis.url=redis://h; spring.redis.ssl=true | rediss://h:6379/0",
        "spring.redis.url=redis://:pa:ss@h | redis://:pa%3Ass@h:6379/0",
        "spring.redis.url=redis://pass@h | redis://:pass@h:6379/0",
        "spring.redis.url=redis://:p@ss@my_redis:1 | redis://:p%40ss@my_redis:1/0",
        "spring.redis.url=redis://:100%@h | redis://:100%25@h:6379/0",
        "spring.redis.url=redis://[::1]:7000?timeout=1s | redis://[::1]:7000/0",
    })
    void isWhatTheHostReallySays(String properties, String url) {
        assertThat(of(properties)).isEqualTo(url);
        assertThat(of(later(properties))).isEqualTo(url);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "nodes=a:1,b:2 | redis-sentinel://a:1,b:2/0?sentinelMasterId=m",
        "nodes=a:1, b:2; spring.redis.host=h; spring.redis.database=3 | redis-sentinel://a:1,b:2/3?sentinelMasterId=m",
        "nodes[0]=a:1; spring.redis.password=a@b; spring.redis.ssl=true | rediss-sentinel://:a%40b@a:1/0?sentinelMasterId=m",
        "nodes=a:1; spring.redis.sentinel.password=p&q | redis-sentinel://a:1/0?sentinelMasterId=m&sentinelPassword=p%26q",
        "nodes=a:1; spring.redis.sentinel.username=u&v; spring.redis.sentinel.password=p | "
                + "redis-sentinel://a:1/0?sentinelMasterId=m&sentinelUser=u%26v&sentinelPassword=p",
        "nodes=a:1; spring.redis.cluster.nodes=b:2 | redis-sentinel://a:1/0?sentinelMasterId=m",
    })
    void sentinelsAreAskedAsTheHostAsksThem(String nodes, String url) {
        String properties = "spring.redis.sentinel.master=m; spring.redis.sentinel." + nodes;
        assertThat(of(properties)).isEqualTo(url);
        assertThat(of(later(properties))).isEqualTo(url);
    }

    @Test
    void usersAreTakenWhereSpringBootTakesThem() {
        String user = USERS ? "u" : "";
        assertThat(of("spring.redis.url=redis://u:p@h")).isEqualTo("redis://" + user + ":p@h:6379/0");
        assertThat(of("spring.redis.host=h; spring.redis.username=u; spring.redis.password=p")).isEqualTo("redis://" + user + ":p@h:6379/0");
    }

    @Test
    void environmentVariablesSayItToo() {
        MockEnvironment environment = new MockEnvironment();
        environment.getPropertySources().addFirst(new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, Collections.singletonMap("SPRING_REDIS_HOST", "h")));
        assertThat(StoreUrl.of(environment, new TollgateProperties())).isEqualTo("redis://h:6379/0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "spring.redis.cluster.nodes=a:1,b:2 | redis-cluster://a:1,b:2/0",
        "spring.redis.cluster.nodes[0]=a:1; spring.redis.password=p@q; spring.redis.ssl=true | rediss-cluster://:p%40q@a:1/0",
        "spring.redis.cluster.nodes=a:1; tollgate.redis.url=redis://r | redis://r",
    })
    void aClusterIsAskedAsTheHostAsksIt(String properties, String url) {
        assertThat(of(properties)).isEqualTo(url);
        assertThat(of(later(properties))).isEqualTo(url);
    }

    @Test
    void usersOfTheLaterPropertiesAreTakenEverywhere() {
        assertThat(of("spring.data.redis.url=redis://u:p@h")).isEqualTo("redis://u:p@h:6379/0");
        assertThat(of("spring.data.redis.host=h; spring.data.redis.username=u; spring.data.redis.password=p"))
                .isEqualTo("redis://u:p@h:6379/0");
    }

    @Test
    void whereBothAreSetTheHostsOwnSpringBootDecides() {
        assertThat(of("spring.redis.host=two; spring.data.redis.host=three")).isEqualTo("redis://" + (BOOT_2 ? "two" : "three") + ":6379/0");
        // One of them as a whole: the password of one isn't sent to the other's server.
        assertThat(of("spring.redis.host=two; spring.data.redis.host=three; spring.redis.password=p; spring.data.redis.password=q"))
                .isEqualTo(BOOT_2 ? "redis://:p@two:6379/0" : "redis://:q@three:6379/0");
        String silent = BOOT_2 ? "spring.redis.timeout=5s; spring.data.redis.port=7000" : "spring.data.redis.timeout=5s; spring.redis.port=7000";
        assertThat(of(silent)).isEqualTo("redis://localhost:7000/0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "spring.ssl.bundle.pem.r.truststore.certificate=/x/a b.pem | rediss://localhost:6379/0?ca=%2Fx%2Fa%20b.pem",
        "spring.ssl.bundle.pem.r.truststore.certificate=file:/x/ca.pem; spring.data.redis.host=h | rediss://h:6379/0?ca=%2Fx%2Fca.pem",
        "spring.ssl.bundle.pem.r.keystore.certificate=c.pem; spring.ssl.bundle.pem.r.keystore.private-key=k.pem; "
                + "spring.data.redis.url=redis://h | rediss://h:6379/0?cert=c.pem&key=k.pem",
        "spring.ssl.bundle.pem.r.truststore.certificate=ca; spring.data.redis.cluster.nodes=a:1 | rediss-cluster://a:1/0?ca=ca",
        "spring.ssl.bundle.pem.r.truststore.certificate=ca; spring.data.redis.sentinel.master=m; spring.data.redis.sentinel.nodes=a:1 | "
                + "rediss-sentinel://a:1/0?sentinelMasterId=m&ca=ca",
        "spring.data.redis.ssl.enabled=false; spring.data.redis.host=h | redis://h:6379/0",
    })
    void aBundlesFilesAreTaken(String properties, String url) {
        assertThat(of("spring.data.redis.ssl.bundle=r; spring.ssl.bundle.pem.r.options.ciphers=x; " + properties)).isEqualTo(url);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "spring.ssl.bundle.jks.r.keystore.location=x | spring.data.redis.ssl.bundle=r",
        "spring.ssl.bundle.pem.r.truststore.certificate=classpath:ca.pem | spring.ssl.bundle.pem.r.truststore.certificate",
        "spring.ssl.bundle.pem.r.truststore.certificate=base64:secret | spring.ssl.bundle.pem.r.truststore.certificate",
        "spring.ssl.bundle.pem.r.keystore.private-key=-----BEGIN secret | spring.ssl.bundle.pem.r.keystore.private-key",
        "spring.ssl.bundle.pem.r.keystore.certificate=c.pem | spring.ssl.bundle.pem.r.keystore",
        "spring.ssl.bundle.pem.r.keystore.private-key-password=secret | spring.ssl.bundle.pem.r.keystore.private-key-password",
    })
    void whatIsNoFileIsRefused(String properties, String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> of("spring.data.redis.ssl.bundle=r; " + properties))
                .withMessageContaining("property " + name).withMessageContaining("tollgate.redis.url").satisfies(
                        e -> assertThat(e.getMessage()).doesNotContain("secret"));
    }

    @Test
    void aListOfServersWithoutAMasterIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> of("spring.data.redis.masterreplica.nodes=a:1,b:2"))
                .withMessageContaining("spring.data.redis.masterreplica.nodes").withMessageContaining("tollgate.redis.url");
    }

    /** The same, as Spring Boot 3 and later spell it. */
    private static String later(String properties) {
        return properties.replace("spring.redis.ssl=", "spring.redis.ssl.enabled=").replace("spring.redis.", "spring.data.redis.");
    }

    private static String of(String properties) {
        MockEnvironment environment = new MockEnvironment();
        for (String property : properties.split(";")) {
            String[] parts = property.trim().split("=", 2);
            environment.setProperty(parts[0], parts[1]);
        }
        return StoreUrl.of(environment, BoundProperties.of(environment).checked());
    }
}
