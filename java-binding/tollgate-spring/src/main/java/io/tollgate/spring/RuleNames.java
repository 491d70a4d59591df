package io.tollgate.spring;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.springframework.util.StringUtils;

/** Where a rule that names no module or no rule gets its names from. Immutable. */
public final class RuleNames {
    /** The prefix that is cut from an application's name unless others are configured. */
    public static final String DEFAULT_PREFIX = "app-";
    /** The module of an application without a name. */
    public static final String NAMELESS = "application";

    private final String module;

    private RuleNames(String module) {
        this.module = module;
    }

    /**
     * Names with a fixed module.
     *
     * @param module used as it is
     * @return the names
     */
    public static RuleNames ofModule(String module) {
        return new RuleNames(module);
    }

    /**
     * Names with the application's name as module, less the longest of the prefixes that it begins with: {@code app-wms}
     * gives {@code wms}. A name that is nothing but a prefix stays whole.
     *
     * @param application the application's name; null or blank for {@value #NAMELESS}
     * @param prefixes    what to cut
     * @return the names
     */
    public static RuleNames ofApplication(String application, List<String> prefixes) {
        if (!StringUtils.hasText(application)) {
            return new RuleNames(NAMELESS);
        }
        String name = application.trim();
        List<String> longestFirst = new ArrayList<>(prefixes);
        longestFirst.sort(Collections.reverseOrder((a, b) -> Integer.compare(a.length(), b.length())));
        for (String prefix : longestFirst) {
            if (!prefix.isEmpty() && name.startsWith(prefix) && name.length() > prefix.length()) {
                return new RuleNames(name.substring(prefix.length()));
            }
        }
        return new RuleNames(name);
    }

    /**
     * The module of a rule that names none.
     *
     * @return like {@code wms}
     */
    public String module() {
        return module;
    }

    /** {@code Controller.method}; {@code Controller.method.2} for the second rule of a method. */
    static String rule(Class<?> type, Method method, int index) {
        return type.getSimpleName() + '.' + method.getName() + (index == 0 ? "" : "." + (index + 1));
    }
}
