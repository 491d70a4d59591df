package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.Tollgate;
import io.tollgate.spring.RateLimit;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestController;

/** Case 25: proxies, inheritance and where the annotation may stand, in a running application. */
class ProxiesTest {
    private static Host host;

    @BeforeAll
    static void start() {
        host = Host.start(Woven.class, AsyncController.class, Scoped.class, First.class, Second.class, Generic.class,
                Overloaded.class, WholeClass.class, ByInterface.class, Composed.class, MadeByConfiguration.class, Jdk.class, Weaver.class);
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @ParameterizedTest
    @CsvSource({
        "/woven, Woven.list",
        "/async, AsyncController.list",
        "/scoped, Scoped.list",
        "/first/list, First.list",
        "/second/list, Second.list",
        "/generic, Generic.save",
        "/overloaded/text, Overloaded.list",
        "/whole, WholeClass.list",
        "/whole-own, WholeClass.own",
        "/by-interface, ByInterface.list",
        "/composed, Composed.list",
        "/configuration, MadeByConfiguration.list",
        "/jdk, JdkController.list",
    })
    void isGuardedUnderThisNameAndCountsOnce(String path, String rule) {
        long counted = host.counted();
        String url = path + "?usercode=proxy" + path;
        assertThat(host.get(url).text()).isEqualTo("ok");
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.get(url).isRejection()).isTrue();
        assertThat(host.bean(Tollgate.class).settings().all()).containsKey("wms." + rule + ".check");
    }

    @Test
    void theProxiesAreProxies() {
        assertThat(host.bean(Woven.class).getClass().getName()).contains("$$");
        assertThat(host.bean(AsyncController.class).getClass().getName()).contains("$$");
        assertThat(host.bean(MadeByConfiguration.class).getClass().getName()).contains("$$");
        assertThat(AopUtils.isJdkDynamicProxy(host.bean(JdkApi.class))).isTrue();
    }

    @Test
    void noRuleIsNamedAfterAGeneratedClass() {
        Set<String> fields = host.bean(Tollgate.class).settings().all().keySet();
        assertThat(fields).noneMatch(field -> field.contains("$"));
    }

    @Test
    void controllersThatInheritOneMethodCountApart() {
        assertThat(host.get("/first/list?usercode=apart").text()).isEqualTo("ok");
        assertThat(host.get("/second/list?usercode=apart").text()).isEqualTo("ok");
        assertThat(host.get("/first/list?usercode=apart").isRejection()).isTrue();
        assertThat(host.get("/second/list?usercode=apart").isRejection()).isTrue();
    }

    @Test
    void overloadsShareTheirNameAndAnUnannotatedOneIsFree() {
        assertThat(host.get("/overloaded/text?usercode=over").text()).isEqualTo("ok");
        assertThat(host.get("/overloaded/number?usercode=over").isRejection()).isTrue();
        long counted = host.counted();
        assertThat(host.get("/overloaded/free?usercode=over").text()).isEqualTo("free");
        assertThat(host.get("/overloaded/free?usercode=over").text()).isEqualTo("free");
        assertThat(host.counted()).isEqualTo(counted);
    }

    @Test
    void methodsOfAGuardedClassCountApart() {
        assertThat(host.get("/whole?usercode=class").text()).isEqualTo("ok");
        assertThat(host.get("/whole-own?usercode=class").text()).isEqualTo("ok");
    }

    /** Makes a proxy of every class that asks for it. */
    @Aspect
    @Component
    static class Weaver {
        @Before("@within(io.tollgate.spring.boot.ProxiesTest$WovenIn)")
        public void before() {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface WovenIn {}

    @WovenIn
    @RestController
    static class Woven {
        @RateLimit(interval = 60)
        @GetMapping("/woven")
        public String list() {
            return "ok";
        }
    }

    @EnableAsync(proxyTargetClass = true)
    @RestController
    static class AsyncController {
        @Async
        @RateLimit(interval = 60)
        @GetMapping("/async")
        public CompletableFuture<String> list() {
            return CompletableFuture.completedFuture("ok");
        }
    }

    @RestController
    @Scope(value = "request", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class Scoped {
        @RateLimit(interval = 60)
        @GetMapping("/scoped")
        public String list() {
            return "ok";
        }
    }

    abstract static class Inherited {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        public String list() {
            return "ok";
        }
    }

    @RestController
    @RequestMapping("/first")
    static class First extends Inherited {}

    @RestController
    @RequestMapping("/second")
    static class Second extends Inherited {}

    interface Saving<T> {
        @RateLimit(interval = 60)
        String save(T value);
    }

    @RestController
    static class Generic implements Saving<String> {
        @Override
        @GetMapping("/generic")
        public String save(String value) {
            return "ok";
        }
    }

    @RestController
    @RequestMapping("/overloaded")
    static class Overloaded {
        @RateLimit(interval = 60)
        @GetMapping("/text")
        public String list(String text) {
            return "ok";
        }

        @RateLimit(interval = 60)
        @GetMapping("/number")
        public String list(Integer number) {
            return "ok";
        }

        @GetMapping("/free")
        public String list() {
            return "free";
        }
    }

    @RestController
    @RateLimit(interval = 60)
    static class WholeClass {
        @GetMapping("/whole")
        public String list() {
            return "ok";
        }

        @RateLimit(interval = 90)
        @GetMapping("/whole-own")
        public String own() {
            return "ok";
        }
    }

    @RateLimit(interval = 60)
    interface GuardedApi {
        @GetMapping("/by-interface")
        String list();
    }

    @RestController
    static class ByInterface implements GuardedApi {
        @Override
        public String list() {
            return "ok";
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    @RequestMapping(method = RequestMethod.GET)
    @RateLimit(interval = 60)
    @interface SlowQuery {
        @AliasFor(annotation = RequestMapping.class, attribute = "path")
        String[] value();

        @AliasFor(annotation = RateLimit.class, attribute = "limit")
        long times() default 1;
    }

    @RestController
    static class Composed {
        @SlowQuery("/composed")
        public String list() {
            return "ok";
        }
    }

    /** A configuration that is a controller too: its class is generated without any aspect. */
    @Configuration
    @RestController
    static class MadeByConfiguration {
        @Bean
        String something() {
            return "something";
        }

        @RateLimit(interval = 60)
        @GetMapping("/configuration")
        public String list() {
            return "ok";
        }
    }

    @Controller
    interface JdkApi {
        @GetMapping("/jdk")
        @ResponseBody
        String list();
    }

    static class JdkController implements JdkApi {
        @Override
        @RateLimit(interval = 60)
        public String list() {
            return "ok";
        }
    }

    @Configuration
    static class Jdk {
        @Bean
        JdkApi jdkController() {
            ProxyFactoryBean proxy = new ProxyFactoryBean();
            proxy.setInterfaces(JdkApi.class);
            proxy.setTarget(new JdkController());
            return (JdkApi) proxy.getObject();
        }
    }
}
