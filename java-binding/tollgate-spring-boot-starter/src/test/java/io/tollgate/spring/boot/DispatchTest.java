package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import io.tollgate.spring.javax.RateLimitInterceptor;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.web.servlet.error.ErrorController;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.handler.MappedInterceptor;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** Case 22: however often a request is dispatched, it counts once for each rule, and gets its own result. */
class DispatchTest {
    private static Host host;

    @BeforeAll
    static void start() {
        host = Host.start(Dispatching.class, Free.class, Advice.class, MountedTwice.class);
    }

    @AfterAll
    static void stop() {
        host.close();
    }

    @ParameterizedTest
    @CsvSource({
        "/callable, 200, callable",
        "/deferred, 200, deferred",
        "/deferred-at-once, 200, deferred-at-once",
        "/task, 200, task",
        "/deferred-timeout, 200, late",
        "/stream, 200, stream",
        "/future, 200, future",
        "/async-dispatch, 200, free",
        "/forward-to-free, 200, free",
        "/forward-to-itself?again=false, 200, itself",
        "/forward-to-same-rule, 200, same rule",
        "/redirect, 200, free",
        "/fails, 500, error page 500",
        "/callable-fails, 500, error page 500",
        "/deferred-fails, 500, error page 500",
        "/sends-error, 418, error page 418",
        "/advised, 409, advised",
        "/callable-advised, 409, advised",
        "/include-free, 200, [free]",
    })
    void countsOnceAndGetsItsOwnResult(String path, int status, String text) {
        long counted = host.counted();
        String url = path + (path.contains("?") ? "&" : "?") + "usercode=once";
        Http first = host.get(url);
        assertThat(first.status()).isEqualTo(status);
        assertThat(first.text()).isEqualTo(text);
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.get(url).isRejection()).isTrue();
        assertThat(host.counted()).isEqualTo(counted + 2);
    }

    @ParameterizedTest
    @CsvSource({
        "/forward-to-guarded, target",
        "/async-dispatch-to-guarded, target",
        "/include-guarded, [target]",
        "/include-guarded-twice, [target][target]",
        "/include-nested, [[target]][target]",
        "/forward-to-include, [target][target]",
    })
    void anotherGuardedHandlerCountsItsOwnRuleOnce(String path, String text) {
        long counted = host.counted();
        String user = path.substring(1);
        assertThat(host.get(path + "?usercode=" + user).text()).isEqualTo(text);
        assertThat(host.counted()).isEqualTo(counted + 2);
        assertThat(host.get("/target?usercode=" + user).isRejection()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "/free-forward, target",
        "/free-include, [target][target]",
    })
    void anUnguardedHandlerMayLeadToAGuardedOne(String path, String text) {
        long counted = host.counted();
        String url = path + "?usercode=" + path.substring(1);
        assertThat(host.get(url).text()).isEqualTo(text);
        assertThat(host.counted()).isEqualTo(counted + 1);
        assertThat(host.get(url).text()).startsWith(path.contains("include") ? "[{\"error\"" : "{\"error\"");
        assertThat(host.counted()).isEqualTo(counted + 2);
    }

    @Test
    void theTargetOfAForwardRejectsByItsOwnRule() {
        host.get("/target?usercode=forward");
        assertThat(host.get("/forward-to-guarded?usercode=forward").isRejection()).isTrue();
    }

    @Test
    void anIncludedRejectionStaysOneWhenItIsIncludedAgain() {
        host.get("/target?usercode=include-rejected");
        String page = host.get("/include-guarded-twice?usercode=include-rejected").text();
        assertThat(page.split("\"successful\":0}", -1)).hasSize(3);
        assertThat(page).doesNotContain("target");
    }

    @Test
    void anIncludedRejectionIsWrittenWhereThePageWrites() {
        assertThat(host.get("/free-writer?usercode=writer").text()).isEqualTo("<p>written</p>");
        Http page = host.request("GET", "/free-writer?usercode=writer").header("Accept-Language", "en").send();
        assertThat(page.text()).isEqualTo("<p>{\"error\":\"You are doing this too often. Please try again later.\",\"successful\":0}</p>");
        assertThat(page.responseHeader("Content-Type")).startsWith("text/html");
    }

    @Test
    void whoBecomesKnownWithinTheRequestIsNotCountedHalfWay() {
        long counted = host.counted();
        for (int i = 0; i < 3; i++) {
            assertThat(host.get("/login-in-callable").text()).isEqualTo("in");
        }
        assertThat(host.counted()).isEqualTo(counted);
    }

    @Test
    void theErrorPageOfARejectedUserIsItsOwnAffair() {
        long counted = host.counted();
        assertThat(host.get("/no-such-page?usercode=once").text()).isEqualTo("error page 404");
        assertThat(host.get("/no-such-page?usercode=once").text()).isEqualTo("error page 404");
        assertThat(host.counted()).isEqualTo(counted);
    }

    /** The starter's MappedInterceptor, another one, and the host's registry: three mounts of one interceptor. */
    @Configuration
    static class MountedTwice implements WebMvcConfigurer {
        private final ObjectProvider<RateLimitInterceptor> interceptor;

        MountedTwice(ObjectProvider<RateLimitInterceptor> interceptor) {
            this.interceptor = interceptor;
        }

        @Override
        public void addInterceptors(InterceptorRegistry registry) {
            registry.addInterceptor(interceptor.getObject());
        }

        @Bean
        MappedInterceptor again(RateLimitInterceptor interceptor) {
            return new MappedInterceptor(new String[] {"/**"}, interceptor);
        }
    }

    @RestControllerAdvice
    static class Advice {
        @ExceptionHandler(IllegalMonitorStateException.class)
        ResponseEntity<String> advised() {
            return new ResponseEntity<>("advised", HttpStatus.CONFLICT);
        }
    }

    @Controller
    @ResponseBody
    @RateLimit(interval = 60)
    static class Dispatching {
        @GetMapping("/callable")
        Callable<String> callable() {
            return () -> "callable";
        }

        @GetMapping("/deferred")
        DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            new Thread(() -> result.setResult("deferred")).start();
            return result;
        }

        @GetMapping("/deferred-at-once")
        DeferredResult<String> deferredAtOnce() {
            DeferredResult<String> result = new DeferredResult<>();
            result.setResult("deferred-at-once");
            return result;
        }

        @GetMapping("/task")
        WebAsyncTask<String> task() {
            return new WebAsyncTask<>(() -> "task");
        }

        @GetMapping("/deferred-timeout")
        DeferredResult<String> deferredTimeout() {
            return new DeferredResult<>(50L, "late");
        }

        @GetMapping("/stream")
        StreamingResponseBody stream() {
            return out -> out.write("stream".getBytes());
        }

        @GetMapping("/future")
        CompletableFuture<String> future() {
            return CompletableFuture.supplyAsync(() -> "future");
        }

        @GetMapping("/async-dispatch")
        void asyncDispatch(HttpServletRequest request) {
            request.startAsync().dispatch("/free");
        }

        @GetMapping("/async-dispatch-to-guarded")
        void asyncDispatchToGuarded(HttpServletRequest request) {
            request.startAsync().dispatch("/target");
        }

        @GetMapping("/forward-to-free")
        void forwardToFree(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/free").forward(request, response);
        }

        @GetMapping("/forward-to-itself")
        String forwardToItself(@RequestParam String again, HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            if (request.getAttribute("forwarded") != null) {
                return "itself";
            }
            request.setAttribute("forwarded", true);
            request.getRequestDispatcher("/forward-to-itself").forward(request, response);
            return null;
        }

        @RateLimit(interval = 60, rule = "shared")
        @GetMapping("/forward-to-same-rule")
        void forwardToSameRule(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/same-rule").forward(request, response);
        }

        @RateLimit(interval = 60, rule = "shared")
        @GetMapping("/same-rule")
        String sameRule() {
            return "same rule";
        }

        @GetMapping("/forward-to-guarded")
        void forwardToGuarded(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/target").forward(request, response);
        }

        @GetMapping("/forward-to-include")
        void forwardToInclude(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/free-include").forward(request, response);
        }

        @GetMapping("/redirect")
        void redirect(HttpServletResponse response) throws IOException {
            response.sendRedirect("/free");
        }

        @GetMapping("/include-free")
        void includeFree(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            include("/free", request, response);
        }

        @GetMapping("/include-guarded")
        void includeGuarded(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            include("/target", request, response);
        }

        @GetMapping("/include-guarded-twice")
        void includeGuardedTwice(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            include("/target", request, response);
            include("/target", request, response);
        }

        @GetMapping("/include-nested")
        void includeNested(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            include("/free-include-once", request, response);
            include("/target", request, response);
        }

        @GetMapping("/target")
        void target(HttpServletResponse response) throws IOException {
            response.getOutputStream().print("target");
        }

        @GetMapping("/written")
        void written(HttpServletResponse response) throws IOException {
            response.getWriter().print("written");
        }

        @GetMapping("/fails")
        String fails() {
            throw new IllegalStateException("the host's own failure");
        }

        @GetMapping("/callable-fails")
        Callable<String> callableFails() {
            return () -> {
                throw new IllegalStateException("the host's own failure");
            };
        }

        @GetMapping("/deferred-fails")
        DeferredResult<String> deferredFails() {
            DeferredResult<String> result = new DeferredResult<>();
            new Thread(() -> result.setErrorResult(new IllegalStateException("the host's own failure"))).start();
            return result;
        }

        @GetMapping("/sends-error")
        void sendsError(HttpServletResponse response) throws IOException {
            response.sendError(418);
        }

        @GetMapping("/advised")
        String advised() {
            throw new IllegalMonitorStateException();
        }

        @GetMapping("/callable-advised")
        Callable<String> callableAdvised() {
            return () -> {
                throw new IllegalMonitorStateException();
            };
        }

        @GetMapping("/login-in-callable")
        Callable<String> loginInCallable(HttpServletRequest request) {
            return () -> {
                request.getSession().setAttribute("usercode", "late-login");
                return "in";
            };
        }
    }

    static void include(String path, HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        response.getOutputStream().print("[");
        request.getRequestDispatcher(path).include(request, response);
        response.getOutputStream().print("]");
    }

    @Controller
    static class Free implements ErrorController {
        @GetMapping("/free")
        void free(HttpServletResponse response) throws IOException {
            response.getOutputStream().print("free");
        }

        @GetMapping("/free-forward")
        String freeForward() {
            return "forward:/target";
        }

        @GetMapping("/free-include")
        void freeInclude(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            include("/target", request, response);
            include("/target", request, response);
        }

        @GetMapping("/free-include-once")
        void freeIncludeOnce(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            include("/target", request, response);
        }

        @GetMapping("/free-writer")
        void freeWriter(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            response.setContentType("text/html;charset=UTF-8");
            response.getWriter().print("<p>");
            request.getRequestDispatcher("/written").include(request, response);
            response.getWriter().print("</p>");
        }

        @RequestMapping("/error")
        @ResponseBody
        String error(HttpServletRequest request) {
            return "error page " + request.getAttribute("javax.servlet.error.status_code");
        }

        // Asked for by Spring Boot 2.1 alone, so without @Override.
        public String getErrorPath() {
            return "/error";
        }
    }
}
