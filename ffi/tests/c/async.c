/* Decisions through callbacks, on a store that answers at once. */
#include "check.h"

struct seen {
    int calls;
    tollgate_status status;
    tollgate_decision decision;
};

static void see(tollgate_status status, const tollgate_decision *decision, void *userdata)
{
    struct seen *seen = (struct seen *) userdata;
    seen->calls++;
    seen->status = status;
    if (decision != NULL) {
        CHECK(decision->size == sizeof *decision);
        seen->decision = *decision;
    }
}

static void decisions(tollgate_limiter *limiter)
{
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    OK(tollgate_acquire_async(limiter, rule, TEXT("u1"), see, &seen));
    CHECK(seen.calls == 1 && seen.status == TOLLGATE_OK);
    CHECK(seen.decision.outcome == TOLLGATE_OUTCOME_ALLOWED && seen.decision.allowed == 1);
    OK(tollgate_acquire_async(limiter, rule, TEXT("u1"), see, &seen));
    CHECK(seen.calls == 2 && seen.decision.outcome == TOLLGATE_OUTCOME_LIMITED && seen.decision.count == 2);
    CHECK(seen.decision.reset_after_ms > 0 && seen.decision.should_record == 1);
    OK(tollgate_acquire_async(limiter, rule, "", 0, see, &seen));
    CHECK(seen.calls == 3 && seen.decision.outcome == TOLLGATE_OUTCOME_NO_IDENTITY);
    /* The same counter as that of the calls that wait. */
    CHECK(acquire(limiter, rule, "u1").count == 3);
}

static void misuse(tollgate_limiter *limiter)
{
    tollgate_limiter *closed = open_limiter("memory:");
    tollgate_rule *gone = register_rule(closed, "Order.list", 3600, 1);
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    FAILS(TOLLGATE_NULL_ARGUMENT, "limiter", tollgate_acquire_async(NULL, rule, TEXT("u1"), see, &seen));
    FAILS(TOLLGATE_NULL_ARGUMENT, "rule", tollgate_acquire_async(limiter, NULL, TEXT("u1"), see, &seen));
    FAILS(TOLLGATE_NULL_ARGUMENT, "user", tollgate_acquire_async(limiter, rule, NULL, 2, see, &seen));
    FAILS(TOLLGATE_NULL_ARGUMENT, "callback", tollgate_acquire_async(limiter, rule, TEXT("u1"), NULL, &seen));
    FAILS(TOLLGATE_TOO_LONG, "user", tollgate_acquire_async(limiter, rule, "u", ((size_t) 1 << 20) + 1, see, &seen));
    FAILS(TOLLGATE_NOT_UTF8, "UTF-8", tollgate_acquire_async(limiter, rule, "\xff", 1, see, &seen));
    FAILS(TOLLGATE_FOREIGN_RULE, "another", tollgate_acquire_async(limiter, gone, TEXT("u1"), see, &seen));
    OK(tollgate_close(closed));
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_acquire_async(closed, gone, TEXT("u1"), see, &seen));
    FAILS(TOLLGATE_FOREIGN_RULE, "closed", tollgate_acquire_async(limiter, gone, TEXT("u1"), see, &seen));
    CHECK(seen.calls == 0);
    /* What it is called with is its own business. */
    OK(tollgate_acquire_async(limiter, rule, TEXT("u2"), see, &seen));
    CHECK(seen.calls == 1 && seen.decision.count == 1);
}

struct caller {
    tollgate_limiter *limiter;
    tollgate_rule *rule;
    int calls;
    int left;
};

static void call_back(tollgate_status status, const tollgate_decision *decision, void *userdata)
{
    struct caller *caller = (struct caller *) userdata;
    CHECK(status == TOLLGATE_OK && decision->outcome == TOLLGATE_OUTCOME_ALLOWED);
    caller->calls++;
    FAILS(TOLLGATE_IN_CALLBACK, "tollgate_close", tollgate_close(caller->limiter));
    FAILS(TOLLGATE_IN_CALLBACK, "tollgate_on_log", tollgate_on_log(0, NULL, NULL));
    CHECK(acquire(caller->limiter, caller->rule, "u1").allowed == 1);
}

static void chain(tollgate_status status, const tollgate_decision *decision, void *userdata)
{
    struct caller *caller = (struct caller *) userdata;
    CHECK(status == TOLLGATE_OK && decision->allowed == 1);
    caller->calls++;
    if (caller->left-- > 0) {
        OK(tollgate_acquire_async(caller->limiter, caller->rule, TEXT("u1"), chain, caller));
    }
}

static void callbacks_that_call(tollgate_limiter *limiter)
{
    struct caller caller;
    /* Deeper than any stack, were each inside the one before. */
    const int links = getenv("UNDER_VALGRIND") != NULL ? 20000 : 1000000;
    memset(&caller, 0, sizeof caller);
    caller.limiter = limiter;
    caller.rule = register_rule(limiter, "Order.call", 3600, INT64_MAX);
    FAILS(TOLLGATE_NULL_ARGUMENT, "version", tollgate_version(NULL));
    OK(tollgate_acquire_async(limiter, caller.rule, TEXT("u1"), call_back, &caller));
    CHECK(caller.calls == 1);
    /* What failed in the callback is no failure of the call that it came amid. */
    check_last_error(TOLLGATE_NULL_ARGUMENT, "version", __FILE__, __LINE__);
    caller.left = links;
    OK(tollgate_acquire_async(limiter, caller.rule, TEXT("u1"), chain, &caller));
    CHECK(caller.calls == 2 + links);
}

int main(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    decisions(limiter);
    misuse(limiter);
    callbacks_that_call(limiter);
    OK(tollgate_close(limiter));
    return 0;
}
