package io.tollgate.spring.boot;

import io.tollgate.spring.coverage.RateLimitCoverage;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * On a test class with an application context: its tests fail unless every method that carries {@link io.tollgate.spring.RateLimit} is
 * limited, as {@link RateLimitCoverage#assertComplete()} has it. Without a context, or where the context has no tollgate, they fail too.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AssertRateLimitCoverage
 * class ApplicationTest {
 *     @Test
 *     void starts() {}
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface AssertRateLimitCoverage {}
