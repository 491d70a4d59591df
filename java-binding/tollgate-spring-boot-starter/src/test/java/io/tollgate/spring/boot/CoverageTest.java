package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimitedException;
import io.tollgate.spring.TenantResolver;
import io.tollgate.spring.coverage.Gap;
import io.tollgate.spring.coverage.MethodCoverage;
import io.tollgate.spring.coverage.Mount;
import io.tollgate.spring.coverage.RateLimitCoverage;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** What the report says of each way in which a method can be guarded, or only look so; and that it is right. */
class CoverageTest {
    private static final String JDK = "spring.aop.proxy-target-class=false";
    private static final String NO_AOP = "spring.aop.auto=false";

    @Test
    void saysHowEachMethodIsMounted() {
        try (Output output = new Output(); Host host = Host.start(Pages.class, Caller.class, Orders.class)) {
            assertThat(entry(host, "Pages.list").mounts()).containsExactly(Mount.INTERCEPTOR, Mount.ASPECT);
            assertThat(entry(host, "Pages.byArgument").mounts()).containsExactly(Mount.ASPECT);
            assertThat(entry(host, "Orders.close").mounts()).containsExactly(Mount.ASPECT);
            assertThat(entry(host, "Orders.close").rules()).singleElement().hasToString("wms.Orders.close")
                    .satisfies(rule -> assertThat(rule.interval()).isEqualTo(60));
            assertThat(entry(host, "Orders.close").signature()).isEqualTo(Orders.class.getName() + ".close(String)");
            assertThatCode(() -> coverage(host).assertComplete()).doesNotThrowAnyException();
            assertThat(output.lines("ERROR")).isEmpty();
            assertThat(output.lines("INFO")).anyMatch(line -> line.endsWith(", 3 guarded methods"));
        }
    }

    @Test
    void withoutAopTheInterceptorIsLeft() {
        try (Output output = new Output(); Host host = Host.start(Pages.class, Caller.class, Orders.class, NO_AOP)) {
            assertThat(entry(host, "Pages.list").mounts()).containsExactly(Mount.INTERCEPTOR);
            assertGap(host, "Orders.close", Gap.NO_AOP, "has no AOP", "Add spring-boot-starter-aop");
            assertGap(host, "Pages.byArgument", Gap.NEEDS_ASPECT, "decided by the aspect, and there is none", "Add spring-boot-starter-aop");
            assertThat(output.lines("INFO")).anyMatch(line -> line.endsWith(", 1 guarded method, 2 more NOT PROTECTED"));
            assertThat(output.lines("ERROR")).hasSize(2).allMatch(line -> line.contains("is NOT PROTECTED"));
            // It isn't.
            host.bean(Orders.class).close("o");
            host.bean(Orders.class).close("o");
        }
    }

    @Test
    void subclassesAsProxies() {
        try (Host host = Host.start(Visible.class, Contract.class, Caller.class, FinalClass.class)) {
            assertThat(entry(host, "Visible.open").mounts()).containsExactly(Mount.ASPECT);
            assertThat(entry(host, "Visible.inPackage").mounts()).containsExactly(Mount.ASPECT);
            assertThat(entry(host, "Visible.inFamily").mounts()).containsExactly(Mount.ASPECT);
            assertGap(host, "Visible.hidden", Gap.PRIVATE, "private", "Make it public");
            assertGap(host, "Visible.ofNoBean", Gap.STATIC, "static", "instance method");
            assertGap(host, "Visible.fixed", Gap.FINAL_METHOD, "final", "Take final off the method");
            assertGap(host, "FinalClass.run", Gap.FINAL_CLASS, "class is final", "Take final off the class");
            assertThat(entry(host, "Contract.known").mounts()).containsExactly(Mount.ASPECT);
            assertThat(entry(host, "Contract.unknown").mounts()).containsExactly(Mount.ASPECT);
            Visible visible = host.bean(Visible.class);
            visible.inPackage();
            assertThatThrownBy(visible::inPackage).isInstanceOf(RateLimitedException.class);
            visible.inFamily();
            assertThatThrownBy(visible::inFamily).isInstanceOf(RateLimitedException.class);
            visible.fixed();
            visible.fixed();
            assertThat(host.bean(FinalClass.class).run() + host.bean(FinalClass.class).run()).isEqualTo("runrun");
        }
    }

