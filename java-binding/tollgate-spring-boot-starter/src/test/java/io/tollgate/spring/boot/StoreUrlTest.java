package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

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
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "nodes=a:1,b:2 | redis-sentinel://a:1,b:2/0?sentinelMasterId=m",
        "nodes=a:1, b:2; spring.redis.host=h; spring.redis.database=3 | redis-sentinel://a:1,b:2/3?sentinelMasterId=m",
        "nodes[0]=a:1; spring.redis.password=a@b; spring.redis.ssl=true | rediss-sentinel://:a%40b@a:1/0?sentinelMasterId=m",
        "nodes=a:1; spring.redis.sentinel.password=p&q | redis-sentinel://a:1/0?sentinelMasterId=m&sentinelPassword=p%26q",
    })
    void sentinelsAreAskedAsTheHostAsksThem(String nodes, String url) {
        assertThat(of("spring.redis.sentinel.master=m; spring.redis.sentinel." + nodes)).isEqualTo(url);
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
