package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What an IDE shows. */
class MetadataTest {
    @Test
    void everyPropertyIsDescribedWithItsDefault() throws Exception {
        JsonNode metadata;
        try (InputStream in = TollgateProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            assertThat(in).as("the annotation processor ran").isNotNull();
            metadata = new ObjectMapper().readTree(in);
        }
        Map<String, String> defaults = new TreeMap<>();
        for (JsonNode property : metadata.get("properties")) {
            String name = property.get("name").asText();
            assertThat(property.path("description").asText()).as(name).endsWith(".");
            defaults.put(name, property.path("defaultValue").toString());
        }
        assertThat(defaults.toString()).isEqualTo("{management.endpoint.tollgate.cache.time-to-live=\"0ms\", "
                + "management.endpoint.tollgate.enabled=true, tollgate.connect-timeout=\"1s\", tollgate.coverage.ignore=, "
                + "tollgate.coverage.scan=true, tollgate.deadline=\"100ms\", tollgate.enabled=true, tollgate.endpoint.acting=false, "
                + "tollgate.exclude.header=, tollgate.exclude.paths=, tollgate.forwarded-header=\"X-Forwarded-For\", tollgate.identity.header=, "
                + "tollgate.identity.order=[\"parameter\",\"session\",\"request\",\"header\",\"principal\"], "
                + "tollgate.identity.parameter=\"usercode\", tollgate.identity.request-attribute=, "
                + "tollgate.identity.session-attribute=\"usercode\", tollgate.ipv6-prefix=64, tollgate.max-counters=1000000, tollgate.module=, "
                + "tollgate.module-prefixes=[\"app-\"], tollgate.on-fault=\"allow\", tollgate.prefix=\"ratelimit\", tollgate.records.data-source=, "
                + "tollgate.records.enabled=true, tollgate.records.instance=, tollgate.records.queue=1024, "
                + "tollgate.records.sql-session-factory=, tollgate.records.table=\"tollgate_interception\", "
                + "tollgate.records.timeout=\"5s\", tollgate.records.via=\"jdbc\", tollgate.redis.url=, "
                + "tollgate.rejection.html-for-pages=false, tollgate.rejection.style=\"legacy\", tollgate.tenant.header=, tollgate.tenant.parameter=, "
                + "tollgate.tenant.request-attribute=, tollgate.tenant.session-attribute=, tollgate.trusted-proxies=}");
    }
}
