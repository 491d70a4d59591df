package io.tollgate.spring.boot;

import io.tollgate.Tollgate;
import io.tollgate.spring.BundleMessageResolver;
import io.tollgate.spring.ClientAddress;
import io.tollgate.spring.DecisionReport;
import io.tollgate.spring.Exclusions;
import io.tollgate.spring.GuardedMethods;
import io.tollgate.spring.Identities;
import io.tollgate.spring.IdentityChain;
import io.tollgate.spring.IdentityResolver;
import io.tollgate.spring.MessageResolver;
import io.tollgate.spring.PageRejectionHandler;
import io.tollgate.spring.RateLimitEngine;
import io.tollgate.spring.RateLimitGate;
import io.tollgate.spring.RateLimitObserver;
import io.tollgate.spring.RejectionHandler;
import io.tollgate.spring.RejectionStyle;
import io.tollgate.spring.RequestIdentity;
import io.tollgate.spring.RequestTenant;
import io.tollgate.spring.RuleNames;
import io.tollgate.spring.TenantResolver;
import io.tollgate.spring.coverage.RateLimitCoverage;
import java.util.Collections;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.context.ApplicationContext;
import org.springframework.context.MessageSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * The limiter and its parts, whatever web API is used. What can fail is lazy and made by the gate, which survives it: a missing
 * library or a bad setting doesn't keep the host from starting.
 */
@Configuration
@Conditional(OnTollgateEnabled.class)
public class TollgateAutoConfiguration {
    private static final Logger LOG = LoggerFactory.getLogger(TollgateAutoConfiguration.class);

    @Bean
    BoundProperties tollgateBoundProperties(Environment environment) {
        return BoundProperties.of(environment);
    }

    /** A host that injects this itself, rather than an {@code ObjectProvider} of it, can't start without the native library. */
    @Bean(destroyMethod = "close")
    @Lazy
    @ConditionalOnMissingBean
    Tollgate tollgate(BoundProperties bound, Environment environment) {
        TollgateProperties properties = bound.checked();
        try {
            return Tollgate.builder()
                    .url(StoreUrl.of(environment, properties))
                    .deadline(properties.getDeadline())
                    .connectTimeout(properties.getConnectTimeout())
                    .onFault(properties.getOnFault())
                    .prefix(properties.getPrefix())
                    .maxCounters(properties.getMaxCounters())
                    .open();
        } catch (BindException e) {
            throw new IllegalArgumentException(BoundProperties.complaint(e), e);
        }
    }

    @Bean
    @ConditionalOnMissingBean
    GuardedMethods tollgateGuardedMethods(BoundProperties bound, Environment environment, BeanFactory beans) {
        TollgateProperties properties = bound.orDefaults();
        if (StringUtils.hasText(properties.getModule())) {
            return new GuardedMethods(RuleNames.ofModule(properties.getModule().trim()), beans);
        }
        String application = environment.getProperty("spring.application.name");
        if (!StringUtils.hasText(application)) {
            LOG.warn("tollgate: rules that name no module are in module \"{}\", as those of every nameless application: "
                    + "set spring.application.name or tollgate.module", RuleNames.NAMELESS);
        }
        return new GuardedMethods(RuleNames.ofApplication(application, properties.getModulePrefixes()), beans);
    }

    @Bean
    @ConditionalOnMissingBean
    RequestIdentity tollgateRequestIdentity(BoundProperties bound) {
        TollgateProperties.Identity identity = bound.orDefaults().getIdentity();
        identity.names().forEach((source, name) -> {
            if (StringUtils.hasText(name) && !identity.getOrder().contains(source)) {
                LOG.warn("tollgate: no user is looked for in {} \"{}\": tollgate.identity.order doesn't name it", source, name);
            }
        });
        return new RequestIdentity(identity.getOrder(), identity.names());
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    IdentityChain tollgateIdentityChain(ObjectProvider<IdentityResolver> resolvers) {
        return new IdentityChain(resolvers.orderedStream().collect(Collectors.toList()));
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    ClientAddress tollgateClientAddress(BoundProperties bound) {
        TollgateProperties properties = bound.checked();
        return new ClientAddress(properties.getTrustedProxies(), properties.getForwardedHeader(), properties.getIpv6Prefix());
    }

    @Bean
    @ConditionalOnMissingBean
    TenantResolver tollgateTenantResolver(BoundProperties bound) {
        return new RequestTenant(bound.orDefaults().getTenant().names());
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Exclusions tollgateExclusions(BoundProperties bound) {
        TollgateProperties.Exclude exclude = bound.checked().getExclude();
        return new Exclusions(exclude.getHeader(), exclude.getPaths());
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    MessageResolver tollgateMessageResolver(ApplicationContext context) {
        // By name, as the context itself finds it: a host may have others that mean something else.
        return new BundleMessageResolver(context.getBean(AbstractApplicationContext.MESSAGE_SOURCE_BEAN_NAME, MessageSource.class));
    }

    @Bean
    @ConditionalOnMissingBean
    RejectionHandler tollgateRejectionHandler(BoundProperties bound) {
        TollgateProperties.Rejection rejection = bound.orDefaults().getRejection();
        RejectionHandler style = rejection.getStyle().handler();
        return rejection.isHtmlForPages() ? new PageRejectionHandler(RejectionStyle.HTML.handler(), style) : style;
    }

    @Bean
    @Lazy
    Identities tollgateIdentities(IdentityChain users, ClientAddress addresses, TenantResolver tenants) {
        return new Identities(users, addresses::resolve, tenants::resolve);
    }

    @Bean(destroyMethod = "close")
    @Lazy
    RejectionRecords tollgateRejectionRecords(BoundProperties bound, ClientAddress addresses, ListableBeanFactory beans, Environment host) {
        return RejectionRecords.of(bound.orDefaults().getRecords(), addresses, beans, host);
    }

    @Bean
    @Lazy
    DecisionReport tollgateDecisionReport(ObjectProvider<RateLimitObserver> observers, RejectionRecords records) {
        return new DecisionReport(observers.orderedStream().collect(Collectors.toList()), records.observer());
    }

    @Bean
    @Lazy
    RateLimitEngine tollgateEngine(Tollgate tollgate, Identities identities, MessageResolver messages, RejectionHandler rejections,
            Exclusions excluded, DecisionReport report, BeanFactory beans) {
        return new RateLimitEngine(tollgate, identities, messages, rejections, excluded::covers, report, beans);
    }

    @Bean
    @Lazy(false)
    RateLimitCoverage tollgateCoverage(ApplicationContext context, GuardedMethods methods, RateLimitGate gate, BoundProperties bound,
            ObjectProvider<TenantResolver> tenants) {
        TollgateProperties.Coverage coverage = bound.orDefaults().getCoverage();
        return new RateLimitCoverage(context, methods, gate, () -> isConfigured(tenants.getIfAvailable()),
                () -> coverage.isScan() && AutoConfigurationPackages.has(context)
                        ? AutoConfigurationPackages.get(context) : Collections.emptyList(), coverage.getIgnore());
    }

    private static boolean isConfigured(TenantResolver tenants) {
        return tenants != null && !(tenants instanceof RequestTenant && !((RequestTenant) tenants).isConfigured());
    }

    @Bean
    CoverageAtReady tollgateCoverageAtReady(ApplicationContext context, RateLimitCoverage coverage) {
        return new CoverageAtReady(context, coverage);
    }

    @Bean
    RateLimitGate tollgateGate(ObjectProvider<RateLimitEngine> engine) {
        return new RateLimitGate(engine::getObject);
    }
}
