package io.tollgate.spring;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.springframework.context.MessageSource;
import org.springframework.context.NoSuchMessageException;
import org.springframework.context.support.ResourceBundleMessageSource;
import org.springframework.util.StringUtils;

/**
 * The annotation's own text, then the host's {@code MessageSource}, then tollgate's bundles (Chinese, Japanese, Korean, and
 * English for every other language), then the raw key.
 *
 * <p>The host's bundles are read without the fallback to the JVM's locale: where the user's language has no bundle, the host's
 * default bundle answers.
 */
public final class BundleMessageResolver implements MessageResolver {
    /** Given to the host as the default, so that {@code useCodeAsDefaultMessage} can't pass a key off as a text. */
    private static final String NONE = "io.tollgate.spring.none";

    private final MessageSource host;
    private final MessageSource own = ownBundles();

    /**
     * A resolver.
     *
     * @param host the host's messages, null if it has none
     */
    public BundleMessageResolver(MessageSource host) {
        this.host = host == null ? null : HostMessages.withoutSystemLocale(host);
    }

    @Override
    public String resolve(String key, GuardedRule rule, Locale locale) {
        if (StringUtils.hasText(rule.message()) && key.equals(rule.messageKey())) {
            return rule.message();
        }
        String text = host == null ? null : ask(host, key, locale);
        return text != null ? text : own.getMessage(key, null, key, locale);
    }

    private static String ask(MessageSource source, String key, Locale locale) {
        try {
            String text = source.getMessage(key, null, NONE, locale);
            return StringUtils.hasText(text) && !text.equals(NONE) ? text : null;
        } catch (NoSuchMessageException e) {
            return null;
        }
    }

    private static MessageSource ownBundles() {
        ResourceBundleMessageSource bundles = new ResourceBundleMessageSource();
        bundles.setBasename("io.tollgate.spring.messages");
        bundles.setBundleClassLoader(BundleMessageResolver.class.getClassLoader());
        bundles.setDefaultEncoding(StandardCharsets.UTF_8.name());
        bundles.setFallbackToSystemLocale(false);
        return bundles;
    }
}
