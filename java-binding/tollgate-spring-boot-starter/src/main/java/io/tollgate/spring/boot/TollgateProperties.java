package io.tollgate.spring.boot;

import io.tollgate.OnFault;
import io.tollgate.spring.RuleNames;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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
        /** Request parameter that names the user; empty to look at none. */
        private String parameter = "usercode";

        /** Session attribute that names the user where the parameter doesn't; empty to look at none. */
        private String sessionAttribute = "usercode";

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
    }
}
