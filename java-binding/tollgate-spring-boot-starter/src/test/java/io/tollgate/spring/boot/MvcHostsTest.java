package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurationSupport;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.handler.MappedInterceptor;

/** Case 23: however a host configures Spring MVC, the second hit is rejected, and the line at start counts what is guarded. */
class MvcHostsTest {
    @ParameterizedTest
    @ValueSource(classes = {Plain.class, Support.class, SupportWithInterceptors.class, Enabled.class, Configurer.class, OwnMapped.class})
    void theSecondHitIsRejected(Class<?> kind) {
        try (Output output = new Output(); Host host = Host.start(kind, Orders.class)) {
            assertThat(output.lines("INFO")).containsExactly(
                    "tollgate: memory store (counts per process; set tollgate.redis.url to share), 2 guarded methods");
            assertSecondHitIsRejected(host, "");
            assertThat(output.lines("ERROR")).isEmpty();
        }
    }

    @Test
    void lazyHostsAreCoveredAndToldToo() {
        // Boot 2.1 doesn't know the property and starts eagerly.
        try (Output output = new Output(); Host host = Host.start(Orders.class, "spring.main.lazy-initialization=true")) {
            assertThat(output.lines("INFO")).singleElement().asString().endsWith("2 guarded methods");
            assertSecondHitIsRejected(host, "");
        }
    }

    @Test
    void aHostWithoutGuardedMethodsIsToldSo() {
        try (Output output = new Output(); Host host = Host.start()) {
            assertThat(output.lines("INFO")).singleElement().asString().endsWith(", 0 guarded methods");
            assertThat(host.counted()).isZero();
        }
    }

    @Test
    void aSecondDispatcherServletIsCoveredByItsParent() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, Second.class)) {
            assertSecondHitIsRejected(host, "");
            assertSecondHitIsRejected(host, "/second");
            // Which of the two is refreshed first depends on when Spring Boot starts the server.
            assertThat(output.lines("INFO")).hasSize(2)
                    .anyMatch(line -> line.endsWith(" 2 guarded methods"))
                    .anyMatch(line -> line.contains(" 1 guarded method of ") && line.contains("second"));
        }
    }

    private static void assertSecondHitIsRejected(Host host, String prefix) {
        String url = prefix + "/list?usercode=u";
        assertThat(host.get(url).text()).isEqualTo("list");
        assertThat(host.get(url).isRejection()).isTrue();
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping({"/list", "/alias"})
        String list() {
            return "list";
        }

        @RateLimit
        @GetMapping("/other")
        String other() {
            return "other";
        }

        @GetMapping("/free")
        String free() {
            return "free";
        }
    }

    @Configuration
    static class Plain {}

    @Configuration
    static class Support extends WebMvcConfigurationSupport {}

    @Configuration
    static class SupportWithInterceptors extends WebMvcConfigurationSupport {
        @Override
        protected void addInterceptors(InterceptorRegistry registry) {
            registry.addInterceptor(new Nothing()).addPathPatterns("/**");
        }
    }

    @Configuration
    @EnableWebMvc
    static class Enabled {}

    @Configuration
    static class Configurer implements WebMvcConfigurer {
        @Override
        public void addInterceptors(InterceptorRegistry registry) {
            registry.addInterceptor(new Nothing());
        }
    }

    @Configuration
    static class OwnMapped {
        @Bean
        MappedInterceptor own() {
            return new MappedInterceptor(new String[] {"/**"}, new Nothing());
        }
    }

    static class Nothing implements HandlerInterceptor {
        @Override
        public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
            return true;
        }
    }

    @Configuration
    static class Second {
        @Bean
        ServletRegistrationBean<DispatcherServlet> second() {
            AnnotationConfigWebApplicationContext child = new AnnotationConfigWebApplicationContext();
            child.setDisplayName("second");
            child.register(Enabled.class, SecondOrders.class);
            ServletRegistrationBean<DispatcherServlet> servlet = new ServletRegistrationBean<>(new DispatcherServlet(child), "/second/*");
            servlet.setName("second");
            servlet.setLoadOnStartup(1);
            return servlet;
        }
    }

    @RestController
    static class SecondOrders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }
    }
}
