package io.tollgate.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.tollgate.spring.RateLimit;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.MessageSource;
import org.springframework.context.MessageSourceResolvable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.ReloadableResourceBundleMessageSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.LocaleResolver;
import org.springframework.web.servlet.i18n.FixedLocaleResolver;

/** Case 28: in whose words, and in which language, a rejection speaks. */
class MessagesTest {
    private final Locale before = Locale.getDefault();

    @AfterEach
    void restore() {
        Locale.setDefault(before);
    }

    @ParameterizedTest
    @CsvSource({
        "zh-CN, 操作过于频繁，请稍后再试",
        "'zh-HK,en;q=0.5', 操作过于频繁，请稍后再试",
        "en-US, You are doing this too often. Please try again later.",
        "ja, 操作の間隔が短すぎます。しばらくしてからもう一度お試しください。",
        "ko-KR, 요청이 너무 잦습니다. 잠시 후 다시 시도해 주세요.",
        "fr, You are doing this too often. Please try again later.",
    })
    void aHostWithoutTextsGetsOurs(String languages, String text) {
        Locale.setDefault(Locale.GERMANY);
        try (Host host = Host.start(Orders.class)) {
            assertThat(rejection(host, "/list", languages)).isEqualTo(text);
        }
    }

    @Test
    void theHostsTextsComeFirstAndItsDefaultBundleIsTheLastOfThem() {
        Locale.setDefault(Locale.GERMANY);
        for (Object kind : new Object[] {"spring.messages.encoding=UTF-8", Reloadable.class}) {
            try (Host host = Host.start(Orders.class, "spring.messages.basename=texts/host", kind)) {
                assertThat(rejection(host, "/list", "de")).isEqualTo("Gemach!");
                assertThat(rejection(host, "/list", "fr")).isEqualTo("the host's default");
                assertThat(rejection(host, "/own-key", "fr")).isEqualTo("the host's own key");
            }
        }
    }

    @Test
    void theHostsLocaleResolverIsObeyed() {
        try (Host host = Host.start(Orders.class, Japanese.class)) {
            assertThat(rejection(host, "/list", "ko")).startsWith("操作の間隔");
        }
    }

    @Test
    void aKeyThatNobodyKnowsIsShownRaw() {
        try (Host host = Host.start(Orders.class)) {
            assertThat(rejection(host, "/own-key", "zh-CN")).isEqualTo("orders.too.often");
        }
    }

    @Test
    void aMessageSourceThatThrowsGivesTheRawKey() {
        try (Output output = new Output(); Host host = Host.start(Orders.class, Throwing.class)) {
            assertThat(rejection(host, "/list", "zh-CN")).isEqualTo("operate_too_frequent");
            assertThat(rejection(host, "/own-key", "zh-CN")).isEqualTo("orders.too.often");
            assertThat(output.lines("ERROR")).singleElement().asString().contains("raw key").contains("wms.Orders.list");
            assertThat(output.all()).contains("the database of texts is away");
        }
    }

    private static String rejection(Host host, String path, String languages) {
        String user = "?usercode=" + System.nanoTime();
        Http last = null;
        for (int i = 0; i < 2; i++) {
            last = host.request("GET", path + user);
            if (languages != null) {
                last.header("Accept-Language", languages);
            }
            last.send();
        }
        assertThat(last.status()).isEqualTo(200);
        assertThat(last.isRejection()).isTrue();
        return last.text().substring("{\"error\":\"".length(), last.text().length() - "\",\"successful\":0}".length());
    }

    @RestController
    static class Orders {
        @RateLimit(interval = 60)
        @GetMapping("/list")
        String list() {
            return "list";
        }

        @RateLimit(interval = 60, messageKey = "orders.too.often")
        @GetMapping("/own-key")
        String ownKey() {
            return "own key";
        }
    }

    @Configuration
    static class Reloadable {
        @Bean
        MessageSource messageSource() {
            ReloadableResourceBundleMessageSource source = new ReloadableResourceBundleMessageSource();
            source.setBasename("classpath:texts/host");
            source.setDefaultEncoding("UTF-8");
            return source;
        }
    }

    @Configuration
    static class Japanese {
        @Bean
        LocaleResolver localeResolver() {
            return new FixedLocaleResolver(Locale.JAPANESE);
        }
    }

    @Configuration
    static class Throwing {
        @Bean
        MessageSource messageSource() {
            return new MessageSource() {
                @Override
                public String getMessage(String code, Object[] arguments, String otherwise, Locale locale) {
                    throw new IllegalStateException("the database of texts is away");
                }

                @Override
                public String getMessage(String code, Object[] arguments, Locale locale) {
                    throw new IllegalStateException("the database of texts is away");
                }

                @Override
                public String getMessage(MessageSourceResolvable resolvable, Locale locale) {
                    throw new IllegalStateException("the database of texts is away");
                }
            };
        }
    }
}
