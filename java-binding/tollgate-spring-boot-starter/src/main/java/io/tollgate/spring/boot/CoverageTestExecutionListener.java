package io.tollgate.spring.boot;

import io.tollgate.spring.coverage.RateLimitCoverage;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Does what {@link AssertRateLimitCoverage} says, before each test class. Found by Spring's tests alone. */
final class CoverageTestExecutionListener extends AbstractTestExecutionListener {
    @Override
    public void beforeTestClass(TestContext test) {
        if (AnnotatedElementUtils.hasAnnotation(test.getTestClass(), AssertRateLimitCoverage.class)) {
            test.getApplicationContext().getBean(RateLimitCoverage.class).assertComplete();
        }
    }
}
