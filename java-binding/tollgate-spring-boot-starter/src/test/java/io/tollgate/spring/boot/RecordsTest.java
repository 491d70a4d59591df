package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Tollgate;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.record.Interception;
import io.tollgate.spring.record.InterceptionRecorder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What a host with a database, or with several, or with none gets of its rejections. */
class RecordsTest {
    private static int databases;

    private static Host start(Object... parts) {
        List<Object> all = new ArrayList<>(Arrays.asList("tollgate.records.enabled=true",
                "spring.datasource.url=jdbc:h2:mem:records" + databases++ + ";DB_CLOSE_DELAY=-1", Orders.class));
        all.addAll(Arrays.asList(parts));
        return Host.start(all.toArray());
    }

    private static void createTheTable(DataSource dataSource) {
        new ResourceDatabasePopulator(new ClassPathResource("io/tollgate/spring/record/h2.sql")).execute(dataSource);
    }

    private static void hitTwice(Host host, String path) {
        assertThat(host.get(path + "?usercode=u1").text()).isEqualTo("orders");
        assertThat(host.get(path + "?usercode=u1").isRejection()).isTrue();
    }

    private static List<String> users(JdbcTemplate database) {
        return database.queryForList("SELECT user_id FROM tollgate_interception", String.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc", "mybatis"})
    void aRejectionIsARow(String via) {
        try (Host host = start("tollgate.records.via=" + via, "tollgate.records.instance=wms-1", MyBatis.class)) {
            createTheTable(host.bean(DataSource.class));
            hitTwice(host, "/orders");
            JdbcTemplate database = host.bean(JdbcTemplate.class);
            RedisServer.await(() -> !users(database).isEmpty());
            assertThat(database.queryForList("SELECT * FROM tollgate_interception")).singleElement().satisfies(row -> assertThat(row)
                    .containsEntry("USER_ID", "u1").containsEntry("MODULE_NAME", "wms").containsEntry("RULE_NAME", "Orders.list")
                    .containsEntry("METHOD_NAME", Orders.class.getName() + ".list").containsEntry("HTTP_METHOD", "GET")
                    .containsEntry("URI", "/orders").containsEntry("INTERVAL_SECONDS", 3_600).containsEntry("HIT_LIMIT", 1L)
                    .containsEntry("HIT_COUNT", 2L).containsEntry("OUTCOME", "LIMITED").containsEntry("CLIENT_ADDRESS", "127.0.0.1")
                    .containsEntry("INSTANCE_NAME", "wms-1"));
        }
    }

    @Test
    void rowsThatWaitAreWrittenBeforeTheDatabaseIsClosed() {
        DataSource database;
        try (Host host = start()) {
            database = DataSourceBuilder.create().username("sa")
                    .url(host.context().getEnvironment().getProperty("spring.datasource.url")).build();
            createTheTable(database);
            hitTwice(host, "/orders");
        }
        assertThat(users(new JdbcTemplate(database))).containsExactly("u1");
    }

    @Test
    void whatIsSwitchedOffIsNotRecorded() {
        try (Host host = start()) {
            createTheTable(host.bean(DataSource.class));
            hitTwice(host, "/silent");
            host.bean(Tollgate.class).settings().set("log.check", "false");
            hitTwice(host, "/orders");
            host.bean(Tollgate.class).settings().set("log.check", "true");
            hitTwice(host, "/marked");
            JdbcTemplate database = host.bean(JdbcTemplate.class);
            // One thread writes in order: what came before would be there.
            RedisServer.await(() -> !users(database).isEmpty());
            assertThat(database.queryForList("SELECT rule_name FROM tollgate_interception", String.class)).containsExactly("Orders.marked");
        }
        try (Output output = new Output(); Host host = start("tollgate.records.enabled=false")) {
            hitTwice(host, "/orders");
            assertThat(output.lines("ERROR")).isEmpty();
        }
    }

    @Test
    void aMissingTableIsSaidAndRejectsNobodyElse() {
        try (Output output = new Output(); Host host = start()) {
            hitTwice(host, "/orders");
            RedisServer.await(() -> !output.lines("ERROR").isEmpty());
            assertThat(output.lines("ERROR").get(0)).contains("io/tollgate/spring/record/h2.sql", "tollgate.records.enabled=false");
            assertThat(host.get("/marked?usercode=u1").text()).isEqualTo("orders");
        }
    }

    @Test
    void aRecorderOfTheHostsTakesTheirPlace() {
        try (Host host = start(Own.class)) {
            hitTwice(host, "/orders");
            List<Interception> rows = host.bean(Own.class).rows;
            RedisServer.await(() -> !rows.isEmpty());
            assertThat(rows).singleElement().satisfies(row -> assertThat(row.user()).isEqualTo("u1"));
            assertThat(rows.get(0).instance()).endsWith(":0");
        }
    }

    @Test
    void ofSeveralDatabasesOneIsNamed() {
        try (Host host = start("tollgate.records.data-source=second", Two.class)) {
            createTheTable(host.context().getBean("second", DataSource.class));
            hitTwice(host, "/orders");
            JdbcTemplate second = new JdbcTemplate(host.context().getBean("second", DataSource.class));
            RedisServer.await(() -> users(second).equals(Collections.singletonList("u1")));
        }
        try (Output output = new Output(); Host host = start(Two.class)) {
            hitTwice(host, "/orders");
            assertThat(output.lines("ERROR")).singleElement().asString()
                    .contains("NOT RECORDED", "first", "second", "let tollgate.records.data-source name one");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"queue=0", "table=a b", "timeout=10ms", "data-source=nowhere", "via=mybatis"})
    void aBadValueIsSaidAndLimitingGoesOn(String property) {
        try (Output output = new Output(); Host host = start("tollgate.records." + property)) {
            hitTwice(host, "/orders");
            assertThat(output.lines("ERROR")).singleElement().asString().contains("NOT RECORDED", "tollgate.records.enabled=false")
                    .contains(property.substring(property.indexOf('=') + 1).replace("10ms", "PT0.01S"));
        }
    }

    @Test
    void aHostWithoutADatabaseLimits() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, "tollgate.records.enabled=true",
                "spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration,"
                        + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")) {
            hitTwice(host, "/orders");
            assertThat(output.lines("ERROR")).isEmpty();
            assertThat(output.lines("INFO")).noneSatisfy(line -> assertThat(line).contains("recorded"));
        }
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 3_600)
        @GetMapping("/orders")
        public String list() {
            return "orders";
        }

        @RateLimit(interval = 3_600)
        @GetMapping("/marked")
        public String marked() {
            return "orders";
        }

        @RateLimit(interval = 3_600, record = false)
        @GetMapping("/silent")
        public String silent() {
            return "orders";
        }
    }

    @Configuration
    static class MyBatis {
        @Bean
        SqlSessionFactory sqlSessionFactory(DataSource dataSource) throws Exception {
            SqlSessionFactoryBean bean = new SqlSessionFactoryBean();
            bean.setDataSource(dataSource);
            return bean.getObject();
        }
    }

    @Configuration
    static class Own {
        final List<Interception> rows = new CopyOnWriteArrayList<>();

        @Bean
        InterceptionRecorder ownRecorder() {
            return rows::add;
        }
    }

    @Configuration
    static class Two {
        @Bean
        DataSource first() {
            return DataSourceBuilder.create().url("jdbc:h2:mem:first").build();
        }

        @Bean
        DataSource second() {
            return DataSourceBuilder.create().url("jdbc:h2:mem:second;DB_CLOSE_DELAY=-1").build();
        }
    }
}
