package io.tollgate.spring.javax;

import io.tollgate.spring.CurrentRequest;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import org.springframework.boot.autoconfigure.AutoConfigureAfter;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.handler.MappedInterceptor;

/**
 * Mounts the limiter in servlet applications. The interceptor travels in a {@link MappedInterceptor} bean, which handler mappings find by
 * themselves: a configurer would be passed over by hosts that extend {@code WebMvcConfigurationSupport}.
 */
@Configuration
@AutoConfigureAfter(name = "io.tollgate.spring.boot.TollgateAutoConfiguration")
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(name = {
    "javax.servlet.http.HttpServletRequest",
    "org.springframework.web.servlet.handler.MappedInterceptor",
})
@Conditional(OnServletApi.class)
@ConditionalOnBean(RateLimitGate.class)
public class TollgateServletAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    RateLimitInterceptor tollgateInterceptor(GuardedMethods methods, RateLimitGate gate) {
        return new RateLimitInterceptor(methods, gate);
    }

    @Bean
    @ConditionalOnMissingBean(name = "tollgateMappedInterceptor")
    MappedInterceptor tollgateMappedInterceptor(RateLimitInterceptor interceptor) {
        return new MappedInterceptor(null, interceptor);
    }

    @Bean
    @ConditionalOnMissingBean
    CurrentRequest tollgateCurrentRequest() {
        return new ServletCurrentRequest();
    }

    @Bean
    @ConditionalOnMissingBean
    RateLimitExceptionResolver tollgateExceptionResolver(RateLimitGate gate) {
        return new RateLimitExceptionResolver(gate);
    }

    @Bean
    ServletHandlers tollgateServletHandlers() {
        return new ServletHandlers();
    }
}
