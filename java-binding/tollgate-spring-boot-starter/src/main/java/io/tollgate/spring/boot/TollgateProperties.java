package io.tollgate.spring.boot;

import io.tollgate.OnFault;
import io.tollgate.spring.ClientAddress;
import io.tollgate.spring.IdentitySource;
import io.tollgate.spring.RejectionStyle;
import io.tollgate.spring.RuleNames;
import io.tollgate.spring.record.InterceptionQueue;
import io.tollgate.spring.record.JdbcInterceptionRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** What {@code tollgate.*} says. */
@ConfigurationProperties("tollgate")
public class TollgateProperties {
    /** Whether requests are limited; without it no bean of tollgate is made. */
    private boolean enabled = true;

    /** How long a decision may take, queueing included; what isn't answered by then is a fault. Without a unit: milliseconds. */
    private Duration deadline = Duration.ofMillis(100);

    /** How long the first use waits for the store before it goes on without it. Without a unit: milliseconds. */
    private Duration connectTimeout = Duration.ofSeconds(1);

    /** What requests get while the store can't answer: allow, deny, or local (count in this process until it is back). */
    private OnFault onFault = OnFault.ALLOW;

    /** First part of every key in the store, 1 to 64 bytes. */
    private String prefix = "ratelimit";

    /** How many counters this process may hold in memory, 1 or more. */
    private long maxCounters = 1_000_000;

    /** Module of rules that name none; without it spring.application.name less one of the module prefixes. */
    private String module;

    /** Prefixes, of which the longest that fits is cut from spring.application.name to get the module; empty to cut none. */
    private List<String> modulePrefixes = new ArrayList<>(Collections.singletonList(RuleNames.DEFAULT_PREFIX));

    private final Redis redis = new Redis();

    private final Identity identity = new Identity();

    private final Coverage coverage = new Coverage();

    private final Endpoint endpoint = new Endpoint();

    private final Tenant tenant = new Tenant();

    private final Exclude exclude = new Exclude();

    private final Rejection rejection = new Rejection();

    private final Records records = new Records();

    /**
     * Proxies that are believed about where a request came from: addresses and ranges such as 10.0.0.0/8 or fd00::/8; names aren't looked
     * up.
     */
    private List<String> trustedProxies = new ArrayList<>();

    /** Header that the trusted proxies append to and clients can't set: X-Forwarded-For, Forwarded, or another one with addresses. */
    private String forwardedHeader = ClientAddress.X_FORWARDED_FOR;

    /** How many bits of an IPv6 address tell clients apart, 1 to 128; a host may take any address of its /64. */
    private int ipv6Prefix = 64;

    public boolean isEnabled() {
        return enabled;
    }

    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    public Duration getDeadline() {
        return deadline;
    }

    public void setDeadline(Duration deadline) {
        this.deadline = deadline;
    }

    public Duration getConnectTimeout() {
        return connectTimeout;
    }

    public void setConnectTimeout(Duration connectTimeout) {
        this.connectTimeout = connectTimeout;
    }

    public OnFault getOnFault() {
        return onFault;
    }

    public void setOnFault(OnFault onFault) {
        this.onFault = onFault;
    }

    public String getPrefix() {
        return prefix;
    }

    public void setPrefix(String prefix) {
        this.prefix = prefix;
    }

    public long getMaxCounters() {
        return maxCounters;
    }

    public void setMaxCounters(long maxCounters) {
        this.maxCounters = maxCounters;
    }

    public String getModule() {
        return module;
    }

    public void setModule(String module) {
        this.module = module;
    }

    public List<String> getModulePrefixes() {
        return modulePrefixes;
    }

    public void setModulePrefixes(List<String> modulePrefixes) {
        this.modulePrefixes = modulePrefixes;
    }

    public Redis getRedis() {
        return redis;
    }

    public Identity getIdentity() {
        return identity;
    }

    public Coverage getCoverage() {
        return coverage;
    }

    public Endpoint getEndpoint() {
        return endpoint;
    }

    public Records getRecords() {
        return records;
    }

    public Tenant getTenant() {
        return tenant;
    }

    public Exclude getExclude() {
        return exclude;
    }

    public Rejection getRejection() {
        return rejection;
    }

    public List<String> getTrustedProxies() {
        return trustedProxies;
    }

    public void setTrustedProxies(List<String> trustedProxies) {
        this.trustedProxies = trustedProxies;
    }

    public String getForwardedHeader() {
        return forwardedHeader;
    }

