package io.tollgate.spring.coverage;

import io.tollgate.spring.GuardedMethod;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.GuardedRule;
import io.tollgate.spring.RateLimitGate;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.PatternMatchUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Which methods that carry {@link io.tollgate.spring.RateLimit} are protected, how, and which only look so. Made when the context is
 * refreshed, and for child contexts (a second DispatcherServlet's, for example) when they are; what isn't protected is said in the log,
 * with the reason and the remedy. An annotation that can't mean anything keeps the application from starting. Thread-safe.
 *
 * <pre>{@code
 * @SpringBootTest
 * class CoverageTest {
 *     @Autowired RateLimitCoverage coverage;
 *
 *     @Test
 *     void everythingThatIsAnnotatedIsLimited() {
 *         coverage.assertComplete();
 *     }
 * }
 * }</pre>
 */
public final class RateLimitCoverage implements SmartInitializingSingleton, ApplicationListener<ContextRefreshedEvent> {
    private static final Logger LOG = LoggerFactory.getLogger(RateLimitCoverage.class);

    private final ApplicationContext context;
    private final GuardedMethods methods;
    private final RateLimitGate gate;
    private final ContextJudge judge;
    private final Supplier<? extends Collection<String>> packages;
    private final String[] ignored;

    private final Map<String, List<MethodCoverage>> reports = new LinkedHashMap<>();
    private final Set<Class<?>> beanTypes = new HashSet<>();
    private final Set<String> said = new HashSet<>();
    private BeanWalk own;
    /** What the application's class files tell; null until they were read. */
    private List<MethodCoverage> strays;
    private Set<GuardedMethod> selfInvoked = Collections.emptySet();

    /**
     * A report, empty until the context is refreshed.
     *
     * @param context      that it belongs to
     * @param methods      tell what is guarded
     * @param gate         says what was found, and registers it
     * @param knowsTenants whether anything says whose a request is
     * @param packages     the application's own, whose class files are read once it is ready; empty to read none
     * @param ignored      names of classes that are meant to be as they are, with {@code *} for any part
     */
    public RateLimitCoverage(ApplicationContext context, GuardedMethods methods, RateLimitGate gate, BooleanSupplier knowsTenants,
            Supplier<? extends Collection<String>> packages, Collection<String> ignored) {
        this.context = Objects.requireNonNull(context, "context");
        this.methods = Objects.requireNonNull(methods, "methods");
        this.gate = Objects.requireNonNull(gate, "gate");
        this.judge = new ContextJudge(methods, knowsTenants);
        this.packages = Objects.requireNonNull(packages, "packages");
        this.ignored = ignored.toArray(new String[0]);
    }

    /** Throws {@link io.tollgate.spring.InvalidRateLimitException} for the first annotation that is wrong. */
    @Override
    public synchronized void afterSingletonsInstantiated() {
        if (own == null) {
            own = walk(context, true);
        }
    }

    @Override
    public synchronized void onApplicationEvent(ContextRefreshedEvent event) {
        ApplicationContext refreshed = event.getApplicationContext();
        boolean isOwn = refreshed == context;
        if (isOwn) {
            afterSingletonsInstantiated();
        }
        BeanWalk walk = isOwn ? own : walk(refreshed, false);
        beanTypes.addAll(walk.types());
        Collection<HandlerSource> sources = context.getBeansOfType(HandlerSource.class).values();
        List<MethodCoverage> report = heeded(judge.judge(refreshed, walk, sources));
        reports.put(refreshed.getId(), report);
        announce(report, isOwn ? "" : " of " + refreshed.getDisplayName(), isOwn && !sources.isEmpty());
    }

    /**
     * Looks through the application's class files for what no bean tells: classes that aren't beans, and methods that only their own class
     * calls. Done once, when the application is ready: only then are the beans of other contexts known.
     */
    public synchronized void complete() {
        if (strays != null) {
            return;
        }
        strays = new ArrayList<>();
        Collection<String> bases = packages.get();
        if (bases.isEmpty()) {
            return;
        }
        for (ApplicationContext parent = context.getParent(); parent != null; parent = parent.getParent()) {
            beanTypes.addAll(walk(parent, false).types());
        }
        long start = System.nanoTime();
        Set<String> called = new HashSet<>();
        List<GuardedMethod> suspects = new ArrayList<>();
        for (MethodCoverage next : all()) {
            if (next.isProtected() && !next.isHandler()) {
                suspects.add(next.guarded());
                called.add(next.method().getName());
            }
        }
        ApplicationClasses classes = ApplicationClasses.in(bases, called, context.getClassLoader());
        SelfCalls calls = new SelfCalls(classes, beanTypes);
        Set<GuardedMethod> found = new HashSet<>();
        for (GuardedMethod suspect : suspects) {
            if (calls.isSelfInvokedOnly(suspect)) {
                found.add(suspect);
            }
        }
        selfInvoked = found;
        strays = heeded(strays(classes.annotated()));
        LOG.debug("tollgate: {} classes of {} were looked through in {} ms", classes.all().size(), bases, (System.nanoTime() - start) / 1_000_000);
        say();
    }

    private List<MethodCoverage> strays(List<String> annotated) {
        Set<String> known = new HashSet<>();
        for (Class<?> bean : beanTypes) {
            for (Class<?> next = bean; next != null; next = next.getSuperclass()) {
                known.add(next.getName());
            }
        }
        List<MethodCoverage> found = new ArrayList<>();
        for (String name : annotated) {
            if (!known.contains(name)) {
                read(name, found);
            }
        }
        return found;
    }

    private void read(String name, List<MethodCoverage> found) {
        try {
            Class<?> type = ClassUtils.forName(name, context.getClassLoader());
            if (isConditional(type)) {
                return;
            }
            Set<GuardedMethod> guarded = new LinkedHashSet<>();
            for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
                GuardedMethod next = methods.read(type, method);
                if (next != null && BeanWalk.isMeant(next)) {
                    guarded.add(next);
                }
            }
            for (GuardedMethod next : guarded) {
                found.add(MethodCoverage.open(null, next, new Finding(Gap.NOT_A_BEAN, "its class isn't a bean")));
            }
        } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
            LOG.debug("tollgate: {} can't be looked into", name, e);
        }
    }

    /** A bean under other profiles or conditions. */
    private static boolean isConditional(Class<?> type) {
        for (Class<?> next = type; next != null; next = next.getEnclosingClass()) {
            if (AnnotatedElementUtils.hasAnnotation(next, Conditional.class)) {
                return true;
            }
        }
        return false;
    }

    private BeanWalk walk(ApplicationContext from, boolean isStrict) {
        return BeanWalk.over((ConfigurableListableBeanFactory) from.getAutowireCapableBeanFactory(), methods, isStrict);
    }

    private List<MethodCoverage> heeded(List<MethodCoverage> report) {
        List<MethodCoverage> heeded = new ArrayList<>();
        for (MethodCoverage next : report) {
            if (next.isProtected() || !PatternMatchUtils.simpleMatch(ignored, next.type().getName())) {
                heeded.add(next);
            } else {
                LOG.debug("tollgate: meant to be so: {}", next);
            }
        }
        return heeded;
    }

    private void announce(List<MethodCoverage> report, String where, boolean always) {
        Set<GuardedMethod> guarded = new LinkedHashSet<>();
        int open = 0;
        for (MethodCoverage next : report) {
            if (next.isProtected()) {
                guarded.add(next.guarded());
                LOG.debug("tollgate: {}", next);
            } else {
                open++;
            }
        }
        if (always || !report.isEmpty()) {
            gate.announce(guarded, where + (open == 0 ? "" : ", " + open + " more NOT PROTECTED"));
        }
        say();
    }

    /** Logs what wasn't logged yet. */
    private void say() {
        for (MethodCoverage next : unprotected()) {
            error(next.toString());
        }
        for (RuleConflict next : conflicts()) {
            error(next.toString());
        }
    }

    private void error(String line) {
        if (said.add(line)) {
            LOG.error("tollgate: {}", line);
        }
    }

    private List<MethodCoverage> all() {
        List<MethodCoverage> all = new ArrayList<>();
        reports.values().forEach(all::addAll);
        return all;
    }

    /**
     * Every method that carries the annotation.
     *
     * @return a snapshot, in the order in which they were found
     */
    public synchronized List<MethodCoverage> methods() {
        List<MethodCoverage> found = new ArrayList<>();
        for (MethodCoverage next : all()) {
            found.add(next.isProtected() && selfInvoked.contains(next.guarded()) ? MethodCoverage.open(next.beanName(), next.guarded(),
                    new Finding(Gap.SELF_INVOKED, "only its own class calls it, past the proxy")) : next);
        }
        for (MethodCoverage stray : strays == null ? Collections.<MethodCoverage>emptyList() : strays) {
            // A context that came later may have made it a bean.
            if (beanTypes.stream().noneMatch(stray.type()::isAssignableFrom)) {
                found.add(stray);
            }
        }
        return Collections.unmodifiableList(found);
    }

    /**
     * Those of {@link #methods()} that aren't protected.
     *
     * @return empty if all is well
     */
    public List<MethodCoverage> unprotected() {
        List<MethodCoverage> found = new ArrayList<>();
        for (MethodCoverage next : methods()) {
            if (!next.isProtected()) {
                found.add(next);
            }
        }
        return Collections.unmodifiableList(found);
    }

    /**
     * Rule names that are used with different settings.
     *
     * @return empty if all is well
     */
    public List<RuleConflict> conflicts() {
        Map<String, Set<GuardedRule>> byName = new LinkedHashMap<>();
        for (MethodCoverage next : methods()) {
            for (GuardedRule rule : next.rules()) {
                // The length keeps module "a", rule "b.c" apart from module "a.b", rule "c".
                byName.computeIfAbsent(rule.module().length() + rule.toString(), key -> new LinkedHashSet<>()).add(rule);
            }
        }
        List<RuleConflict> found = new ArrayList<>();
        for (Set<GuardedRule> rules : byName.values()) {
            GuardedRule first = rules.iterator().next();
            if (!rules.stream().allMatch(first::hasSettingsOf)) {
                found.add(new RuleConflict(new ArrayList<>(rules)));
            }
        }
        return Collections.unmodifiableList(found);
    }

    /**
     * For a test: fails unless every method that carries the annotation is protected.
     *
     * @throws AssertionError names each that isn't, with the reason and the remedy
     */
    public void assertComplete() {
        complete();
        List<MethodCoverage> open = unprotected();
        if (!open.isEmpty()) {
            StringBuilder text = new StringBuilder().append(open.size()).append(open.size() == 1 ? " method carries" : " methods carry")
                    .append(" @RateLimit and ").append(open.size() == 1 ? "isn't" : "aren't").append(" limited:");
            for (MethodCoverage next : open) {
                text.append("\n- ").append(next);
            }
            throw new AssertionError(text.toString());
        }
    }
}
