package io.tollgate.spring.boot;

import io.tollgate.Tollgate;
import io.tollgate.spring.RateLimitEngine;
import io.tollgate.spring.coverage.RateLimitCoverage;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigureAfter;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The actuator endpoint where the host has the actuator; whether it can be reached is for the host's exposure properties to say. */
@Configuration
@AutoConfigureAfter(TollgateAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint")
@ConditionalOnBean(RateLimitCoverage.class)
public class TollgateEndpointAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnProperty(name = "tollgate.endpoint.acting", havingValue = "true")
    ActingTollgateEndpoint tollgateActingEndpoint(
            RateLimitCoverage coverage, ObjectProvider<Tollgate> tollgate, ObjectProvider<RateLimitEngine> engine) {
        return new ActingTollgateEndpoint(coverage, tollgate, engine);
    }

    // Two beans rather than one of either class: the actuator looks at what the bean is declared to be.
    @Bean
    @ConditionalOnMissingBean
    TollgateEndpoint tollgateEndpoint(RateLimitCoverage coverage, ObjectProvider<Tollgate> tollgate) {
        return new TollgateEndpoint(coverage, tollgate);
    }
}