    public void setForwardedHeader(String forwardedHeader) {
        this.forwardedHeader = forwardedHeader;
    }

    public int getIpv6Prefix() {
        return ipv6Prefix;
    }

    public void setIpv6Prefix(int ipv6Prefix) {
        this.ipv6Prefix = ipv6Prefix;
    }

    private static Map<IdentitySource, String> names(String parameter, String session, String request, String header) {
        Map<IdentitySource, String> names = new EnumMap<>(IdentitySource.class);
        names.put(IdentitySource.PARAMETER, parameter);
        names.put(IdentitySource.SESSION, session);
        names.put(IdentitySource.REQUEST, request);
        names.put(IdentitySource.HEADER, header);
        return names;
    }

    /** Where the counters are shared. */
    public static class Redis {
        /**
         * Store that all instances share: redis://[user:password@]host[:port][/database], rediss:// for TLS, unix:// for a socket, redis-sentinel:// for sentinels;
         * memory: counts per process even if spring.redis.* is set. Without it spring.redis.* is used, and without that memory.
         */
        private String url;

        public String getUrl() {
            return url;
        }

        public void setUrl(String url) {
            this.url = url;
        }
    }

    /** Who asks. */
    public static class Identity {
        /**
         * Where a user is looked for, in this order: parameter, session, request (an attribute of it), header, principal. Those without a
         * name are off; principal, who logged in, needs none.
         */
        private List<IdentitySource> order = new ArrayList<>(Arrays.asList(IdentitySource.PARAMETER, IdentitySource.SESSION,
                IdentitySource.REQUEST, IdentitySource.HEADER, IdentitySource.PRINCIPAL));

        /** Request parameter that names the user; a client can forge it unless the host overwrites it. Empty to look at none. */
        private String parameter = "usercode";

        /** Session attribute that names the user; empty to look at none. */
        private String sessionAttribute = "usercode";

        /** Request attribute that names the user, as a filter of the host sets it. */
        private String requestAttribute;

        /** Header that names the user; a client can forge it unless the edge overwrites it. */
        private String header;

        public List<IdentitySource> getOrder() {
            return order;
        }

        public void setOrder(List<IdentitySource> order) {
            this.order = order;
        }

        public String getParameter() {
            return parameter;
        }

        public void setParameter(String parameter) {
            this.parameter = parameter;
        }

        public String getSessionAttribute() {
            return sessionAttribute;
        }

        public void setSessionAttribute(String sessionAttribute) {
            this.sessionAttribute = sessionAttribute;
        }

        public String getRequestAttribute() {
            return requestAttribute;
        }

        public void setRequestAttribute(String requestAttribute) {
            this.requestAttribute = requestAttribute;
        }

        public String getHeader() {
            return header;
        }

        public void setHeader(String header) {
            this.header = header;
        }

        Map<IdentitySource, String> names() {
            return TollgateProperties.names(parameter, sessionAttribute, requestAttribute, header);
        }
    }

    /** Whose request it is, for rules by tenant. */
    public static class Tenant {
        /** Session attribute that names the tenant; asked first. */
        private String sessionAttribute;

        /** Request attribute that names the tenant, as a filter of the host sets it; asked second. */
        private String requestAttribute;

        /** Header that names the tenant; a client can forge it unless the edge overwrites it. Asked third. */
        private String header;

        /** Request parameter that names the tenant; a client can forge it. Asked last. */
        private String parameter;

        public String getSessionAttribute() {
            return sessionAttribute;
        }

        public void setSessionAttribute(String sessionAttribute) {
            this.sessionAttribute = sessionAttribute;
        }

        public String getRequestAttribute() {
            return requestAttribute;
        }

        public void setRequestAttribute(String requestAttribute) {
            this.requestAttribute = requestAttribute;
        }

        public String getHeader() {
            return header;
        }

        public void setHeader(String header) {
            this.header = header;
        }

        public String getParameter() {
            return parameter;
        }

        public void setParameter(String parameter) {
            this.parameter = parameter;
        }

        Map<IdentitySource, String> names() {
            return TollgateProperties.names(parameter, sessionAttribute, requestAttribute, header);
        }
    }

    /** What passes uncounted. */
    public static class Exclude {
        /**
         * Header that marks calls between services: X-Internal-Call, or X-Internal-Call=value if only that value counts. A client can
         * send it too: the edge must remove it, or the value be a secret.
         */
        private String header;

