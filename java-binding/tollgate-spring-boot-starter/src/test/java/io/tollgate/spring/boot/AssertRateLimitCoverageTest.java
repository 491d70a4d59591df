package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tollgate.spring.LimitBy;
import io.tollgate.spring.RateLimit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;

/** The annotation, with which a test class fails before its first test; Spring's test framework finds what does it. */
class AssertRateLimitCoverageTest {
    @Test
    void aClassWhoseContextHasAGapFails() {
        assertThatThrownBy(() -> new TestContextManager(OfGaps.class).beforeTestClass()).isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("1 method carries @RateLimit and isn't limited:\n- ").hasMessageContaining("Broken.close()");
    }

    @Test
    void othersPass() {
        assertThatCode(() -> new TestContextManager(OfNone.class).beforeTestClass()).doesNotThrowAnyException();
        assertThatCode(() -> new TestContextManager(Unasked.class).beforeTestClass()).doesNotThrowAnyException();
    }

    @Test
    void aContextWithoutTollgateFails() {
        assertThatThrownBy(() -> new TestContextManager(OfNothing.class).beforeTestClass())
                .isInstanceOf(NoSuchBeanDefinitionException.class);
        assertThat(OfNothing.class).hasAnnotation(AssertRateLimitCoverage.class);
    }

    @SpringBootTest(classes = Gaps.class, properties = {"spring.application.name=app-wms", "spring.main.banner-mode=off"})
    @AssertRateLimitCoverage
    static class OfGaps {}

    @SpringBootTest(classes = Gaps.class, properties = {"spring.application.name=app-wms", "spring.main.banner-mode=off"})
    static class Unasked {}

    @SpringBootTest(classes = None.class, properties = {"spring.application.name=app-wms", "spring.main.banner-mode=off"})
    @AssertRateLimitCoverage
    static class OfNone {}

    @ContextConfiguration(classes = Nothing.class)
    @AssertRateLimitCoverage
    static class OfNothing {}

    static class Broken {
        @RateLimit(by = LimitBy.GLOBAL)
        public final void close() {}
    }

    @Configuration
    @EnableAutoConfiguration
    static class Gaps {
        @Bean
        Broken broken() {
            return new Broken();
        }
    }

    @Configuration
    @EnableAutoConfiguration
    static class None {}

    @Configuration
    static class Nothing {}
}
