package io.tollgate.spring.boot;

import io.tollgate.Tollgate;
import io.tollgate.spring.GuardedRule;
import io.tollgate.spring.coverage.MethodCoverage;
import io.tollgate.spring.coverage.Mount;
import io.tollgate.spring.coverage.RateLimitCoverage;
import io.tollgate.spring.coverage.RuleConflict;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/** {@code /actuator/tollgate}: what is guarded, what isn't, and the values in force. Over HTTP alone. */
@WebEndpoint(id = "tollgate")
public class TollgateEndpoint {
    private final RateLimitCoverage coverage;
    private final ObjectProvider<Tollgate> tollgate;

    TollgateEndpoint(RateLimitCoverage coverage, ObjectProvider<Tollgate> tollgate) {
        this.coverage = coverage;
        this.tollgate = tollgate;
    }

    /** The whole report. */
    @ReadOperation
    public Map<String, Object> report() {
        Map<String, Object> report = new LinkedHashMap<>();
        List<MethodCoverage> methods = coverage.methods();
        report.put("complete", methods.stream().allMatch(MethodCoverage::isProtected));
        report.put("store", store());
        report.put("methods", methods.stream().filter(MethodCoverage::isProtected).map(TollgateEndpoint::describe).collect(Collectors.toList()));
        report.put("unprotected", methods.stream().filter(next -> !next.isProtected()).map(TollgateEndpoint::describe).collect(Collectors.toList()));
        report.put("conflicts", coverage.conflicts().stream().map(TollgateEndpoint::describe).collect(Collectors.toList()));
        Map<String, String> stored = null;
        try {
            stored = tollgate.getObject().settings().all();
        } catch (RuntimeException | LinkageError e) {
            report.put("settingsError", String.valueOf(e.getMessage()));
        }
        List<Object> rules = new ArrayList<>();
        for (LiveRule rule : rules()) {
            rules.add(rule.describe(stored));
        }
        report.put("rules", rules);
        return report;
    }

    /** Every rule once; of those that share a name, the first. */
    Collection<LiveRule> rules() {
        Map<String, LiveRule> rules = new LinkedHashMap<>();
        for (MethodCoverage method : coverage.methods()) {
            for (GuardedRule guarded : method.rules()) {
                LiveRule rule = new LiveRule(guarded);
                rules.putIfAbsent(rule.name(), rule);
            }
        }
        return rules.values();
    }

    private Map<String, Object> store() {
        Map<String, Object> store = new LinkedHashMap<>();
        try {
            Tollgate opened = tollgate.getObject();
            store.put("name", opened.store());
            store.put("up", opened.stats().isStoreUp());
        } catch (RuntimeException | LinkageError e) {
            store.put("up", false);
            store.put("error", String.valueOf(e.getMessage()));
        }
        return store;
    }

    private static Map<String, Object> describe(MethodCoverage method) {
        Map<String, Object> text = new LinkedHashMap<>();
        if (method.beanName() != null) {
            text.put("bean", method.beanName());
        }
        text.put("method", method.signature());
        text.put("rules", method.rules().stream().map(rule -> new LiveRule(rule).name()).collect(Collectors.toList()));
        if (method.isProtected()) {
            text.put("mounts", method.mounts().stream().map(Mount::name).collect(Collectors.toList()));
        } else {
            text.put("gap", method.gap().name());
            text.put("reason", method.reason());
            text.put("remedy", method.remedy());
        }
        return text;
    }

    private static Map<String, Object> describe(RuleConflict conflict) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("rule", conflict.name());
        text.put("text", conflict.toString());
        return text;
    }
}
