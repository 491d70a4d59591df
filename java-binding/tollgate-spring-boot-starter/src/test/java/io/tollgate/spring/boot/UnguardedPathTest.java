package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RuleNames;
import io.tollgate.spring.javax.RateLimitInterceptor;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.springframework.web.method.HandlerMethod;

/** What the limiter costs those that don't use it. */
class UnguardedPathTest {
    private final RateLimitInterceptor interceptor = new RateLimitInterceptor(new GuardedMethods(RuleNames.ofModule("wms"), null),
            new RateLimitGate(() -> {
                throw new AssertionError("nobody asked for it");
            }));

    @Test
    void itTouchesNeitherRequestNorResponseAndAllocatesNothing() throws Exception {
        Orders bean = new Orders();
        HandlerMethod called = new HandlerMethod(bean, Orders.class.getMethod("list"));
        Object other = new Object();
        // There is nothing that could be touched.
        assertThat(interceptor.preHandle(null, null, called)).isTrue();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        int calls = 100_000;
        long before = threads.getThreadAllocatedBytes(self);
        for (int i = 0; i < calls; i++) {
            interceptor.preHandle(null, null, called);
            interceptor.preHandle(null, null, other);
        }
        // An object a call would be 16 bytes at least; asking for the number allocates a little itself.
        assertThat(threads.getThreadAllocatedBytes(self) - before).isLessThan(calls);
    }

    public static class Orders {
        public String list() {
            return "list";
        }
    }
}
