package io.tollgate.spring;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.context.MessageSource;
import org.springframework.context.support.AbstractResourceBasedMessageSource;
import org.springframework.context.support.ReloadableResourceBundleMessageSource;
import org.springframework.context.support.ResourceBundleMessageSource;

/**
 * Reads a host's bundles the way a rejection needs them. Spring and Spring Boot fall back from a language without a bundle to
 * the JVM's locale, so that a French user of a server that runs in German reads German rather than the host's default. The
 * host's own source is left alone: a second one over the same bundles is asked.
 */
final class HostMessages {
    private static final Logger LOG = LoggerFactory.getLogger(HostMessages.class);
    private static final String[] FIELDS = {
        // The encoding goes by its second name since Spring 7.
        "commonMessages", "defaultEncoding", "defaultCharset", "cacheMillis",
        "bundleClassLoader", "beanClassLoader",
        "fileEncodings", "fileExtensions", "concurrentRefresh", "propertiesPersister", "resourceLoader",
    };

    private HostMessages() {}

    /** The same messages without that fallback; the source itself where it is of a class of the host's own. */
    static MessageSource withoutSystemLocale(MessageSource source) {
        try {
            if (source.getClass() == ResourceBundleMessageSource.class) {
                return copy((ResourceBundleMessageSource) source, new ResourceBundleMessageSource());
            }
            if (source.getClass() == ReloadableResourceBundleMessageSource.class) {
                return copy((ReloadableResourceBundleMessageSource) source, new ReloadableResourceBundleMessageSource());
            }
        } catch (RuntimeException e) {
            LOG.warn("tollgate: {} is asked as it is, with its fallback to the JVM's locale", source, e);
        }
        return source;
    }

    private static <S extends AbstractResourceBasedMessageSource> S copy(S from, S to) {
        DirectFieldAccessor read = new DirectFieldAccessor(from);
        DirectFieldAccessor write = new DirectFieldAccessor(to);
        for (String field : FIELDS) {
            if (read.isReadableProperty(field)) {
                write.setPropertyValue(field, read.getPropertyValue(field));
            }
        }
        to.setBasenames(from.getBasenameSet().toArray(new String[0]));
        to.setFallbackToSystemLocale(false);
        MessageSource parent = from.getParentMessageSource();
        if (parent != null) {
            to.setParentMessageSource(withoutSystemLocale(parent));
        }
        return to;
    }
}
