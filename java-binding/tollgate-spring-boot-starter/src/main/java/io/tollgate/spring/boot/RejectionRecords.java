package io.tollgate.spring.boot;

import io.tollgate.spring.ClientAddress;
import io.tollgate.spring.RateLimitObserver;
import io.tollgate.spring.record.InterceptionObserver;
import io.tollgate.spring.record.InterceptionQueue;
import io.tollgate.spring.record.InterceptionRecorder;
import io.tollgate.spring.record.JdbcInterceptionRecorder;
import io.tollgate.spring.record.MyBatisInterceptionRecorder;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import javax.sql.DataSource;
import org.apache.ibatis.session.SqlSessionFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Records of rejections where the host can keep them. What keeps them from being made is said, and keeps nothing else. */
final class RejectionRecords implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RejectionRecords.class);

    private final InterceptionQueue queue;
    private final RateLimitObserver observer;

    private RejectionRecords(InterceptionQueue queue, RateLimitObserver observer) {
        this.queue = queue;
        this.observer = observer;
    }

    static RejectionRecords of(TollgateProperties.Records properties, ClientAddress addresses, ListableBeanFactory beans, Environment host) {
        if (properties.isEnabled()) {
            try {
                InterceptionRecorder recorder = recorder(properties, beans);
                if (recorder != null) {
                    InterceptionQueue queue = new InterceptionQueue(recorder, properties.getQueue());
                    LOG.info("tollgate: rejections are recorded, by {}", recorder);
                    return new RejectionRecords(queue,
                            new InterceptionObserver(queue, addresses::address, instance(properties, host), Clock.systemUTC()));
                }
            } catch (Exception | LinkageError e) {
                LOG.error("tollgate: rejections are NOT RECORDED: {}. Requests are limited all the same. To do without records set "
                        + "tollgate.records.enabled=false", e.getMessage(), e);
            }
        }
        return new RejectionRecords(null, null);
    }

    private static InterceptionRecorder recorder(TollgateProperties.Records properties, ListableBeanFactory beans) {
        InterceptionRecorder own = beans.getBeanProvider(InterceptionRecorder.class).getIfAvailable();
        if (own != null) {
            return own;
        }
        return properties.getVia() == TollgateProperties.Via.MYBATIS ? ByMyBatis.recorder(properties, beans) : ByJdbc.recorder(properties, beans);
    }

    /** The host's answer to which of its beans: the one named, the only one, or the primary one; null where it has none. */
    private static <T> T bean(String name, String property, Class<T> type, ListableBeanFactory beans) {
        if (StringUtils.hasText(name)) {
            return beans.getBean(name.trim(), type);
        }
        try {
            return beans.getBeanProvider(type).getIfAvailable();
        } catch (NoUniqueBeanDefinitionException e) {
            throw new IllegalStateException("there are several beans of type " + type.getSimpleName() + " ("
                    + StringUtils.collectionToCommaDelimitedString(e.getBeanNamesFound()) + "): let " + property + " name one", e);
        }
    }

    private static String instance(TollgateProperties.Records properties, Environment host) {
        if (StringUtils.hasText(properties.getInstance())) {
            return properties.getInstance().trim();
        }
        String name;
        try {
            name = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            name = "localhost";
        }
        String port = host.getProperty("server.port");
        return port == null ? name : name + ':' + port;
    }

    /** Hears of what is to be recorded; null for nothing. */
    RateLimitObserver observer() {
        return observer;
    }

    @Override
    public void close() {
        if (queue != null) {
            queue.close();
        }
    }

    /** Apart, so that a host without java.sql is never asked for it. */
    private static final class ByJdbc {
        static InterceptionRecorder recorder(TollgateProperties.Records properties, ListableBeanFactory beans) {
            DataSource found = bean(properties.getDataSource(), "tollgate.records.data-source", DataSource.class, beans);
            return found == null ? null : new JdbcInterceptionRecorder(found, properties.getTable(), properties.getTimeout());
        }
    }

    /** Apart, since few hosts have MyBatis. */
    private static final class ByMyBatis {
        static InterceptionRecorder recorder(TollgateProperties.Records properties, ListableBeanFactory beans) {
            SqlSessionFactory found = bean(properties.getSqlSessionFactory(), "tollgate.records.sql-session-factory",
                    SqlSessionFactory.class, beans);
            if (found == null) {
                throw new IllegalStateException("tollgate.records.via=mybatis, and there is no SqlSessionFactory: set it to jdbc");
            }
            return new MyBatisInterceptionRecorder(found, properties.getTable());
        }
    }
}
