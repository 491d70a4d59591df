package io.tollgate.spring.boot;

import io.tollgate.Outcome;
import io.tollgate.Stats;
import io.tollgate.Tollgate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.beans.BeanWrapperImpl;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** A real application on a free port of the loopback interface, {@code spring.application.name=app-wms} unless told otherwise. */
final class Host implements AutoCloseable {
    private final ConfigurableApplicationContext context;

    private Host(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts one; parts are properties ({@code name=value}) and classes. */
    static Host start(Object... parts) {
        Map<String, Object> properties = new HashMap<>();
        for (String common : new String[] {"server.port=0", "server.address=127.0.0.1", "spring.application.name=app-wms",
            "spring.main.banner-mode=off", "spring.jmx.enabled=false", "logging.level.root=warn", "logging.level.io.tollgate=info",
            // A busy machine is no fault.
            "tollgate.deadline=20s",
            // Spring Boot makes a database of H2, which is here for RecordsTest.
            "tollgate.records.enabled=false",
            // The tests that migrate connect their own; these would only slow down the start of all others.
            "spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration,"
                + "org.springframework.boot.autoconfigure.data.redis.RedisReactiveAutoConfiguration,"
                + "org.springframework.boot.autoconfigure.data.redis.RedisRepositoriesAutoConfiguration"}) {
            put(properties, common);
        }
        List<Class<?>> sources = new ArrayList<>();
        sources.add(Application.class);
        for (Object part : parts) {
            if (part instanceof Class) {
                sources.add((Class<?>) part);
            } else {
                put(properties, (String) part);
            }
        }
        SpringApplication application = new SpringApplication(sources.toArray(new Class<?>[0]));
        application.setDefaultProperties(properties);
        return new Host(application.run());
    }

    private static void put(Map<String, Object> properties, String property) {
        int equals = property.indexOf('=');
        properties.put(property.substring(0, equals), property.substring(equals + 1));
    }

    String url(String path) {
        return "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path;
    }

    Http get(String path) {
        return new Http("GET", url(path)).send();
    }

    Http request(String method, String path) {
        return new Http(method, url(path));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    /** Hits that were counted so far, whatever became of them. */
    long counted() {
        Stats stats = bean(Tollgate.class).stats();
        return stats.total() - stats.count(Outcome.NO_IDENTITY);
    }

    /** Requests that passed for want of an identity. */
    long unidentified() {
        return bean(Tollgate.class).stats().count(Outcome.NO_IDENTITY);
    }

    @Override
    public void close() {
        context.close();
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {
        /** Made for WebClient; with one application it would end the threads of all others in this JVM, after two quiet seconds. */
        @Bean
        static BeanPostProcessor ownReactorResources() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessBeforeInitialization(Object bean, String name) {
                    // Its package isn't the same in all versions.
                    if (bean.getClass().getSimpleName().equals("ReactorResourceFactory")) {
                        BeanWrapperImpl resources = new BeanWrapperImpl(bean);
                        resources.setPropertyValue("useGlobalResources", false);
                        if (resources.isWritableProperty("shutdownQuietPeriod")) {
                            resources.setPropertyValue("shutdownQuietPeriod", Duration.ZERO);
                        }
                    }
                    return bean;
                }
            };
        }
    }
}
