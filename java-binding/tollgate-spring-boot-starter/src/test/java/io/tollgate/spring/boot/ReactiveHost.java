package io.tollgate.spring.boot;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/** A {@link Host} of the reactive kind, on Netty. */
final class ReactiveHost {
    private ReactiveHost() {}

    static Host start(Object... parts) {
        List<Object> all = new ArrayList<>(Arrays.asList(parts));
        all.add("spring.main.web-application-type=reactive");
        // Else Spring Boot 2.1 has read every form before a handler can.
        all.add("spring.webflux.hiddenmethod.filter.enabled=false");
        all.add(OnNetty.class);
        return Host.start(all.toArray());
    }

    /** Tomcat, which the servlet tests bring, would be taken first. */
    @Configuration
    @Import(Netty.class)
    static class OnNetty {}

    static class Netty implements ImportSelector {
        @Override
        public String[] selectImports(AnnotationMetadata importing) {
            String name = "org.springframework.boot.web.embedded.netty.NettyReactiveWebServerFactory";
            return new String[] {ClassUtils.isPresent(name, getClass().getClassLoader())
                    ? name : "org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory"};
        }
    }
}
