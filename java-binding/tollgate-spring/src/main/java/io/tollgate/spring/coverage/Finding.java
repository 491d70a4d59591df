package io.tollgate.spring.coverage;

/** A gap, why it is there, and what to do, in words. */
final class Finding {
    final Gap gap;
    final String reason;
    final String remedy;

    Finding(Gap gap, String reason) {
        this(gap, reason, gap.remedy());
    }

    private Finding(Gap gap, String reason, String remedy) {
        this.gap = gap;
        this.reason = reason;
        this.remedy = remedy;
    }

    /** The same of a handler that the interceptor would do for, if its rules didn't look at the call. */
    Finding ofHandler() {
        return new Finding(Gap.NEEDS_ASPECT, "a rule of it has to be decided by the aspect, and " + (gap == Gap.NO_AOP ? "there is none" : reason),
                gap.remedy() + ' ' + Gap.NEEDS_ASPECT.remedy());
    }
}
