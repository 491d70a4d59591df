package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.StringJoiner;

/** Rules of one name whose annotations say different things. Immutable. */
public final class RuleConflict {
    private final List<GuardedRule> rules;

    RuleConflict(List<GuardedRule> rules) {
        this.rules = Collections.unmodifiableList(new ArrayList<>(rules));
    }

    /**
     * The name that they share.
     *
     * @return like {@code wms.Order.list}
     */
    public String name() {
        return rules.get(0).toString();
    }

    /**
     * The rules.
     *
     * @return two or more
     */
    public List<GuardedRule> rules() {
        return rules;
    }

    @Override
    public String toString() {
        StringJoiner settings = new StringJoiner("; ");
        for (GuardedRule rule : rules) {
            settings.add(rule.limit() + " in " + rule.interval() + " s by " + rule.by()
                    + (rule.onFault() == null ? "" : " with onFault " + rule.onFault())
                    + " on " + rule.guarded().type().getName() + '.' + rule.guarded().method().getName() + "()");
        }
        return "rule " + name() + " is given DIFFERENT SETTINGS: " + settings
                + ". They share counters, and the one that is called first says the defaults for all. "
                + "Give them the same settings, or another rule = \"…\" each.";
    }
}
