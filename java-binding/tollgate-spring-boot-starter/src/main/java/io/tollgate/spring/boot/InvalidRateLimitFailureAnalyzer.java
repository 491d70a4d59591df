package io.tollgate.spring.boot;

import io.tollgate.spring.InvalidRateLimitException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Has Spring Boot print what is wrong with an annotation, and what to do, in place of a stack trace. */
final class InvalidRateLimitFailureAnalyzer extends AbstractFailureAnalyzer<InvalidRateLimitException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidRateLimitException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
