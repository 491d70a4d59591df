package io.tollgate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** Several hits of one call, whose decisions are yet to come, all at once. */
final class Hits extends Awaited<List<Decision>> {
    /** Hits that one call takes at most, as the native side says too. */
    static final int MAX = 64;
    /** Longs of a hit: its rule, where its user begins, how long it is. */
    private static final int LENGTH = 3;
    private static final byte[] NOBODY = {};

    /** What the native side takes, {@link #LENGTH} longs a hit. */
    final long[] hits;
    /** The users' bytes, one after the other. */
    final byte[] users;

    private final Decision[] decisions;
    private int taken;

    private Hits(long number, boolean awaited, long[] hits, byte[] users) {
        super(number, awaited);
        this.hits = hits;
        this.users = users;
        this.decisions = new Decision[hits.length / LENGTH];
    }

    /** Hits of one user, for one call. */
    static Hits of(Tollgate tollgate, List<Rule> rules, String user) {
        Rule[] checked = check(tollgate, rules);
        byte[] bytes = Wtf8.encode(user);
        long[] hits = new long[checked.length * LENGTH];
        for (int i = 0; i < checked.length; i++) {
            put(hits, i, checked[i], 0, bytes);
        }
        return new Hits(0, true, hits, bytes == null ? NOBODY : bytes);
    }

    /** Hits each of its own user. */
    static Hits of(Tollgate tollgate, List<Rule> rules, List<String> users) {
        Rule[] checked = check(tollgate, rules);
        String[] names = Objects.requireNonNull(users, "users is null: give one for each rule, null for nobody").toArray(new String[0]);
        if (names.length != checked.length) {
            throw new IllegalArgumentException(
                    "there are " + checked.length + " rules and " + names.length + " users: give one user for each rule");
        }
        long[] hits = new long[checked.length * LENGTH];
        byte[] all = NOBODY;
        for (int i = 0; i < checked.length; i++) {
            byte[] bytes = Wtf8.encode(names[i]);
            put(hits, i, checked[i], all.length, bytes);
            if (bytes != null) {
                int begin = all.length;
                all = Arrays.copyOf(all, Math.addExact(begin, bytes.length));
                System.arraycopy(bytes, 0, all, begin, bytes.length);
            }
        }
        return new Hits(0, true, hits, all);
    }

    private static void put(long[] hits, int at, Rule rule, int begin, byte[] user) {
        hits[at * LENGTH] = rule.handle();
        hits[at * LENGTH + 1] = begin;
        hits[at * LENGTH + 2] = user == null ? -1 : user.length;
    }

    private static Rule[] check(Tollgate tollgate, List<Rule> rules) {
        Rule[] checked = Objects.requireNonNull(rules, "rules is null: register some with Tollgate.rule").toArray(new Rule[0]);
        if (checked.length < 1 || checked.length > MAX) {
            throw new IllegalArgumentException("there are " + checked.length + " rules: one call takes 1 to " + MAX);
        }
        for (int i = 0; i < checked.length; i++) {
            if (checked[i] == null) {
                throw new IllegalArgumentException("rules[" + i + "] is null: register one with Tollgate.rule");
            }
            if (checked[i].owner() != tollgate) {
                throw new IllegalArgumentException(
                        "rules[" + i + "], " + checked[i] + ", belongs to another limiter: register it with this one");
            }
        }
        return checked;
    }

    /** The same, to be submitted. */
    Hits numbered(long number, boolean awaited) {
        return new Hits(number, awaited, hits, users);
    }

    long[] answers() {
        return new long[decisions.length * Tollgate.ANSWER];
    }

    static List<Decision> decisions(long[] answers) {
        List<Decision> decisions = new ArrayList<>(answers.length / Tollgate.ANSWER);
        for (int at = 0; at < answers.length; at += Tollgate.ANSWER) {
            decisions.add(Tollgate.decision(answers, at));
        }
        return Collections.unmodifiableList(decisions);
    }

    @Override
    boolean take(Decision next) {
        decisions[taken++] = next;
        return taken == decisions.length;
    }

    @Override
    void completeAsTaken() {
        complete(Collections.unmodifiableList(Arrays.asList(decisions)));
    }
}
