package io.tollgate.spring.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.baomidou.mybatisplus.core.MybatisConfiguration;
import com.zaxxer.hikari.HikariDataSource;
import io.tollgate.Outcome;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Instant;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Result;
import org.apache.ibatis.annotations.Results;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.defaults.DefaultSqlSessionFactory;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mybatis.spring.SqlSessionFactoryBean;

/** MyBatis as hosts set it up. */
class MyBatisHostsTest {
    private static final String URL = "jdbc:h2:mem:mybatis;DB_CLOSE_DELAY=-1";

    private final HikariDataSource pool = new HikariDataSource();

    @BeforeEach
    void createTheTable() throws Exception {
        pool.setJdbcUrl(URL);
        pool.setAutoCommit(false);
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            for (String sql : RecorderContract.statements(RecorderContract.resource("h2.sql"))) {
                statement.execute(sql);
            }
        }
    }

    @AfterEach
    void drop() throws Exception {
        pool.close();
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            statement.execute("SHUTDOWN");
        }
    }

    @Test
    void springsTransactionsAreCommittedToo() throws Exception {
        SqlSessionFactoryBean bean = new SqlSessionFactoryBean();
        bean.setDataSource(pool);
        recordTwice(bean.getObject());
    }

    @Test
    void aHostThatBatchesGetsItsRowAtOnce() throws Exception {
        Configuration configuration = new Configuration(new Environment("host", new JdbcTransactionFactory(), pool));
        configuration.setDefaultExecutorType(ExecutorType.BATCH);
        recordTwice(new DefaultSqlSessionFactory(configuration));
    }

    @Test
    void myBatisPlusHasItsOwnConfiguration() throws Exception {
        MybatisConfiguration configuration = new MybatisConfiguration();
        configuration.setEnvironment(new Environment("host", new JdbcTransactionFactory(), pool));
        recordTwice(new DefaultSqlSessionFactory(configuration));
    }

    private static void recordTwice(SqlSessionFactory factory) throws Exception {
        new MyBatisInterceptionRecorder(factory).record(RecorderContract.row().build());
        // The mapper is there already.
        new MyBatisInterceptionRecorder(factory).record(RecorderContract.row().build());
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM tollgate_interception")) {
            rows.next();
            assertThat(rows.getInt(1)).isEqualTo(2);
        }
    }

    /** As the guide has it. */
    interface LimitLogMapper {
        @Insert("INSERT INTO sys_limit_log (oper_time, oper_name, title, oper_ip) VALUES "
                + "(#{time,typeHandler=io.tollgate.spring.record.UtcTimeTypeHandler}, "
                + "#{user,jdbcType=VARCHAR}, #{rule}, #{client,jdbcType=VARCHAR})")
        int insert(Interception row);

        @Select("SELECT oper_time FROM sys_limit_log")
        @Results(@Result(column = "oper_time", property = "time", typeHandler = UtcTimeTypeHandler.class))
        Found time();
    }

    static final class Found {
        private Instant time;
    }

    @Test
    void aMapperOfTheHostsReadsARowByItsNames() throws Exception {
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE sys_limit_log (oper_time TIMESTAMP(3), oper_name VARCHAR(50), title VARCHAR(50), oper_ip VARCHAR(50))");
        }
        Configuration configuration = new Configuration(new Environment("host", new JdbcTransactionFactory(), pool));
        configuration.addMapper(LimitLogMapper.class);
        try (SqlSession session = new DefaultSqlSessionFactory(configuration).openSession()) {
            LimitLogMapper mapper = session.getMapper(LimitLogMapper.class);
            InterceptionRecorder recorder = mapper::insert;
            recorder.record(Interception.of(RecorderContract.TIME, "wms", "Order.list", Outcome.LIMITED).build());
            assertThat(mapper.time().time).isEqualTo(RecorderContract.TIME);
        }
    }
}
