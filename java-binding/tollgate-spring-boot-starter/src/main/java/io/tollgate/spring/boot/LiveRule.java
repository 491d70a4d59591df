package io.tollgate.spring.boot;

import io.tollgate.spring.GuardedRule;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** A rule beside what the live configuration says of it. Reads values as the limiter does: what it doesn't understand gives way to the default. */
final class LiveRule {
    static final String CHECK = "check";
    static final String INTERVAL = "interval";
    static final String LIMIT = "limit";
    private static final long MAX_INTERVAL = 31_536_000;
    private static final int LONGEST = 128;

    private final GuardedRule rule;

    LiveRule(GuardedRule rule) {
        this.rule = rule;
    }

    GuardedRule guarded() {
        return rule;
    }

    /** With which the names of its fields begin, and by which the endpoint knows it. */
    String name() {
        return rule.module().replace(".", "%2E") + '.' + rule.rule();
    }

    /** Whether its fields are called after it literally; odd names are encoded, and only the limiter knows how. */
    boolean isPlain() {
        return isPlain(rule.module().replace(".", "%2E").length(), rule.module()) && isPlain(0, rule.rule());
    }

    private static boolean isPlain(int encoded, String part) {
        return encoded <= LONGEST && part.getBytes(StandardCharsets.UTF_8).length <= LONGEST
                && part.codePoints().allMatch(c -> c < 128 ? c > ' ' && c != 127 && ":%{}".indexOf(c) < 0 : Character.isLetterOrDigit(c));
    }

    String field(String setting) {
        return name() + '.' + setting;
    }

    /** What the annotation says, and, where the store could be read, what is in force. */
    Map<String, Object> describe(Map<String, String> stored) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("name", name());
        text.put("module", rule.module());
        text.put("rule", rule.rule());
        text.put("by", rule.by().name());
        text.put("onFault", rule.onFault() == null ? "default" : rule.onFault().name());
        text.put("messageKey", rule.messageKey());
        text.put("record", rule.isRecorded());
        text.put("monitor", rule.isMonitored());
        Map<String, Object> defaults = new LinkedHashMap<>();
        defaults.put(INTERVAL, rule.interval());
        defaults.put(LIMIT, rule.limit());
        text.put("defaults", defaults);
        if (stored != null && isPlain()) {
            Map<String, Object> live = new LinkedHashMap<>();
            live.put(CHECK, check(stored.get(field(CHECK))));
            live.put(INTERVAL, number(stored.get(field(INTERVAL)), 1, MAX_INTERVAL, rule.interval()));
            live.put(LIMIT, number(stored.get(field(LIMIT)), 0, Long.MAX_VALUE, rule.limit()));
            text.put("inForce", live);
        }
        return text;
    }

    private static String check(String value) {
        String text = value == null ? "" : value.trim();
        if (text.equalsIgnoreCase("shadow")) {
            return "shadow";
        }
        return text.equalsIgnoreCase("false") || text.equals("0") ? "false" : "true";
    }

    private static long number(String value, long least, long most, long otherwise) {
        String text = value == null ? "" : value.trim();
        if (!text.matches("\\d{1,19}")) {
            return otherwise;
        }
        try {
            long number = Long.parseLong(text);
            return number < least || number > most ? otherwise : number;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
