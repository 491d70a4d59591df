package io.tollgate.spring.boot;

import io.lettuce.core.ClientOptions;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** The template that limiters of one's own stand on, connected to {@code old.redis.port}. */
@Configuration
class OldRedis {
    @Bean
    LettuceConnectionFactory oldRedisConnections(@Value("${old.redis.port}") int port) {
        return new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port), LettuceClientConfiguration.builder()
                // A busy machine is no fault; a Redis that is gone is one at once.
                .commandTimeout(Duration.ofSeconds(20))
                .clientOptions(ClientOptions.builder()
                        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS).build())
                .build());
    }

    @Bean
    StringRedisTemplate oldRedisTemplate(LettuceConnectionFactory connections) {
        return new StringRedisTemplate(connections);
    }
}
