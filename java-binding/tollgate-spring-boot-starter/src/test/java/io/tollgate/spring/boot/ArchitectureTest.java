package io.tollgate.spring.boot;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.tollgate.Decision;
import io.tollgate.OnFault;
import io.tollgate.Tollgate;
import io.tollgate.spring.GuardedRule;
import io.tollgate.spring.RateLimit;
import io.tollgate.spring.RateLimitEngine;
import org.junit.jupiter.api.Test;

/** The rooms of the house: what lives where, and what doesn't. */
class ArchitectureTest {
    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.tollgate");

    @Test
    void allModulesAreLookedAt() {
        assertThat(ALL.contain("io.tollgate.spring.RateLimit")).isTrue();
        assertThat(ALL.contain("io.tollgate.spring.javax.RateLimitInterceptor")).isTrue();
        assertThat(ALL.contain("io.tollgate.spring.boot.TollgateAutoConfiguration")).isTrue();
    }

    @Test
    void theSharedPartKnowsNoServletNoJsonLibraryAndNoBoot() {
        classes().that().resideInAPackage("io.tollgate.spring").should().onlyDependOnClassesThat(resideInAnyPackage(
                "java..", "org.slf4j", "io.tollgate", "io.tollgate.spring", "org.aopalliance..", "org.springframework.aop..",
                "org.springframework.beans..", "org.springframework.context..", "org.springframework.core..",
                "org.springframework.expression..", "org.springframework.stereotype", "org.springframework.util..",
                // Where they are there.
                "reactor.core..", "reactor.util.context", "org.reactivestreams", "org.springframework.security.core..",
                "org.springframework.security.authentication..")).check(ALL);
        // Only the coverage report reads class files.
        classes().that().resideInAPackage("io.tollgate.spring.coverage").should().onlyDependOnClassesThat(resideInAnyPackage(
                "java..", "org.slf4j", "io.tollgate", "io.tollgate.spring", "io.tollgate.spring.coverage", "org.springframework.aop..",
                "org.springframework.asm", "org.springframework.beans..", "org.springframework.context..", "org.springframework.core..",
                "org.springframework.util..")).check(ALL);
    }

    @Test
    void recordsNeedJdbcAndWhereItIsThereMyBatisAndNothingKnowsThem() {
        classes().that().resideInAPackage("io.tollgate.spring.record").should().onlyDependOnClassesThat(resideInAnyPackage(
                "java..", "javax.sql", "org.slf4j", "io.tollgate", "io.tollgate.spring", "io.tollgate.spring.record",
                "org.apache.ibatis..")).check(ALL);
        noClasses().that().resideInAPackage("io.tollgate.spring.record")
                .and().haveSimpleNameNotContaining("MyBatis").and().doNotHaveSimpleName("InterceptionMapper")
                .and().doNotHaveSimpleName("UtcTimeTypeHandler")
                .should().dependOnClassesThat().resideInAPackage("org.apache.ibatis..").check(ALL);
        noClasses().that().resideInAnyPackage("io.tollgate.spring", "io.tollgate.spring.javax")
                .should().dependOnClassesThat().resideInAPackage("io.tollgate.spring.record").check(ALL);
    }

    @Test
    void theReactiveAdapterKnowsNoServletAndNoBoot() {
        classes().that().resideInAPackage("io.tollgate.spring.webflux").should().onlyDependOnClassesThat(resideInAnyPackage(
                "java..", "org.slf4j", "io.tollgate.spring", "io.tollgate.spring.coverage", "io.tollgate.spring.webflux",
                "org.springframework..", "reactor..", "org.reactivestreams").and(resideOutsideOfPackages("org.springframework.boot..", "org.springframework.data..")))
                .check(ALL);
    }

    @Test
    void theAdapterDecidesAndCountsNothing() {
        classes().that().resideInAPackage("io.tollgate.spring.javax").should().onlyDependOnClassesThat(resideInAnyPackage(
                "java..", "javax.servlet..", "org.slf4j", "io.tollgate.spring", "io.tollgate.spring.coverage",
                "io.tollgate.spring.javax", "org.springframework..")
                .and(resideOutsideOfPackages("org.springframework.data..", "jakarta.."))).check(ALL);
        noClasses().that().resideInAPackage("io.tollgate.spring.javax").and().doNotHaveSimpleName("TollgateServletAutoConfiguration")
                .should().dependOnClassesThat().resideInAPackage("org.springframework.boot..").check(ALL);
    }

    @Test
    void theStarterConfiguresAndDecidesNothing() {
        noClasses().that().resideInAPackage("io.tollgate.spring.boot").should().dependOnClassesThat()
                .areAssignableTo(Decision.class).check(ALL);
        noClasses().that().resideInAPackage("io.tollgate.spring.boot").should()
                .callMethod(Tollgate.class, "acquire", io.tollgate.Rule.class, String.class).check(ALL);
        classes().that().resideInAPackage("io.tollgate.spring.boot").should().onlyDependOnClassesThat(resideInAnyPackage(
                "java..", "javax.sql", "org.slf4j", "org.springframework..", "io.tollgate", "io.tollgate.spring", "io.tollgate.spring.boot",
                "io.tollgate.spring.coverage", "io.tollgate.spring.record", "io.tollgate.spring.webflux",
                "org.apache.ibatis.session")).check(ALL);
        noClasses().that().resideInAPackage("io.tollgate.spring.boot").should().dependOnClassesThat()
                .resideInAnyPackage("io.tollgate.spring.javax", "javax.servlet..", "org.springframework.web..").check(ALL);
        noClasses().that().resideInAPackage("io.tollgate.spring.boot").and().doNotHaveSimpleName("TollgateWebFluxAutoConfiguration")
                .should().dependOnClassesThat().resideInAPackage("io.tollgate.spring.webflux").check(ALL);
    }

    @Test
    void theFaultPolicyIsPassedOnAndNeverJudged() {
        noClasses().that().resideInAnyPackage("io.tollgate.spring", "io.tollgate.spring.javax", "io.tollgate.spring.webflux")
                .and().doNotBelongToAnyOf(RateLimit.class, GuardedRule.class, RateLimitEngine.class)
                .should().dependOnClassesThat().areAssignableTo(OnFault.class).check(ALL);
    }
}
