package io.tollgate.spring.boot;

import io.tollgate.spring.CurrentRequest;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.webflux.RateLimitExceptionAdvice;
import io.tollgate.spring.webflux.RateLimitExceptionHandler;
import io.tollgate.spring.webflux.RateLimitHandlerAdapter;
import io.tollgate.spring.webflux.RateLimitResultHandler;
import io.tollgate.spring.webflux.RequestContextFilter;
import io.tollgate.spring.webflux.WebFluxCurrentRequest;
import io.tollgate.spring.webflux.WebFluxHandlers;
import org.springframework.boot.autoconfigure.AutoConfigureAfter;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Mounts the limiter in reactive applications, of every generation of Spring. */
@Configuration
@AutoConfigureAfter(TollgateAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(name = "org.springframework.web.reactive.DispatcherHandler")
@ConditionalOnBean(RateLimitGate.class)
public class TollgateWebFluxAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    RateLimitHandlerAdapter tollgateHandlerAdapter(GuardedMethods methods, RateLimitGate gate, ApplicationContext context) {
        return new RateLimitHandlerAdapter(methods, gate, context);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitResultHandler tollgateResultHandler(RateLimitGate gate, ApplicationContext context) {
        return new RateLimitResultHandler(gate, context);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionAdvice tollgateExceptionAdvice(RateLimitGate gate) {
        return new RateLimitExceptionAdvice(gate);
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionHandler tollgateExceptionHandler(RateLimitGate gate) {
        return new RateLimitExceptionHandler(gate);
    }

    @Bean
    @ConditionalOnMissingBean
    RequestContextFilter tollgateRequestContextFilter() {
        return new RequestContextFilter();
    }

    @Bean
    @ConditionalOnMissingBean
    CurrentRequest tollgateCurrentRequest() {
        return new WebFluxCurrentRequest();
    }

    @Bean
    WebFluxHandlers tollgateWebFluxHandlers(GuardedMethods methods, RateLimitGate gate) {
        return new WebFluxHandlers(methods, gate);
    }
}
