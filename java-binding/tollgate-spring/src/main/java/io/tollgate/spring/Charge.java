package io.tollgate.spring;

import io.tollgate.Decision;
import io.tollgate.Rule;
import io.tollgate.Tollgate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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

    List<Decision> acquire(Tollgate tollgate) {
        List<Decision> decisions = new ArrayList<>();
        for (int i = 0; i < rules.size(); i++) {
            decisions.add(tollgate.acquire(rules.get(i), identities.get(i)));
        }
        return decisions;
    }

    CompletionStage<List<Decision>> acquireAsync(Tollgate tollgate) {
        CompletionStage<List<Decision>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (int i = 0; i < rules.size(); i++) {
            all = all.thenCombine(tollgate.acquireAsync(rules.get(i), identities.get(i)), (decisions, decision) -> {
                decisions.add(decision);
                return decisions;
            });
        }
        return all;
    }

    static int tightest(List<Decision> decisions) {
        int found = 0;
        for (int i = 0; i < decisions.size(); i++) {
            if (!decisions.get(i).isAllowed()
                    && (decisions.get(found).isAllowed() || decisions.get(i).resetAfterMillis() > decisions.get(found).resetAfterMillis())) {
                found = i;
            }
        }
        return found;
    }
}