        /** Ant patterns of paths within the application that no user reaches, such as /internal/**. */
        private List<String> paths = new ArrayList<>();

        public String getHeader() {
            return header;
        }

        public void setHeader(String header) {
            this.header = header;
        }

        public List<String> getPaths() {
            return paths;
        }

        public void setPaths(List<String> paths) {
            this.paths = paths;
        }
    }

    /** How a rejected request is answered; a RejectionHandler bean of the host goes before it. */
    public static class Rejection {
        /**
         * Answer: legacy (200, error and successful), ruoyi (200, code and msg), http (429 or 503, problem+json), html (429 or 503, a
         * page).
         */
        private RejectionStyle style = RejectionStyle.LEGACY;

        /**
         * Whether who prefers a page gets one, whatever the style: requests whose Accept rates text/html above JSON and that no
         * XMLHttpRequest sends.
         */
        private boolean htmlForPages;

        public RejectionStyle getStyle() {
            return style;
        }

        public void setStyle(RejectionStyle style) {
            this.style = style;
        }

        public boolean isHtmlForPages() {
            return htmlForPages;
        }

        public void setHtmlForPages(boolean htmlForPages) {
            this.htmlForPages = htmlForPages;
        }
    }

    /** What is said of methods that carry the annotation and aren't limited. */
    public static class Coverage {
        /** Whether the application's class files are looked through for classes that aren't beans and methods that only their own class calls. */
        private boolean scan = true;

        /** Names of classes that are meant to be as they are, with * for any part, like com.acme.legacy.*. */
        private List<String> ignore = new ArrayList<>();

        public boolean isScan() {
            return scan;
        }

        public void setScan(boolean scan) {
            this.scan = scan;
        }

        public List<String> getIgnore() {
            return ignore;
        }

        public void setIgnore(List<String> ignore) {
            this.ignore = ignore;
        }
    }

    /** The actuator endpoint. */
    public static class Endpoint {
        /** Whether it can change settings and look at users' counters, and not only report. */
        private boolean acting;

        public boolean isActing() {
            return acting;
        }

        public void setActing(boolean acting) {
            this.acting = acting;
        }
    }

    /** What writes records. */
    public enum Via {
        /** Plain JDBC. */
        JDBC,
        /** The host's MyBatis. */
        MYBATIS
    }

    /** Rows about rejections. */
    public static class Records {
        /** Whether rejections are recorded where the host has an InterceptionRecorder bean or a database. */
        private boolean enabled = true;

        /** What writes a row: jdbc, or mybatis, where the host's plug-ins see the insert. */
        private Via via = Via.JDBC;

        /** Table, with a schema and a dot before it where one is needed. */
        private String table = JdbcInterceptionRecorder.DEFAULT_TABLE;

        /** Name of the DataSource bean, where there are several and none is primary. */
        private String dataSource;

        /** Name of the SqlSessionFactory bean, where there are several and none is primary. */
        private String sqlSessionFactory;

        /** How many rows wait at most, 1 to 1000000; more are dropped and counted. */
        private int queue = InterceptionQueue.DEFAULT_CAPACITY;

        /** How long an insert by jdbc may take, 1s to 1h, in whole seconds. */
        private Duration timeout = JdbcInterceptionRecorder.DEFAULT_TIMEOUT;

        /** Name of this process in its rows; without it the host's name and server.port. */
        private String instance;

        public boolean isEnabled() {
            return enabled;
        }

        public void setEnabled(boolean enabled) {
            this.enabled = enabled;
        }

        public Via getVia() {
            return via;
        }

        public void setVia(Via via) {
            this.via = via;
        }

        public String getTable() {
            return table;
        }

        public void setTable(String table) {
            this.table = table;
        }

        public String getDataSource() {
            return dataSource;
        }

        public void setDataSource(String dataSource) {
            this.dataSource = dataSource;
        }

        public String getSqlSessionFactory() {
            return sqlSessionFactory;
        }

        public void setSqlSessionFactory(String sqlSessionFactory) {
            this.sqlSessionFactory = sqlSessionFactory;
        }

        public int getQueue() {
            return queue;
        }

        public void setQueue(int queue) {
            this.queue = queue;
        }

        public Duration getTimeout() {
            return timeout;
        }

        public void setTimeout(Duration timeout) {
            this.timeout = timeout;
        }

        public String getInstance() {
            return instance;
        }

        public void setInstance(String instance) {
            this.instance = instance;
        }
    }
}
