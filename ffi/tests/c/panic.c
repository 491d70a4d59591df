/* A defect inside, which only a library built for tests has. */
#include "check.h"

static char logged[512];

static void write_line(int32_t level, const char *message, size_t message_len, void *userdata)
{
    (void) message_len;
    (void) userdata;
    CHECK(level == TOLLGATE_LEVEL_ERROR);
    strncpy(logged, message, sizeof logged - 1);
}

static void never(tollgate_status status, const tollgate_decision *decision, void *userdata)
{
    (void) status;
    (void) decision;
    (void) userdata;
    CHECK(0);
}

int main(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    tollgate_decision decision;
    TOLLGATE_INIT(decision);
    OK(tollgate_on_log(TOLLGATE_LEVEL_INFO, write_line, NULL));
    FAILS(TOLLGATE_PANIC, "asked to", tollgate_acquire(limiter, rule, TEXT("panic now"), &decision));
    CHECK(strstr(logged, "asked to") != NULL && strstr(logged, "boundary.rs") != NULL);
    /* The limiter goes on working. */
    CHECK(acquire(limiter, rule, "u1").count == 1);
    CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_LIMITED);
    FAILS(TOLLGATE_PANIC, "report", tollgate_acquire(limiter, rule, TEXT("panic now"), &decision));
    FAILS(TOLLGATE_PANIC, "report", tollgate_acquire_async(limiter, rule, TEXT("panic now"), never, NULL));
    OK(tollgate_close(limiter));
    OK(tollgate_on_log(0, NULL, NULL));
    return 0;
}
