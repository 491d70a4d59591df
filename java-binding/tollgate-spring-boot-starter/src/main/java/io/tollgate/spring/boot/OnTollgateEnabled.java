package io.tollgate.spring.boot;

import java.util.Arrays;
import java.util.Locale;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** On unless told off: a misspelt {@code tollgate.enabled} must not switch a protection off in silence. */
final class OnTollgateEnabled extends SpringBootCondition {
    @Override
    public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
        String value = context.getEnvironment().getProperty("tollgate.enabled", "true").trim();
        boolean off = Arrays.asList("false", "off", "no", "0").contains(value.toLowerCase(Locale.ROOT));
        return new ConditionOutcome(!off, ConditionMessage.forCondition("tollgate.enabled").because("it is " + value));
    }
}
