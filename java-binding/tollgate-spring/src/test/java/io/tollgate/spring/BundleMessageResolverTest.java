package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.MessageSource;
import org.springframework.context.support.AbstractResourceBasedMessageSource;
import org.springframework.context.support.DelegatingMessageSource;
import org.springframework.context.support.ReloadableResourceBundleMessageSource;
import org.springframework.context.support.ResourceBundleMessageSource;
import org.springframework.context.support.StaticMessageSource;

class BundleMessageResolverTest {
    private static final Locale ITALIAN = Locale.ITALIAN;
    private final Locale before = Locale.getDefault();

    @BeforeEach
    void theJvmIsGerman() {
        Locale.setDefault(Locale.GERMANY);
    }

    @AfterEach
    void restore() {
        Locale.setDefault(before);
    }

    @ParameterizedTest
    @CsvSource({
        "zh-CN, 操作过于频繁，请稍后再试",
        "zh, 操作过于频繁，请稍后再试",
        "zh-TW, 操作过于频繁，请稍后再试",
        "zh-Hans-CN, 操作过于频繁，请稍后再试",
        "ja-JP, 操作の間隔が短すぎます。しばらくしてからもう一度お試しください。",
        "ko, 요청이 너무 잦습니다. 잠시 후 다시 시도해 주세요.",
        "en-GB, You are doing this too often. Please try again later.",
        "fr, You are doing this too often. Please try again later.",
        "und, You are doing this too often. Please try again later.",
    })
    void ownBundlesStandBehindTheHost(String tag, String text) {
        Locale.setDefault(Locale.JAPAN);
        for (MessageSource host : new MessageSource[] {null, new DelegatingMessageSource(), new StaticMessageSource()}) {
            assertThat(text(host, "operate_too_frequent", Locale.forLanguageTag(tag))).isEqualTo(text);
        }
    }

    @Test
    void theHostHasTheFirstWord() {
        for (MessageSource host : hosts()) {
            assertThat(text(host, "operate_too_frequent", Locale.FRENCH)).isEqualTo("texte français");
            assertThat(text(host, "operate_too_frequent", Locale.CANADA_FRENCH)).isEqualTo("texte français");
            assertThat(text(host, "operate_too_frequent", Locale.GERMAN)).isEqualTo("deutscher Text: Überlastung");
            assertThat(text(host, "only.default", Locale.FRENCH)).isEqualTo("only in the default");
        }
    }

    @Test
    void aLanguageWithoutABundleGetsTheHostsDefaultAndNotTheJvms() {
        for (MessageSource host : hosts()) {
            // What the host itself would say.
            assertThat(host.getMessage("operate_too_frequent", null, ITALIAN)).isEqualTo("deutscher Text: Überlastung");
            assertThat(text(host, "operate_too_frequent", ITALIAN)).isEqualTo("default text");
            assertThat(host.getMessage("operate_too_frequent", null, ITALIAN)).isEqualTo("deutscher Text: Überlastung");
        }
    }

    @Test
    void parentsAreAskedTheSameWay() {
        for (MessageSource parent : hosts()) {
            ResourceBundleMessageSource child = new ResourceBundleMessageSource();
            child.setParentMessageSource(parent);
            assertThat(text(child, "operate_too_frequent", ITALIAN)).isEqualTo("default text");
        }
    }

    @Test
    void aSourceOfTheHostsOwnKindIsAskedAsItIs() {
        ResourceBundleMessageSource own = new ResourceBundleMessageSource() {
            @Override
            protected String resolveCodeWithoutArguments(String code, Locale locale) {
                return "from a database";
            }
        };
        assertThat(text(own, "operate_too_frequent", ITALIAN)).isEqualTo("from a database");
    }

    @Test
    void aKeyThatNothingAnswersIsTheText() {
        assertThat(text(null, "no.such.key", Locale.CHINA)).isEqualTo("no.such.key");
        for (MessageSource host : hosts()) {
            assertThat(text(host, "no.such.key", Locale.CHINA)).isEqualTo("no.such.key");
        }
    }

    @Test
    void aHostThatGivesCodesForTextsOrBlankTextsDoesNotAnswer() {
        StaticMessageSource codes = new StaticMessageSource();
        codes.setUseCodeAsDefaultMessage(true);
        codes.addMessage("blank", Locale.CHINA, " ");
        assertThat(text(codes, "operate_too_frequent", Locale.CHINA)).isEqualTo("操作过于频繁，请稍后再试");
        assertThat(text(codes, "blank", Locale.CHINA)).isEqualTo("blank");
    }

    @Test
    void theAnnotationsTextWins() throws Exception {
        GuardedRule rule = rule("literal");
        assertThat(new BundleMessageResolver(hosts()[0]).resolve(rule.messageKey(), rule, Locale.FRENCH)).isEqualTo("Gemach, {0} it's '' slow");
    }

    private static MessageSource[] hosts() {
        AbstractResourceBasedMessageSource plain = new ResourceBundleMessageSource();
        plain.setBasename("host/messages");
        ReloadableResourceBundleMessageSource reloadable = new ReloadableResourceBundleMessageSource();
        reloadable.setBasename("classpath:host/messages");
        for (AbstractResourceBasedMessageSource source : new AbstractResourceBasedMessageSource[] {plain, reloadable}) {
            source.setDefaultEncoding("UTF-8");
        }
        return new MessageSource[] {plain, reloadable};
    }

    private static String text(MessageSource host, String key, Locale locale) {
        try {
            String method = key.equals("operate_too_frequent") ? "frequent" : key.equals("only.default") ? "only"
                    : key.equals("blank") ? "blank" : "missing";
            return new BundleMessageResolver(host).resolve(key, rule(method), locale);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private static GuardedRule rule(String method) throws NoSuchMethodException {
        return new GuardedMethods(RuleNames.ofModule("m"), null).find(null, Texts.class, Texts.class.getMethod(method)).rules().get(0);
    }

    public static class Texts {
        @RateLimit
        public void frequent() {}

        @RateLimit(messageKey = "only.default")
        public void only() {}

        @RateLimit(messageKey = "no.such.key")
        public void missing() {}

        @RateLimit(messageKey = "blank")
        public void blank() {}

        @RateLimit(message = "Gemach, {0} it's '' slow")
        public void literal() {}
    }
}
