package io.tollgate.spring.boot;

import io.tollgate.Counter;
import io.tollgate.Rule;
import io.tollgate.Settings;
import io.tollgate.Tollgate;
import io.tollgate.TollgateException;
import io.tollgate.spring.RateLimitEngine;
import io.tollgate.spring.coverage.RateLimitCoverage;
import java.security.Principal;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/** The endpoint where {@code tollgate.endpoint.acting} is on. Names travel in the body or the query, where any character survives. */
@WebEndpoint(id = "tollgate")
public class ActingTollgateEndpoint extends TollgateEndpoint {
    private static final Logger LOG = LoggerFactory.getLogger(ActingTollgateEndpoint.class);
    private static final List<String> SETTINGS = Arrays.asList(LiveRule.CHECK, LiveRule.INTERVAL, LiveRule.LIMIT);
    /** Stands for no rule: the switch of all records, {@code log.check}. */
    private static final String RECORDS = "log";

    /** The one path below the endpoint's own. */
    private static final String COUNTER = "counter";

    private final ObjectProvider<Tollgate> tollgate;
    private final ObjectProvider<RateLimitEngine> engine;

    ActingTollgateEndpoint(RateLimitCoverage coverage, ObjectProvider<Tollgate> tollgate, ObjectProvider<RateLimitEngine> engine) {
        super(coverage, tollgate);
        this.tollgate = tollgate;
        this.engine = engine;
    }

    /** Sets a rule's switch, interval or limit, or the switch of all records. */
    @WriteOperation
    public WebEndpointResponse<Map<String, Object>> set(SecurityContext caller, String rule, String setting, String value) {
        return answer(() -> {
            String field = field(rule, setting);
            Settings settings = tollgate.getObject().settings();
            String old = settings.get(field);
            settings.set(field, value);
            LOG.warn("tollgate: {} set from {} to {} by {} through the actuator endpoint", field, printable(old), printable(value), who(caller));
            Map<String, Object> done = new LinkedHashMap<>();
            done.put("field", field);
            done.put("old", old);
            done.put("value", value);
            return done;
        });
    }

    /** Looks at one user's counter: GET {@code /counter?rule=…&user=…}. Counts nothing. */
    @ReadOperation
    public WebEndpointResponse<Map<String, Object>> counter(@Selector String what, String rule, String user) {
        return !what.equals(COUNTER) ? null : answer(() -> {
            Rule registered = engine.getObject().register(rule(rule).guarded());
            Counter counter = tollgate.getObject().counter(registered, user);
            Map<String, Object> found = new LinkedHashMap<>();
            found.put("rule", rule);
            found.put("user", user);
            found.put("count", counter == null ? 0 : counter.count());
            if (counter != null) {
                found.put("endsInMillis", counter.endsInMillis());
            }
            return found;
        });
    }

    /** Removes one user's counter, whose next hit begins a window: DELETE {@code /counter?rule=…&user=…}. */
    @DeleteOperation
    public WebEndpointResponse<Map<String, Object>> clear(@Selector String what, SecurityContext caller, String rule, String user) {
        if (!what.equals(COUNTER)) {
            return new WebEndpointResponse<>(404);
        }
        return answer(() -> {
            Rule registered = engine.getObject().register(rule(rule).guarded());
            boolean cleared = tollgate.getObject().clear(registered, user);
            LOG.warn("tollgate: the counter of user {} under {} was {} by {} through the actuator endpoint",
                    printable(user), printable(rule), cleared ? "cleared" : "to be cleared, and wasn't there,", who(caller));
            return Collections.singletonMap("cleared", cleared);
        });
    }

    private String field(String name, String setting) {
        if (name.equals(RECORDS) && setting.equals(LiveRule.CHECK)) {
            return RECORDS + '.' + LiveRule.CHECK;
        }
        LiveRule rule = rule(name);
        if (!SETTINGS.contains(setting)) {
            throw new IllegalArgumentException("setting \"" + setting + "\" isn't one: give check, interval or limit");
        }
        if (!rule.isPlain()) {
            throw new IllegalArgumentException("rule \"" + name + "\" has a name that is encoded in the store: set its field there");
        }
        return rule.field(setting);
    }

    private LiveRule rule(String name) {
        for (LiveRule rule : rules()) {
            if (rule.name().equals(name)) {
                return rule;
            }
        }
        throw new UnknownRuleException("rule \"" + name + "\" isn't one of this application's: GET the endpoint for their names");
    }

    private static WebEndpointResponse<Map<String, Object>> answer(Supplier<Map<String, Object>> action) {
        try {
            return new WebEndpointResponse<>(action.get(), 200);
        } catch (UnknownRuleException e) {
            return failure(e, 404);
        } catch (IllegalArgumentException e) {
            return failure(e, 400);
        } catch (TollgateException e) {
            return failure(e, 503);
        }
    }

    private static WebEndpointResponse<Map<String, Object>> failure(RuntimeException e, int status) {
        return new WebEndpointResponse<>(Collections.singletonMap("error", e.getMessage()), status);
    }

    private static String who(SecurityContext caller) {
        Principal principal = caller.getPrincipal();
        return principal == null ? "nobody that is known" : printable(principal.getName());
    }

    /** What a client sends must not look like a line of its own. */
    private static String printable(String text) {
        return text == null ? "nothing" : text.replaceAll("[\\p{Cntrl}\\p{Cf}\\u2028\\u2029]", "?");
    }

    private static final class UnknownRuleException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnknownRuleException(String message) {
            super(message);
        }
    }
}
