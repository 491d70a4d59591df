package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tollgate.OnFault;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the attributes mean, and what is said of those that mean nothing. */
class AnnotationsTest {
    private final GuardedMethods methods = new GuardedMethods(RuleNames.ofModule("wms"), null);

    private GuardedMethod read(Class<?> type, String name) {
        Method found = Arrays.stream(type.getDeclaredMethods()).filter(method -> method.getName().equals(name)).findFirst()
                .orElseThrow(AssertionError::new);
        return methods.read(type, found);
    }

    @Test
    void severalRulesStandInTheOrderInWhichTheyWereWritten() {
        List<GuardedRule> rules = read(Several.class, "list").rules();
        assertThat(rules).extracting(GuardedRule::rule).containsExactly("Several.list", "Several.list.2", "daily");
        assertThat(rules).extracting(GuardedRule::interval).containsExactly(3L, 60L, 86_400L);
        assertThat(read(Several.class, "composed").rules()).extracting(GuardedRule::interval).containsExactly(5L, 50L);
        assertThat(read(SubOfSeveral.class, "list").rules()).extracting(GuardedRule::interval).containsExactly(7L);
        assertThat(read(OfClass.class, "list").rules()).extracting(GuardedRule::rule).containsExactly("OfClass.list", "OfClass.list.2");
    }

    @Test
    void twoRulesOfOneNameOnOneMethodAreRefused() {
        assertThatThrownBy(() -> read(Bad.class, "twice")).isInstanceOf(InvalidRateLimitException.class)
                .hasMessage("@RateLimit(rule = \"same\") of " + Bad.class.getName() + ".twice() is there twice, so that each call would count "
                        + "twice. Give one of them another name.");
    }

