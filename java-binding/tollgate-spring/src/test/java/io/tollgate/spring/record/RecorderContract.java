package io.tollgate.spring.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.tollgate.Outcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What both recorders promise, on each database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RecorderContract {
    /** 2:30 at night, which New York's clocks left out on that day. */
    static final Instant TIME = Instant.parse("2026-03-08T02:30:00.123Z");
    static final String TABLE = JdbcInterceptionRecorder.DEFAULT_TABLE;

    final List<HikariDataSource> pools = new ArrayList<>();
    private final TimeZone zone = TimeZone.getDefault();
    private final Locale locale = Locale.getDefault();

    /** Of a database that holds a schema "audit" besides. */
    abstract String url();

    /** The file with the table. */
    abstract String ddl();

    /** Under which heading the guide has the purge. */
    abstract String heading();

    @BeforeEach
    void createTheTable() throws SQLException {
        drop(TABLE);
        runDdl();
    }

    @AfterEach
    void restore() {
        TimeZone.setDefault(zone);
        Locale.setDefault(locale);
        pools.forEach(HikariDataSource::close);
        pools.clear();
    }

    static Stream<String> recorders() {
        return Stream.of("jdbc", "mybatis");
    }

    static InterceptionRecorder recorder(String kind, DataSource dataSource, String table) {
        return kind.equals("jdbc") ? new JdbcInterceptionRecorder(dataSource, table, Duration.ofSeconds(5))
                : new MyBatisInterceptionRecorder(myBatis(dataSource), table);
    }

    private static SqlSessionFactory myBatis(DataSource dataSource) {
        return new SqlSessionFactoryBuilder().build(new Configuration(new Environment("test", new JdbcTransactionFactory(), dataSource)));
    }

    static Interception.Builder row() {
        return Interception.of(TIME, "wms", "OrderController.list", Outcome.LIMITED).user("u1").method("com.acme.OrderController.list")
                .request("GET", "/orders", "10.0.0.7").window(3, 1, 2).instance("wms-1");
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void aRowHoldsWhatHappened(String kind) throws Exception {
        recorder(kind, pool(true), TABLE).record(row().build());
        assertThat(rows("user_id, module_name, rule_name, method_name, http_method, uri, interval_seconds, hit_limit, hit_count, outcome, "
                + "client_address, instance_name")).containsExactly(Arrays.asList("u1", "wms", "OrderController.list",
                "com.acme.OrderController.list", "GET", "/orders", "3", "1", "2", "LIMITED", "10.0.0.7", "wms-1"));
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void numbersAreAsLargeAsTheyGet(String kind) throws Exception {
        recorder(kind, pool(true), TABLE).record(row().window(31_536_000, Long.MAX_VALUE, Long.MAX_VALUE).build());
        assertThat(rows("interval_seconds, hit_limit, hit_count")).containsExactly(
                Arrays.asList("31536000", "9223372036854775807", "9223372036854775807"));
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void timesAreUtcWhateverTheZoneAndTheLocale(String kind) throws Exception {
        for (String name : new String[] {"UTC", "America/New_York", "Asia/Shanghai"}) {
            TimeZone.setDefault(TimeZone.getTimeZone(name));
            recorder(kind, pool(true), TABLE).record(row().user(name).build());
        }
        // Its calendar is a Buddhist one, 543 years ahead.
        Locale.setDefault(new Locale("th", "TH"));
        recorder(kind, pool(true), TABLE).record(row().user("th").build());
        Locale.setDefault(locale);
        TimeZone.setDefault(zone);
        assertThat(rows("CAST(time_utc AS " + textType() + ")")).hasSize(4)
                .allSatisfy(row -> assertThat(row.get(0)).startsWith("2026-03-08 02:30:00.123"));
    }

    String textType() {
        return "VARCHAR(40)";
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void whatARowDoesNotHaveIsNull(String kind) throws Exception {
        recorder(kind, pool(true), TABLE).record(Interception.of(TIME, "wms", "Job.run", Outcome.FAULT_DENIED).user("").build());
        assertThat(rows("user_id, method_name, http_method, uri, client_address, instance_name, hit_count, outcome")).containsExactly(
                Arrays.asList(null, null, null, null, null, null, "0", "FAULT_DENIED"));
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void textsAreMadeFit(String kind) throws Exception {
        String face = new String(Character.toChars(0x1F600));
        String rare = new String(Character.toChars(0x20BB7));
        StringBuilder faces = new StringBuilder("x");
        for (int i = 0; i < 5_000; i++) {
            faces.append(face);
        }
        String cutFaces = faces.toString();
        recorder(kind, pool(true), TABLE).record(Interception.of(TIME, cutFaces, cutFaces, Outcome.SHADOWED).user("a\u0000b\uD83Dc\uDE00" + rare)
                .method(cutFaces).request(cutFaces, cutFaces, cutFaces).instance("'; DROP TABLE " + TABLE + "; -- \\").build());
        assertThat(rows("user_id, module_name, rule_name, method_name, http_method, uri, client_address, instance_name")).containsExactly(
                Arrays.asList("a\uFFFDb\uFFFDc\uFFFD" + rare, cutFaces.substring(0, 127), cutFaces.substring(0, 255),
                        cutFaces.substring(0, 399), cutFaces.substring(0, 15), cutFaces.substring(0, 999), cutFaces.substring(0, 63),
                        "'; DROP TABLE " + TABLE + "; -- \\"));
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void usersThatDifferInCaseOrAccentStayApart(String kind) throws Exception {
        InterceptionRecorder recorder = recorder(kind, pool(true), TABLE);
        for (String user : new String[] {"anna", "Anna", "\u00E4nna"}) {
            recorder.record(row().user(user).build());
        }
        assertThat(rows("user_id", "WHERE user_id = 'anna'")).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void aPoolWithoutAutoCommitIsCommitted(String kind) throws Exception {
        InterceptionRecorder recorder = recorder(kind, pool(false), TABLE);
        recorder.record(row().build());
        recorder.record(row().build());
        assertThat(rows("user_id")).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aConnectionComesBackAsItWas(boolean autoCommit) throws Exception {
        HikariDataSource pool = pool(autoCommit);
        InterceptionRecorder recorder = new JdbcInterceptionRecorder(pool);
        recorder.record(row().build());
        drop(TABLE);
        assertThatThrownBy(() -> recorder.record(row().build())).isInstanceOf(SQLException.class);
        runDdl();
        // The pool's only connection isn't left in a transaction that failed.
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
            statement.executeQuery("SELECT 1").close();
        }
        recorder.record(row().build());
        assertThat(rows("user_id")).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void aMissingTableSaysWhichFileMakesItAndHowToDoWithoutRecords(String kind) throws Exception {
        drop(TABLE);
        InterceptionRecorder recorder = recorder(kind, pool(true), TABLE);
        try (Lines lines = new Lines(InterceptionQueue.class); InterceptionQueue queue = new InterceptionQueue(recorder)) {
            queue.offer(row().build());
            DatabaseServer.until("the failure is counted", () -> queue.failed() == 1 && !lines.texts().isEmpty());
            assertThat(lines.texts()).singleElement().asString().contains("wms.OrderController.list", "the table " + TABLE + " is missing",
                    "io/tollgate/spring/record/" + ddl(), "tollgate.records.enabled=false", "log.check");
            // And back by itself.
            runDdl();
            queue.offer(row().build());
            DatabaseServer.until("a row is recorded", () -> queue.recorded() == 1);
        }
        assertThat(rows("user_id")).hasSize(1);
    }

    @Test
    void aMissingColumnIsExplainedToo() throws Exception {
        execute("ALTER TABLE " + TABLE + " DROP COLUMN outcome");
        assertThatThrownBy(() -> new JdbcInterceptionRecorder(pool(true)).record(row().build())).hasMessageContaining("has other columns")
                .hasMessageContaining(ddl());
    }

    @ParameterizedTest
    @MethodSource("recorders")
    void anotherTableInAnotherSchemaTakesRows(String kind) throws Exception {
        drop("audit.rejected_$1");
        for (String statement : statements(resource(ddl()).replace("tollgate_interception", "audit.rejected_$1")
                .replaceAll("INDEX (IF NOT EXISTS )?audit[.]rejected_\\$1", "INDEX rejected").replaceAll("KEY audit[.]rejected_\\$1", "KEY rejected"))) {
            execute(statement);
        }
        recorder(kind, pool(true), "audit.rejected_$1").record(row().build());
        assertThat(query("SELECT user_id FROM audit.rejected_$1")).containsExactly(Collections.singletonList("u1"));
        assertThat(rows("user_id")).isEmpty();
    }

    @Test
    void theDdlMayRunAgain() throws Exception {
        new JdbcInterceptionRecorder(pool(true)).record(row().build());
        runDdl();
        assertThat(rows("user_id")).hasSize(1);
    }

    @Test
    void theGuidesPurgeDeletesWhatIsOldInBatches() throws Exception {
        Instant now = Instant.now();
        try (Connection connection = pool(true).getConnection(); PreparedStatement insert = connection.prepareStatement("INSERT INTO "
                + TABLE + " (" + InterceptionTable.COLUMNS + ") VALUES (?, ?, 'wms', 'a', NULL, NULL, NULL, 3, 1, 2, 'LIMITED', NULL, NULL)")) {
            for (int i = 0; i < 2_503; i++) {
                InterceptionTable.bindUtc(insert, 1, now.minus(i < 3 ? 89 : 91, ChronoUnit.DAYS));
                insert.setString(2, i < 3 ? "young" : "old");
                insert.addBatch();
            }
            insert.executeBatch();
        }
        String purge = guide(heading());
        List<Integer> deleted = new ArrayList<>();
        try (Connection connection = pool(true).getConnection(); Statement statement = connection.createStatement()) {
            do {
                deleted.add(statement.executeUpdate(purge));
            } while (deleted.get(deleted.size() - 1) > 0);
        }
        assertThat(deleted).containsExactly(1_000, 1_000, 500, 0);
        assertThat(rows("user_id")).hasSize(3).allSatisfy(row -> assertThat(row.get(0)).isEqualTo("young"));
    }

    final HikariDataSource pool(boolean autoCommit) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url());
        pool.setMaximumPoolSize(1);
        pool.setAutoCommit(autoCommit);
        pool.setConnectionTimeout(1_000);
        pool.setInitializationFailTimeout(-1);
        pools.add(pool);
        return pool;
    }

    final void drop(String table) throws SQLException {
        execute("DROP TABLE IF EXISTS " + table);
    }

    final void runDdl() throws SQLException {
        for (String statement : statements(resource(ddl()))) {
            execute(statement);
        }
    }

    final void execute(String sql) throws SQLException {
        try (Connection connection = java.sql.DriverManager.getConnection(url()); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    final List<List<String>> rows(String columns, String... where) throws SQLException {
        return query("SELECT " + columns + " FROM " + TABLE + " " + String.join(" ", where));
    }

    private List<List<String>> query(String sql) throws SQLException {
        List<List<String>> all = new ArrayList<>();
        try (Connection connection = java.sql.DriverManager.getConnection(url()); Statement statement = connection.createStatement();
                ResultSet results = statement.executeQuery(sql)) {
            while (results.next()) {
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= results.getMetaData().getColumnCount(); i++) {
                    row.add(results.getString(i));
                }
                all.add(row);
            }
        }
        return all;
    }

    static List<String> statements(String script) {
        List<String> statements = new ArrayList<>();
        for (String statement : script.replaceAll("(?m)^--.*$", "").split(";")) {
            if (!statement.trim().isEmpty()) {
                statements.add(statement.trim());
            }
        }
        return statements;
    }

    static String resource(String name) {
        try (InputStream in = InterceptionTable.class.getResourceAsStream(name)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                out.write(b);
            }
            return new String(out.toByteArray(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The one statement under a heading of the guide's. */
    static String guide(String heading) throws IOException {
        String guide = new String(Files.readAllBytes(Paths.get("../../docs/records.md")), StandardCharsets.UTF_8);
        int start = guide.indexOf("\n### " + heading + "\n");
        assertThat(start).as("the heading " + heading).isPositive();
        StringBuilder code = new StringBuilder();
        for (String line : guide.substring(start + 5).split("\n")) {
            if (line.startsWith("#")) {
                break;
            }
            if (line.startsWith("    ")) {
                code.append(line.trim()).append(' ');
            }
        }
        return code.toString().replace(";", "").trim();
    }
}
