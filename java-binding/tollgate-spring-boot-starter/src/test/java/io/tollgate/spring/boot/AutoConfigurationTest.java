package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Tollgate;
import io.tollgate.spring.ClientAddress;
import io.tollgate.spring.Exclusions;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.IdentityChain;
import io.tollgate.spring.JsonRejectionHandler;
import io.tollgate.spring.MessageResolver;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimitEngine;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RejectionHandler;
import io.tollgate.spring.RequestIdentity;
import io.tollgate.spring.RuleNames;
import io.tollgate.spring.TenantResolver;
import io.tollgate.spring.javax.RateLimitInterceptor;
import io.tollgate.spring.javax.TollgateServletAutoConfiguration;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.handler.MappedInterceptor;

/** Conditions, properties and replaceable beans. */
class AutoConfigurationTest {
    private static final AutoConfigurations OURS =
            AutoConfigurations.of(TollgateAutoConfiguration.class, TollgateServletAutoConfiguration.class);
    private final WebApplicationContextRunner web = new WebApplicationContextRunner().withConfiguration(OURS);
    private final ApplicationContextRunner plain = new ApplicationContextRunner().withConfiguration(OURS);

    @Test
    void aServletHostGetsEverything() {
        web.run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(Tollgate.class).hasSingleBean(RateLimitGate.class)
                    .hasSingleBean(RateLimitInterceptor.class).hasBean("tollgateMappedInterceptor");
            assertThat(context.getBean(Tollgate.class).store()).isEqualTo("memory");
            assertThat(context.getBean(RejectionHandler.class)).isInstanceOf(JsonRejectionHandler.class);
            assertThat(context.getBean(RateLimitEngine.class)).isNotNull();
        });
    }

    @Test
    void aHostWithoutTheWebGetsTheLimiterAlone() {
        plain.run(context -> assertThat(context).hasNotFailed().hasSingleBean(Tollgate.class)
                .doesNotHaveBean(RateLimitInterceptor.class).doesNotHaveBean(MappedInterceptor.class));
        plain.withClassLoader(new FilteredClassLoader("javax.servlet", "org.springframework.web"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(RateLimitGate.class));
    }

    @Test
    void aHostWithoutTheClassesThatTheAdapterNeedsStarts() {
        web.withClassLoader(new FilteredClassLoader(DispatcherServlet.class.getPackage().getName() + ".handler"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(RateLimitInterceptor.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "FALSE", "0", "no", "off", " false "})
    void toldOffThereIsNothing(String off) {
        web.withPropertyValues("tollgate.enabled=" + off).run(context -> assertThat(context).hasNotFailed()
                .doesNotHaveBean(Tollgate.class).doesNotHaveBean(RateLimitGate.class).doesNotHaveBean(MappedInterceptor.class));
    }

    @Test
    void aMisspeltSwitchIsNoSwitch() {
        web.withPropertyValues("tollgate.enabled=fasle").run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(RateLimitGate.class);
            assertComplaint(() -> context.getBean(Tollgate.class), "tollgate.enabled", "fasle", "true or false");
        });
    }

    @Test
    void theHostsBeansReplaceOurs() {
        web.withUserConfiguration(Replacements.class).run(context -> {
            assertThat(context).hasNotFailed();
            for (Class<?> type : new Class<?>[] {Tollgate.class, GuardedMethods.class, RequestIdentity.class,
                ClientAddress.class, TenantResolver.class, Exclusions.class, IdentityChain.class, MessageResolver.class,
                RejectionHandler.class, RateLimitInterceptor.class}) {
                assertThat(context.getBeanNamesForType(type)).as(type.getName()).singleElement().asString().startsWith("own");
            }
            assertThat(context.getBean(RateLimitEngine.class)).isNotNull();
        });
    }

    @Test
    void theLimiterIsClosedWithTheHost() {
        Tollgate[] opened = new Tollgate[1];
        plain.run(context -> opened[0] = context.getBean(Tollgate.class));
        assertThat(opened[0].isClosed()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "spring.application.name=app-wms, , wms",
        "spring.application.name=svc-wms, 'tollgate.module-prefixes=app-,svc-', wms",
        "spring.application.name=app-wms, tollgate.module-prefixes=, app-wms",
        "spring.application.name=app-wms, tollgate.module=app-mes, app-mes",
        "a=b, , application",
    })
    void theModuleIsTheApplicationsNameWithoutAPrefix(String name, String property, String module) {
        plain.withPropertyValues(name, property == null ? "c=d" : property).run(context -> assertThat(
                context.getBean(GuardedMethods.class).find(null, Orders.class, Orders.class.getMethod("list")).rules().get(0).module())
                .isEqualTo(module));
    }

    @Test
    void aNamelessApplicationIsWarned() {
        try (Output output = new Output()) {
            web.run(context -> assertThat(output.lines("WARN")).singleElement().asString()
                    .contains("module \"application\"").contains("spring.application.name"));
            web.withPropertyValues("tollgate.module=wms").run(context -> assertThat(output.lines("WARN")).hasSize(1));
            web.withPropertyValues("spring.application.name=app-wms").run(context -> assertThat(output.lines("WARN")).hasSize(1));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "tollgate.deadline=soon, tollgate.deadline, soon, such as 100ms",
        "tollgate.connect-timeout=1 parsec, tollgate.connect-timeout, 1 parsec, such as 100ms",
        "tollgate.onFault=alow, tollgate.on-fault, alow, 'allow, deny or local'",
        "tollgate.rejection.style=json, tollgate.rejection.style, json, 'legacy, ruoyi, http or html'",
        "'tollgate.identity.order=parameter,cookie', tollgate.identity.order, cookie, 'parameter, session, request, header or principal'",
        "tollgate.identity.order[0]=cookie, tollgate.identity.order, cookie, 'parameter, session, request, header or principal'",
        "tollgate.ipv6-prefix=all, tollgate.ipv6-prefix, all, whole number",
        "tollgate.max-counters=many, tollgate.max-counters, many, whole number",
        "tollgate.max-counters=0, max, 0, use 1 to",
        "tollgate.deadline=-1s, deadline, 1S, duration",
        "tollgate.deadline=0, deadline, 0, use 1 ms",
        "tollgate.prefix=a b, prefix, a b, 1 to 64 bytes",
        "tollgate.redis.url=http://localhost, localhost, http, redis://",
        "spring.redis.port=six, spring.redis.port, six, whole number",
        "spring.redis.url=localhost, spring.redis.url, URL, tollgate.redis.url",
        "spring.data.redis.port=six, spring.data.redis.port, six, whole number",
        "spring.data.redis.ssl.bundle=none, spring.data.redis.ssl.bundle, none, PEM files",
    })
    void aBadValueIsNamedAndDoesNotStopTheHost(String property, String name, String value, String remedy) {
        web.withPropertyValues(property).run(context -> {
            assertThat(context).hasNotFailed().hasSingleBean(RateLimitGate.class);
            assertComplaint(() -> context.getBean(Tollgate.class), name, value, remedy);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "tollgate.trusted-proxies=10.0.0.0/33, tollgate.trusted-proxies, 10.0.0.0/33, fd00::/8",
        "'tollgate.trusted-proxies=::1,proxy', tollgate.trusted-proxies, proxy, aren't looked up",
        "tollgate.forwarded-header=, tollgate.forwarded-header, empty, X-Forwarded-For or Forwarded",
        "tollgate.ipv6-prefix=0, tollgate.ipv6-prefix, 0, 1 to 128",
    })
    void aBadWayToTheClientsAddressIsNamed(String property, String name, String value, String remedy) {
        web.withPropertyValues(property).run(context -> {
            assertThat(context).hasNotFailed();
            assertComplaint(() -> context.getBean(ClientAddress.class), name, value, remedy);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "tollgate.exclude.header=X Y, tollgate.exclude.header, X Y, header's name",
        "tollgate.exclude.header=X-Y=, tollgate.exclude.header, X-Y=, names no value",
        "'tollgate.exclude.paths=/a,b/**', tollgate.exclude.paths, b/**, slash",
    })
    void aBadExclusionIsNamed(String property, String name, String value, String remedy) {
        web.withPropertyValues(property).run(context -> {
            assertThat(context).hasNotFailed();
            assertComplaint(() -> context.getBean(Exclusions.class), name, value, remedy);
        });
    }

    @Test
    void aNameThatIsNeverLookedAtIsWarnedOf() {
        try (Output output = new Output()) {
            web.withPropertyValues("tollgate.module=wms", "tollgate.identity.order=principal", "tollgate.identity.header=X-User",
                    "tollgate.identity.parameter=", "tollgate.identity.session-attribute=")
                    .run(context -> assertThat(output.lines("WARN")).singleElement().asString()
                            .contains("HEADER", "X-User", "tollgate.identity.order"));
        }
    }

    @Test
    void aPasswordIsNotRepeated() {
        web.withPropertyValues("spring.redis.url=redis//:secret@localhost").run(context ->
                assertThat(failure(() -> context.getBean(Tollgate.class))).contains("spring.redis.url").doesNotContain("secret"));
        web.withPropertyValues("tollgate.redis.url=redis://u:secret@localhost:port").run(context ->
                assertThat(failure(() -> context.getBean(Tollgate.class))).contains("redis").doesNotContain("secret"));
    }

    private static void assertComplaint(Runnable action, String... parts) {
        assertThat(failure(action)).contains(parts);
    }

    private static String failure(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            Throwable cause = e;
            while (cause.getCause() != null && !(cause instanceof IllegalArgumentException)) {
                cause = cause.getCause();
            }
            assertThat(cause).isInstanceOf(IllegalArgumentException.class);
            return cause.getMessage();
        }
        throw new AssertionError("nothing was wrong");
    }

    public static class Orders {
        @RateLimit
        public void list() {}
    }

    @Configuration
    static class Replacements {
        @Bean
        Tollgate ownTollgate() {
            return Tollgate.open("memory:");
        }

        @Bean
        GuardedMethods ownMethods() {
            return new GuardedMethods(RuleNames.ofModule("own"), null);
        }

        @Bean
        RequestIdentity ownRequestIdentity() {
            return new RequestIdentity(Collections.emptyList(), Collections.emptyMap());
        }

        @Bean
        ClientAddress ownClientAddress() {
            return new ClientAddress(Collections.emptyList(), ClientAddress.FORWARDED, 128);
        }

        @Bean
        TenantResolver ownTenants() {
            return request -> "own";
        }

        @Bean
        Exclusions ownExclusions() {
            return new Exclusions(null, Collections.emptyList());
        }

        @Bean
        IdentityChain ownChain() {
            return new IdentityChain(Collections.emptyList());
        }

        @Bean
        MessageResolver ownMessages() {
            return (key, rule, locale) -> "own";
        }

        @Bean
        RejectionHandler ownHandler() {
            return (rejection, response) -> response.status(429);
        }

        @Bean
        RateLimitInterceptor ownInterceptor(GuardedMethods methods, RateLimitGate gate) {
            return new RateLimitInterceptor(methods, gate);
        }
    }
}