    @Test
    void interfacesAsProxies() {
        try (Host host = Host.start(Visible.class, Contract.class, Caller.class, FinalContract.class, FinalClass.class, JDK)) {
            assertThat(entry(host, "Contract.known").mounts()).containsExactly(Mount.ASPECT);
            assertGap(host, "Contract.unknown", Gap.NOT_IN_INTERFACE, "none of which has it", "Add the method to the interface");
            assertThat(entry(host, "FinalContract.known").mounts()).containsExactly(Mount.ASPECT);
            assertGap(host, "FinalClass.run", Gap.FINAL_CLASS, "class is final", "Take final off the class");
            // Without an interface there is a subclass all the same.
            assertThat(entry(host, "Visible.open").mounts()).containsExactly(Mount.ASPECT);
            assertGap(host, "Visible.fixed", Gap.FINAL_METHOD, "final", "Take final off the method");
            Known known = host.context().getBean("coverageTest.FinalContract", Known.class);
            known.known();
            assertThatThrownBy(known::known).isInstanceOf(RateLimitedException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"spring.aop.proxy-target-class=true", JDK})
    void beansThatArentMadeYetAreForetoldAndStayUnmade(String kind) {
        LazyOrders.made = 0;
        try (Host host = Host.start(LazyOrders.class, LazyContract.class, LazyFinal.class, ScopedOrders.class, kind)) {
            assertThat(LazyOrders.made).isZero();
            assertThat(entry(host, "LazyOrders.close").mounts()).containsExactly(Mount.ASPECT);
            assertGap(host, "LazyOrders.fixed", Gap.FINAL_METHOD, "final", "Take final off");
            assertGap(host, "LazyFinal.close", Gap.FINAL_CLASS, "class is final", "Take final off");
            assertThat(entry(host, "ScopedOrders.close").mounts()).containsExactly(Mount.ASPECT);
            assertThat(entry(host, "ScopedOrders.close").beanName()).isEqualTo("scopedTarget.coverageTest.ScopedOrders");
            if (kind.equals(JDK)) {
                assertGap(host, "LazyContract.unknown", Gap.NOT_IN_INTERFACE, "none of which has it", "Add the method");
            } else {
                assertThat(entry(host, "LazyContract.unknown").mounts()).containsExactly(Mount.ASPECT);
            }
            LazyOrders orders = host.bean(LazyOrders.class);
            orders.close();
            assertThatThrownBy(orders::close).isInstanceOf(RateLimitedException.class);
        }
    }

    @Test
    void whatOnlyItsOwnClassCallsGoesPastTheProxy() {
        try (Output output = new Output(); Host host = Host.start(Selfish.class, Injected.class, Called.class, Caller.class, Ticking.class)) {
            assertGap(host, "Selfish.step", Gap.SELF_INVOKED, "only its own class calls it", "another bean");
            assertGap(host, "Selfish.inLambda", Gap.SELF_INVOKED, "only its own class calls it", "another bean");
            assertThat(output.lines("ERROR")).hasSize(2);
            assertThat(entry(host, "Injected.step").isProtected()).isTrue();
            assertThat(entry(host, "Called.step").isProtected()).isTrue();
            assertThat(entry(host, "Ticking.tick").isProtected()).isTrue();
            host.bean(Selfish.class).run();
            host.bean(Selfish.class).run();
            host.bean(Injected.class).run();
            assertThatThrownBy(host.bean(Injected.class)::run).isInstanceOf(RateLimitedException.class);
        }
        try (Host host = Host.start(Selfish.class, "tollgate.coverage.scan=false")) {
            assertThat(entry(host, "Selfish.step").isProtected()).isTrue();
        }
    }

    @Test
    void aBeanThatIsMadeBeforeTheAspectIsSaid() {
        try (Host host = Host.start(Early.class)) {
            assertGap(host, "EarlyOrders.close", Gap.NOT_PROXIED, "didn't reach its bean", "BeanPostProcessor");
            host.bean(EarlyOrders.class).close();
            host.bean(EarlyOrders.class).close();
        }
    }

    @Test
    void anInterceptorThatWasReplacedIsSaid() {
        try (Host host = Host.start(Paths.class, Replaced.class, NO_AOP)) {
            assertGap(host, "Paths.list", Gap.SHADOWED, "has a bean tollgateMappedInterceptor of its own", "Leave tollgate's MappedInterceptor");
            assertThat(host.get("/list?usercode=u").text() + host.get("/list?usercode=u").text()).isEqualTo("listlist");
        }
    }

    @Test
    void pathPatternsThatLeaveAHandlerOutAreSaid() {
        try (Host host = Host.start(Paths.class, Narrowed.class, NO_AOP)) {
            assertThat(entry(host, "Paths.order").mounts()).containsExactly(Mount.INTERCEPTOR);
            assertGap(host, "Paths.list", Gap.SHADOWED, "leave /list out", "Leave tollgate's MappedInterceptor");
            assertGap(host, "Paths.free", Gap.SHADOWED, "leave /orders/free/{id} out", "Leave tollgate's MappedInterceptor");
            assertGap(host, "Paths.odd", Gap.SHADOWED, "leave /查询 |{id} out", "Leave tollgate's MappedInterceptor");
            assertThat(host.get("/orders/1?usercode=u").text()).isEqualTo("order");
            assertThat(host.get("/orders/2?usercode=u").isRejection()).isTrue();
            assertThat(host.get("/orders/free/1?usercode=u").text() + host.get("/orders/free/1?usercode=u").text()).isEqualTo("freefree");
            assertThat(host.get("/list?usercode=u").text() + host.get("/list?usercode=u").text()).isEqualTo("listlist");
        }
    }

    @Test
    void aMappingWithoutTheInterceptorIsSaidAndTheAspectStandsIn() {
        try (Host host = Host.start(Paths.class, Deaf.class, NO_AOP)) {
            assertGap(host, "Paths.list", Gap.SHADOWED, "handler mapping deaf doesn't have the RateLimitInterceptor", "be a bean");
        }
        try (Host host = Host.start(Paths.class, Deaf.class)) {
            assertThat(entry(host, "Paths.list").mounts()).containsExactly(Mount.ASPECT);
        }
    }

    @Test
    void annotationsOnClassesMeanWhatTheyOffer() {
        try (Host host = Host.start(WholeService.class, WholePages.class)) {
            assertThat(coverage(host).methods()).extracting(next -> next.method().getName()).containsExactlyInAnyOrder("first", "fixed", "list");
            assertGap(host, "WholeService.fixed", Gap.FINAL_METHOD, "final", "Take final off");
        }
    }

    @Test
    void aTenantThatNothingKnowsIsSaid() {
        try (Host host = Host.start(Tenants.class)) {
            assertGap(host, "Tenants.list", Gap.NO_TENANT, "nothing says whose a request is", "tollgate.tenant");
        }
        try (Host host = Host.start(Tenants.class, "tollgate.tenant.header=X-Tenant")) {
            assertThat(entry(host, "Tenants.list").isProtected()).isTrue();
        }
        try (Host host = Host.start(Tenants.class, KnownTenants.class)) {
            assertThat(entry(host, "Tenants.list").isProtected()).isTrue();
        }
    }

    @Test
    void whatIsMeantToBeSoIsLeftOut() {
        try (Output output = new Output(); Host host = Host.start(Visible.class, "tollgate.coverage.ignore=*CoverageTest$Vis*")) {
            assertThatCode(() -> coverage(host).assertComplete()).doesNotThrowAnyException();
            assertThat(entry(host, "Visible.open").isProtected()).isTrue();
            assertThat(output.lines("ERROR")).isEmpty();
        }
    }

    @Test
    void theAssertionNamesEachWithReasonAndRemedy() {
        try (Host host = Host.start(Visible.class, FinalClass.class)) {
            assertThatThrownBy(() -> coverage(host).assertComplete()).isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("4 methods carry @RateLimit and aren't limited:\n- ")
                    .hasMessageContaining(Visible.class.getName() + ".hidden() of bean coverageTest.Visible is NOT PROTECTED: it is private")
                    .hasMessageContaining("Take final off the class");
        }
    }

    @Test
    void oneNameWithDifferentSettingsIsAnErrorLine() {
        try (Output output = new Output(); Host host = Host.start(Shared.class, Overloads.class)) {
            assertThat(coverage(host).conflicts()).singleElement().satisfies(conflict -> {
                assertThat(conflict.name()).isEqualTo("wms.shared");
                assertThat(conflict.rules()).hasSize(2);
            });
            assertThat(output.lines("ERROR")).singleElement().asString().contains("rule wms.shared is given DIFFERENT SETTINGS")
                    .contains("1 in 60 s by USER on " + Shared.class.getName() + ".first()")
                    .contains("5 in 60 s by USER on " + Shared.class.getName() + ".second()");
        }
    }

    private static RateLimitCoverage coverage(Host host) {
        return host.bean(RateLimitCoverage.class);
    }

    private static MethodCoverage entry(Host host, String name) {
        List<MethodCoverage> found = coverage(host).methods().stream()
                .filter(next -> (next.type().getSimpleName() + '.' + next.method().getName()).equals(name)).collect(Collectors.toList());
        assertThat(found).as(name).hasSize(1);
        return found.get(0);
    }

    private static void assertGap(Host host, String name, Gap gap, String reason, String remedy) {
        MethodCoverage found = entry(host, name);
        assertThat(found.gap()).as(found.toString()).isEqualTo(gap);
        assertThat(found.mounts()).isEmpty();
        assertThat(found.reason()).contains(reason);
        assertThat(found.remedy()).contains(remedy);
    }

    @RestController
    static class Pages {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        public String list() {
            return "list";
        }

        @RateLimit(interval = 60, key = "#p0")
        @GetMapping("/by-argument/{id}")
        public String byArgument(@PathVariable("id") String id) {
            return id;
        }
    }

    @Service
    static class Orders {
        @RateLimit(interval = 60, key = "#p0")
        public void close(String order) {}
    }

    @Service
    static class Visible {
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void open() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        void inPackage() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        protected void inFamily() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        private void hidden() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public static void ofNoBean() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public final void fixed() {}

        public void run() {
            hidden();
        }
    }

    @Service
    static final class FinalClass {
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public String run() {
            return "run";
        }
    }

    interface Known {
        void known();
    }

    @Service
    static class Contract implements Known {
        @Override
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void known() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void unknown() {}
    }

    @Service
    static final class FinalContract implements Known {
        @Override
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void known() {}
    }

    @Lazy
    @Service
    static class LazyOrders {
        static int made;

        LazyOrders() {
            made++;
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void close() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public final void fixed() {}
    }

    @Lazy
    @Service
    static class LazyContract implements Known {
        @Override
        public void known() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void unknown() {}
    }

    @Lazy
    @Service
    static final class LazyFinal {
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void close() {}
    }

    @Service
    @Scope(value = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class ScopedOrders {
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void close() {}
    }

    @Service
    static class Selfish {
        public void run() {
            step();
            Runnable later = () -> inLambda();
            later.run();
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void step() {}

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void inLambda() {}
    }

    @Service
    static class Injected {
        @Lazy
        @Autowired
        private Injected self;

        public void run() {
            self.step();
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void step() {}
    }

    @Service
    static class Called {
        public void run() {
            step();
        }

        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void step() {}
    }

    @Service
    static class Caller {
        @Lazy
        @Autowired(required = false)
        private Called called;

        @Lazy
        @Autowired(required = false)
        private Orders orders;

        public void run() {
            called.step();
            orders.close("o");
        }
    }

    @Service
    static class Ticking {
        public void start() {
            tick();
        }

        @Scheduled(fixedDelay = 60_000)
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void tick() {}
    }

    static class EarlyOrders {
        @RateLimit(by = LimitBy.GLOBAL, interval = 60)
        public void close() {}
    }

    @Configuration
    static class Early {
        @Bean
        static EarlyOrders earlyOrders() {
            return new EarlyOrders();
        }

        /** Of the first rank, as the maker of proxies is. */
        @Bean
        static FirstOfAll firstOfAll(EarlyOrders orders) {
            return new FirstOfAll();
        }
    }

    static class FirstOfAll implements BeanPostProcessor, org.springframework.core.PriorityOrdered {
        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    @RestController
    static class Paths {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        public String list() {
            return "list";
        }

        @RateLimit(interval = 60)
        @GetMapping("/orders/{id}")
        public String order() {
            return "order";
        }

        @RateLimit(interval = 60)
        @PostMapping("/查询 |{id}")
        public String odd() {
            return "odd";
        }

        @RateLimit(interval = 60)
        @GetMapping("/orders/free/{id}")
        public String free() {
            return "free";
        }
    }

    @Configuration
    static class Replaced {
        @Bean
        MappedInterceptor tollgateMappedInterceptor() {
            return new MappedInterceptor(new String[] {"/**"}, new MvcHostsTest.Nothing());
        }
    }

    @Configuration
    static class Narrowed {
        @Bean
        MappedInterceptor tollgateMappedInterceptor(io.tollgate.spring.javax.RateLimitInterceptor interceptor) {
            return new MappedInterceptor(new String[] {"/orders/**"}, new String[] {"/orders/free/**"}, interceptor);
        }
    }

    @Configuration
    static class Deaf {
        @Bean
        RequestMappingHandlerMapping deaf() {
            return new RequestMappingHandlerMapping() {
                {
                    setOrder(-1);
                }

                @Override
                protected void detectMappedInterceptors(List<org.springframework.web.servlet.HandlerInterceptor> interceptors) {}
            };
        }
    }

    @Service
    @RateLimit(by = LimitBy.GLOBAL, interval = 60)
    static class WholeService {
        public void first() {}

        public final void fixed() {}

        void inside() {}

        public static void help() {}

        @Override
        public String toString() {
            return "whole";
        }
    }

    @RestController
    @RateLimit(interval = 60)
    static class WholePages {
        @GetMapping("/whole")
        public String list() {
            return "list";
        }

        public void helper() {}
    }

    @RestController
    static class Tenants {
        @RateLimit(by = LimitBy.TENANT)
        @GetMapping("/tenant")
        public String list() {
            return "list";
        }
    }

    @Configuration
    static class KnownTenants {
        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }
    }

    @Service
    static class Shared {
        @RateLimit(rule = "shared", interval = 60)
        public void first() {}

        @RateLimit(rule = "shared", interval = 60, limit = 5)
        public void second() {}
    }

    @Service
    static class Overloads {
        @RateLimit(interval = 60)
        public void list(String text) {}

        @RateLimit(interval = 60)
        public void list(int number) {}
    }
}