    @Test
    void aKeyStandsForByExpression() {
        assertThat(read(Good.class, "keyed").rules().get(0).by()).isEqualTo(LimitBy.EXPRESSION);
        assertThat(read(Good.class, "plain").rules().get(0).by()).isEqualTo(LimitBy.USER);
        assertThat(read(Good.class, "denied").rules().get(0).onFault()).isEqualTo(OnFault.DENY);
        assertThat(read(Good.class, "plain").rules().get(0).onFault()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"plain, false", "keyed, true", "named, true", "onlyRequest, false", "fallback, true", "message, true", "conditioned, true"})
    void argumentsAndSubstitutesNeedTheInvocation(String method, boolean needed) {
        assertThat(read(Good.class, method).isByInvocation()).isEqualTo(needed);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "syntax         | key = \"#p0.\"                | can't be parsed                                    | single quotes",
        "unknown        | key = \"#query.id\"           | names #query, which isn't there                    | Name one of #id, #ip, #principal, #request, #tenant, #user.",
        "beyond         | condition = \"#p7 > 1\"       | names #p7, which isn't there                       | Name one of #id",
        "function       | key = \"#hash(#p0)\"          | calls #hash(#p0), and there are no functions       | @orders.size(#p0)",
        "property       | key = \"#p0.nam\"             | looks for nam in a io.tollgate.spring.AnnotationsTest$Query | getter",
        "deepProperty   | unless = \"#p0.owner.x == 1\" | looks for x in a io.tollgate.spring.AnnotationsTest$Owner   | getter",
        "noBoolean      | condition = \"#p0\"           | gives a String, not a boolean                      | Compare it",
        "literal        | unless = \"'yes'\"            | gives a String, not a boolean                      | Compare it",
        "keyAndIp       | key = \"#p0\"                 | stands beside by = IP                              | Leave one of them out",
        "noKey          | by = \"EXPRESSION\"           | has no expression                                  | Give a key",
        "twoPolicies    | onFault = \"ALLOW,DENY\"      | names several policies                             | Keep one",
        "noFallback     | fallback = \"nowhere\"        | names no such method                               | Write nowhere in Bad with the parameters of noFallback",
        "otherFallback  | fallback = \"taking\"         | names no such method                               | with the parameters of otherFallback",
        "itself         | fallback = \"itself\"         | names itself                                       | Write itself",
        "wrongFallback  | fallback = \"number\"         | returns int                                        | Have it return java.lang.String",
        "voidMessage    | onReject = \"RETURN_MESSAGE\" | can't return a text as void                        | String",
        "numberMessage  | onReject = \"RETURN_MESSAGE\" | can't return a text as int                         | String",
        "listMessage    | onReject = \"RETURN_MESSAGE\" | can't return a text as java.util.List              | fallback",
        "futureOfNumber | onReject = \"RETURN_MESSAGE\" | can't return a text as java.util.concurrent.CompletableFuture<java.math.BigDecimal> | fallback",
        "window         | intervalString = \"soon\"     | is \"soon\", which makes no whole seconds          | PT1H",
        "halfWindow     | intervalString = \"PT1.5S\"   | is \"PT1.5S\", which makes no whole seconds        | PT1H",
        "many           | limitString = \"many\"        | is \"many\", which is no whole number              | Give one of 0 or more",
    })
    void whatCannotMeanAnythingIsNamedWithItsRemedy(String method, String attribute, String problem, String remedy) {
        assertThatThrownBy(() -> read(Bad.class, method)).isInstanceOfSatisfying(InvalidRateLimitException.class, e -> {
            assertThat(e.problem()).startsWith("@RateLimit(" + attribute + ") of " + Bad.class.getName() + '.' + method + "() ").contains(problem);
            assertThat(e.remedy()).contains(remedy);
            assertThat(e).hasMessage(e.problem() + ' ' + e.remedy());
        });
    }

    @Test
    void lostParameterNamesAreSaidAndNumbersAlwaysWork() throws NoSuchMethodException {
        // An abstract method has no table of local variables either, from which some Springs take names.
        Method unnamed = Comparable.class.getMethod("compareTo", Object.class);
        assertThat(MethodExpression.of(Comparable.class, unnamed, "key", "#p0 + #a0").usesArguments()).isTrue();
        assertThatThrownBy(() -> MethodExpression.of(Comparable.class, unnamed, "key", "#other")).isInstanceOf(InvalidRateLimitException.class)
                .hasMessage("@RateLimit(key = \"#other\") of java.lang.Comparable.compareTo() names #other, which isn't there. The class was compiled "
                        + "without the names of its parameters: write #p0 for the first, or compile with -parameters. "
                        + "Name one of #p0, #ip, #principal, #request, #tenant, #user.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"texts", "objects", "futures", "callables", "monos", "fluxes", "boxed"})
    void whatCanHoldATextOrReturnsTheSameIsTaken(String method) {
        assertThat(read(Holders.class, method).rules().get(0).substitute()).isNotNull();
    }

    @Test
    void valuesComeFromConfiguration() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test",
                    java.util.Collections.<String, Object>singletonMap("orders.window", "PT1H")));
            context.registerBean("sizes", Sizes.class);
            context.refresh();
            GuardedMethods configured = new GuardedMethods(RuleNames.ofModule("wms"), context.getBeanFactory());
            GuardedRule rule = configured.find(null, Configured.class, Configured.class.getDeclaredMethods()[0]).rules().get(0);
            assertThat(rule.interval()).isEqualTo(3600);
            assertThat(rule.limit()).isEqualTo(14);
            assertThatThrownBy(() -> configured.read(Unresolved.class, Unresolved.class.getDeclaredMethods()[0]))
                    .isInstanceOf(InvalidRateLimitException.class)
                    .hasMessageContaining("@RateLimit(limitString = \"${orders.limit}\")").hasMessageContaining("orders.limit")
                    .hasMessageContaining("Set the property, or give a default");
            // At run time nothing that is wrong may reach the host.
            assertThat(configured.find(null, Unresolved.class, Unresolved.class.getDeclaredMethods()[0])).isNull();
        }
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @RateLimit(interval = 5)
    @RateLimit(interval = 50)
    @interface Slow {}

    static class Several {
        @RateLimit
        @RateLimit(interval = 60, limit = 10)
        @RateLimit(rule = "daily", interval = 86_400, limit = 200)
        public void list() {}

        @Slow
        public void composed() {}
    }

    static class SubOfSeveral extends Several {
        @Override
        @RateLimit(interval = 7)
        public void list() {}
    }

    @RateLimit
    @RateLimit(interval = 60)
    static class OfClass {
        public void list() {}
    }

    static class Good {
        @RateLimit
        public void plain(String id) {}

        @RateLimit(key = "#p0")
        public void keyed(String id) {}

        @RateLimit(key = "#a0 + '|' + #user")
        public void named(String id) {}

        @RateLimit(key = "#request.getHeader('X-Shop')", condition = "#principal != null", unless = "@robots.contains(#user)")
        public void onlyRequest(String id) {}

        @RateLimit(fallback = "other")
        public String fallback(String id) {
            return id;
        }

        private String other(String id, RateLimited limited) {
            return id;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public String message(String id) {
            return id;
        }

        @RateLimit(condition = "#p0.length() > 3")
        public void conditioned(String id) {}

        @RateLimit(onFault = OnFault.DENY)
        public void denied(String id) {}
    }

    public static class Query {
        public Owner owner;
    }

    public static class Owner {}

    @SuppressWarnings("unused")
    static class Bad {
        @RateLimit(rule = "same")
        @RateLimit(rule = "same", interval = 60)
        public void twice() {}

        @RateLimit(key = "#p0.")
        public void syntax(String id) {}

        @RateLimit(key = "#query.id")
        public void unknown(String id) {}

        @RateLimit(condition = "#p7 > 1")
        public void beyond(String id) {}

        @RateLimit(key = "#hash(#p0)")
        public void function(String id) {}

        @RateLimit(key = "#p0.nam")
        public void property(Query query) {}

        @RateLimit(unless = "#p0.owner.x == 1")
        public void deepProperty(Query query) {}

        @RateLimit(condition = "#p0")
        public void noBoolean(String id) {}

        @RateLimit(unless = "'yes'")
        public void literal() {}

        @RateLimit(key = "#p0", by = LimitBy.IP)
        public void keyAndIp(String id) {}

        @RateLimit(by = LimitBy.EXPRESSION)
        public void noKey(String id) {}

        @RateLimit(onFault = {OnFault.ALLOW, OnFault.DENY})
        public void twoPolicies() {}

        @RateLimit(fallback = "nowhere")
        public void noFallback() {}

        @RateLimit(fallback = "taking")
        public void otherFallback() {}

        void taking(String id) {}

        @RateLimit(fallback = "itself")
        public void itself() {}

        @RateLimit(fallback = "number")
        public String wrongFallback() {
            return "";
        }

        int number() {
            return 1;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public void voidMessage() {}

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public int numberMessage() {
            return 1;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public List<String> listMessage() {
            return null;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public CompletableFuture<BigDecimal> futureOfNumber() {
            return null;
        }

        @RateLimit(intervalString = "soon")
        public void window() {}

        @RateLimit(intervalString = "PT1.5S")
        public void halfWindow() {}

        @RateLimit(limitString = "many")
        public void many() {}
    }

    @SuppressWarnings("unused")
    static class Holders {
        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public CharSequence texts() {
            return null;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public Object objects() {
            return null;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public CompletableFuture<String> futures() {
            return null;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public Callable<Object> callables() {
            return null;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public Mono<String> monos() {
            return null;
        }

        @RateLimit(onReject = OnReject.RETURN_MESSAGE)
        public Flux<String> fluxes() {
            return null;
        }

        @RateLimit(fallback = "unboxed")
        public Integer boxed(Map<String, String> any) {
            return 1;
        }

        static int unboxed(Map<String, String> any) {
            return 2;
        }
    }

    static class Configured {
        @RateLimit(intervalString = "${orders.window}", limitString = "#{2 * @sizes.seven}")
        public void list() {}
    }

    static class Unresolved {
        @RateLimit(limitString = "${orders.limit}")
        public void list() {}
    }

    public static class Sizes {
        public int getSeven() {
            return 7;
        }
    }
}
