package io.tollgate.spring.boot;

import io.tollgate.spring.CurrentRequest;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.GuardedRequest;
import io.tollgate.spring.RateLimitAdvisor;
import io.tollgate.spring.RateLimitGate;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigureAfter;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * Mounts the aspect where Spring Boot has AOP on: with AspectJ's weaver, which spring-boot-starter-aop brings, and unless {@code
 * spring.aop.auto} is false.
 */
@Configuration
@AutoConfigureAfter(TollgateAutoConfiguration.class)
@ConditionalOnClass(name = "org.aspectj.weaver.Advice")
@ConditionalOnProperty(name = "spring.aop.auto", matchIfMissing = true)
@ConditionalOnBean(RateLimitGate.class)
public class TollgateAopAutoConfiguration {
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static RateLimitAdvisor tollgateAdvisor(
            ObjectProvider<GuardedMethods> methods, ObjectProvider<RateLimitGate> gate, ObjectProvider<CurrentRequest> request) {
        RateLimitAdvisor advisor = new RateLimitAdvisor(methods::getObject, gate::getObject, new Late(request));
        // Before transactions, which come last: what is turned away needs none.
        advisor.setOrder(0);
        return advisor;
    }

    /** Looked for when it is needed, since the aspect is made before most beans. */
    private static final class Late implements CurrentRequest {
        private final ObjectProvider<CurrentRequest> request;

        Late(ObjectProvider<CurrentRequest> request) {
            this.request = request;
        }

        @Override
        public GuardedRequest get() {
            CurrentRequest current = request.getIfAvailable();
            return current == null ? null : current.get();
        }

        @Override
        public GuardedRequest get(Object[] arguments) {
            CurrentRequest current = request.getIfAvailable();
            return current == null ? null : current.get(arguments);
        }
    }
}
