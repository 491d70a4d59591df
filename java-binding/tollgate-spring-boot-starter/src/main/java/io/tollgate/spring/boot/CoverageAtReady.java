package io.tollgate.spring.boot;

import io.tollgate.spring.coverage.RateLimitCoverage;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;

/** Has the report completed once everything that starts with the application is there. */
final class CoverageAtReady implements ApplicationListener<ApplicationReadyEvent> {
    private final ApplicationContext context;
    private final RateLimitCoverage coverage;

    CoverageAtReady(ApplicationContext context, RateLimitCoverage coverage) {
        this.context = context;
        this.coverage = coverage;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (event.getApplicationContext() == context) {
            coverage.complete();
        }
    }
}
