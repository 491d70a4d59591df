package io.tollgate.spring;

import io.tollgate.Decision;
import io.tollgate.Rule;
import io.tollgate.Tollgate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** The rules that one call is counted by, with whom each counts. For one thread. */
final class Charge {
    private final List<GuardedRule> guarded = new ArrayList<>(1);
    private final List<Rule> rules = new ArrayList<>(1);
    private final List<String> identities = new ArrayList<>(1);

    void add(GuardedRule rule, Rule registered, String identity) {
        guarded.add(rule);
        rules.add(registered);
        identities.add(identity);
    }

    boolean isEmpty() {
        return rules.isEmpty();
    }

    GuardedRule rule(int index) {
        return guarded.get(index);
    }

    String identity(int index) {
        return identities.get(index);
    }

    /** All in one round trip. */
    List<Decision> acquire(Tollgate tollgate) {
        return rules.size() == 1
                ? Collections.singletonList(tollgate.acquire(rules.get(0), identities.get(0))) : tollgate.acquireAll(rules, identities);
    }

    /** The same without waiting. */
    CompletionStage<List<Decision>> acquireAsync(Tollgate tollgate) {
        return rules.size() == 1
                ? tollgate.acquireAsync(rules.get(0), identities.get(0)).thenApply(Collections::singletonList)
                : tollgate.acquireAllAsync(rules, identities);
    }
}
