package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.Filter;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletRequestWrapper;
import javax.servlet.http.HttpSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartFile;

/** Case 26: bodies stay the host's. */
class RequestBodyTest {
    private static final String FORM = "application/x-www-form-urlencoded";
    /** Spring Boot's own filters that read parameters. */
    private static final String[] HIDDEN_FILTERS = {
        "spring.mvc.hiddenmethod.filter.enabled=false", "spring.mvc.formcontent.filter.enabled=false",
    };

    @Test
    void anUnguardedEndpointReadsItsRawFormItself() {
        try (Host host = Host.start(Bodies.class, HIDDEN_FILTERS[0], HIDDEN_FILTERS[1])) {
            String body = "b=2&a=1&usercode=raw&empty=&c=%E5%BC%A0+x";
            for (int i = 0; i < 2; i++) {
                assertThat(host.request("POST", "/raw").body(FORM, body).send().text()).isEqualTo(body);
            }
            assertThat(host.counted()).isZero();
        }
    }

    @Test
    void aGuardedEndpointGetsItsBodyByParametersOrAsJson() {
        try (Host host = Host.start(Bodies.class)) {
            assertThat(host.request("POST", "/guarded-text").body(FORM, "a=1&usercode=u1").send().text()).isEqualTo("a=1&usercode=u1");
            assertThat(host.request("POST", "/guarded-text").body(FORM, "a=1&usercode=u1").send().isRejection()).isTrue();
            assertThat(host.request("POST", "/guarded-text?usercode=u2").body("application/json", "{\"usercode\":\"x\"}").send().text())
                    .isEqualTo("{\"usercode\":\"x\"}");
            assertThat(host.request("POST", "/guarded-text?usercode=u2").body("application/json", "{}").send().isRejection()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMultipartPartNamesTheUser(boolean lazily) {
        try (Host host = Host.start(Bodies.class, "spring.servlet.multipart.resolve-lazily=" + lazily)) {
            Http first = upload(host, "张三", 100);
            assertThat(first.text()).isEqualTo("100 bytes of 张三");
            assertThat(upload(host, "张三", 100).isRejection()).isTrue();
            assertThat(upload(host, "李四", 100).text()).isEqualTo("100 bytes of 李四");
            assertThat(host.counted()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theHostAnswersAnOversizedUpload(boolean lazily) {
        try (Output output = new Output();
                Host host = Host.start(Bodies.class, TooLarge.class, "spring.servlet.multipart.max-file-size=1KB",
                        "spring.servlet.multipart.max-request-size=1MB", "spring.servlet.multipart.resolve-lazily=" + lazily)) {
            for (int i = 0; i < 3; i++) {
                Http refused = upload(host, "large", 20_000);
                assertThat(refused.status()).isEqualTo(413);
                assertThat(refused.text()).isEqualTo("the host says: too large");
            }
            assertThat(output.lines("ERROR")).isEmpty();
        }
    }

    @Test
    void aBodyThatCannotBeReadIsTheHostsAffairToo() {
        try (Output output = new Output(); Host host = Host.start(Bodies.class, Unreadable.class)) {
            String cookie = host.get("/login").responseHeader("Set-Cookie");
            Http passed = host.request("POST", "/unread?usercode=u").header("X-Unreadable", "1").header("Cookie", cookie).send();
            assertThat(passed.text()).isEqualTo("unread");
            // No parameter, so it was the session's turn.
            assertThat(host.request("POST", "/unread").header("Cookie", cookie).send().isRejection()).isTrue();
            assertThat(output.lines("ERROR")).isEmpty();
        }
    }

    private static Http upload(Host host, String user, int size) {
        String boundary = "----boundary";
        String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"usercode\"\r\n\r\n" + user + "\r\n--" + boundary
                + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n";
        String body = head + new String(new char[size]).replace('\0', 'x') + "\r\n--" + boundary + "--\r\n";
        return host.request("POST", "/upload").body("multipart/form-data; boundary=" + boundary, body).send();
    }

    @RestController
    static class Bodies {
        @PostMapping("/raw")
        String raw(HttpServletRequest request) throws IOException {
            return StreamUtils.copyToString(request.getInputStream(), StandardCharsets.UTF_8);
        }

        @RateLimit(interval = 60)
        @PostMapping("/guarded-text")
        String guardedText(@RequestBody String body) {
            return body;
        }

        @RateLimit(interval = 60)
        @PostMapping("/unread")
        String unread() {
            return "unread";
        }

        @GetMapping("/login")
        String login(HttpSession session) {
            session.setAttribute("usercode", "s1");
            return "in";
        }

        @RateLimit(interval = 60)
        @PostMapping("/upload")
        String upload(@RequestParam MultipartFile file, @RequestParam String usercode) {
            return file.getSize() + " bytes of " + usercode;
        }
    }

    /** What Undertow and Jetty do, and multipart resolvers that read when asked: the failure comes with the first parameter. */
    @Configuration
    static class Unreadable {
        @Bean
        Filter unreadable() {
            return (request, response, chain) -> chain.doFilter(
                    ((HttpServletRequest) request).getHeader("X-Unreadable") == null ? request
                            : new HttpServletRequestWrapper((HttpServletRequest) request) {
                                @Override
                                public String getParameter(String name) {
                                    if (name.equals("usercode")) {
                                        throw new IllegalStateException("too large");
                                    }
                                    return super.getParameter(name);
                                }
                            }, response);
        }
    }

    @RestControllerAdvice
    static class TooLarge {
        @ExceptionHandler(MaxUploadSizeExceededException.class)
        @ResponseStatus(HttpStatus.PAYLOAD_TOO_LARGE)
        String tooLarge() {
            return "the host says: too large";
        }
    }
}
