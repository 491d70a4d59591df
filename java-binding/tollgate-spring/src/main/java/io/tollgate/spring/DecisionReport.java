package io.tollgate.spring;

import io.tollgate.Decision;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells observers and the recorder of decisions; nothing that they throw reaches the call. Thread-safe. */
public final class DecisionReport {
    private static final Logger LOG = LoggerFactory.getLogger(DecisionReport.class);

    private final List<RateLimitObserver> observers;
    private final RateLimitObserver recorder;
    private final FaultLog faults = new FaultLog(LOG, System::nanoTime);

    /**
     * A report.
     *
     * @param observers hear of each decision of rules with {@link RateLimit#monitor()}
     * @param recorder  hears of rejections, and of those that a rule in {@code shadow} would have made, of rules with {@link
     *                  RateLimit#record()} while {@code log.check} isn't closed; null for none
     */
    public DecisionReport(List<? extends RateLimitObserver> observers, RateLimitObserver recorder) {
        this.observers = new ArrayList<>(observers);
        this.recorder = recorder;
    }

    void tell(GuardedRule rule, Decision decision, String identity, GuardedRequest request) {
        if (rule.isMonitored()) {
            for (RateLimitObserver observer : observers) {
                tell(observer, rule, decision, identity, request);
            }
        }
        if (recorder != null && rule.isRecorded() && decision.shouldRecord()) {
            tell(recorder, rule, decision, identity, request);
        }
    }

    private void tell(RateLimitObserver observer, GuardedRule rule, Decision decision, String identity, GuardedRequest request) {
        try {
            observer.decided(rule, decision, identity, request);
        } catch (Throwable e) {
            faults.error("tollgate: " + observer + " failed for a decision of " + rule, e);
        }
    }
}
