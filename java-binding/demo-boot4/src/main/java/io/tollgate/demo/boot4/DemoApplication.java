package io.tollgate.demo.boot4;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

/** A shop's service of the Spring Boot 4 age. */
@SpringBootApplication
public class DemoApplication {
    private final Environment environment;

    DemoApplication(Environment environment) {
        this.environment = environment;
    }

    public static void main(String[] args) {
        SpringApplication.run(DemoApplication.class, args);
    }

    @EventListener(ApplicationReadyEvent.class)
    void open() {
        System.out.println("\nOpen http://localhost:" + environment.getProperty("local.server.port") + "/ and press a button twice. Ctrl-C stops the demo.");
    }
}
