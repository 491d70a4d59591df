package io.tollgate.demo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/** A warehouse system of the Spring Boot 2.1 age, with one method that can't be queried more than once in three seconds. */
@SpringBootApplication
public class DemoApplication {

    public static void main(String[] args) {
        SpringApplication application = new SpringApplication(DemoApplication.class);
        application.setRegisterShutdownHook(false);
        ConfigurableApplicationContext context = application.run(args);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(context), "stop"));
        System.out.println("\nOpen http://localhost:" + port(context) + "/ and press \"Query\" twice within three seconds. Ctrl-C stops the demo.");
    }

    private static int port(ConfigurableApplicationContext context) {
        return ((WebServerApplicationContext) context).getWebServer().getPort();
    }

    private static void stop(ConfigurableApplicationContext context) {
        context.close();
        System.out.println("Stopped.");
        // Being asked to stop is no failure: without this a signal ends the JVM with status 130 or 143, and make reports an error.
        Runtime.getRuntime().halt(0);
    }
}
