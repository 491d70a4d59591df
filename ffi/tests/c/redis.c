/* A real server that goes away: told by the test through standard input, which says through standard output what it awaits. */
#include "check.h"

#include <pthread.h>
#include <time.h>

struct log {
    pthread_mutex_t lock;
    int errors;
    char text[512];
};

static void write_line(int32_t level, const char *message, size_t message_len, void *userdata)
{
    struct log *log = (struct log *) userdata;
    (void) message_len;
    pthread_mutex_lock(&log->lock);
    if (level == TOLLGATE_LEVEL_ERROR && strstr(message, "wms.Order.list") != NULL) {
        log->errors++;
        strncpy(log->text, message, sizeof log->text - 1);
    }
    pthread_mutex_unlock(&log->lock);
}

static void await(const char *what)
{
    char line[16];
    printf("%s\n", what);
    fflush(stdout);
    CHECK(fgets(line, sizeof line, stdin) != NULL);
}

static void pause_briefly(void)
{
    const struct timespec pause = {0, 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

int main(int count, char **arguments)
{
    tollgate_limiter *limiter = NULL;
    tollgate_options options;
    tollgate_rule *rule;
    tollgate_decision decision;
    tollgate_stats_snapshot stats;
    tollgate_counter_snapshot counter;
    tollgate_store_snapshot state;
    char why[256];
    struct log log;
    int errors;
    char store[128];
    char value[16];
    size_t length;
    CHECK(count == 2);
    memset(&log, 0, sizeof log);
    pthread_mutex_init(&log.lock, NULL);
    OK(tollgate_on_log(TOLLGATE_LEVEL_INFO, write_line, &log));
    TOLLGATE_INIT(options);
    /* Generous, since all of this runs under valgrind too. */
    options.deadline_ms = 5000;
    options.connect_timeout_ms = 20000;
    OK(tollgate_open(TEXT(arguments[1]), &options, &limiter));
    OK(tollgate_store(limiter, store, sizeof store, &length));
    CHECK(strncmp(store, "redis 127.0.0.1:", 16) == 0);
    rule = register_rule(limiter, "Order.list", 3600, 1);
    CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_ALLOWED);
    decision = acquire(limiter, rule, "u1");
    CHECK(decision.outcome == TOLLGATE_OUTCOME_LIMITED && decision.count == 2);
    OK(tollgate_settings_get(limiter, TEXT("wms.Order.list.interval"), value, sizeof value, &length));
    CHECK(strcmp(value, "3600") == 0);
    CHECK(log.errors == 0);
    TOLLGATE_INIT(counter);
    OK(tollgate_counter(limiter, rule, TEXT("u1"), &counter));
    CHECK(counter.count == 2 && counter.ends_in_ms > 0 && counter.ends_in_ms <= 3600 * 1000);
    OK(tollgate_clear(limiter, rule, TEXT("u1")));
    FAILS(TOLLGATE_NOT_FOUND, "nothing", tollgate_counter(limiter, rule, TEXT("u1"), &counter));
    TOLLGATE_INIT(state);
    OK(tollgate_store_state(limiter, &state, why, sizeof why, &length));
    CHECK(state.connects == 1 && state.fault == TOLLGATE_FAULT_NONE && length == 0);

    await("stop");
    decision = acquire(limiter, rule, "u1");
    CHECK(decision.outcome == TOLLGATE_OUTCOME_FAULT_ALLOWED && decision.allowed == 1);
    CHECK(decision.fault != TOLLGATE_FAULT_NONE);
    pthread_mutex_lock(&log.lock);
    errors = log.errors;
    pthread_mutex_unlock(&log.lock);
    CHECK(errors >= 1);
    FAILS(TOLLGATE_STORE_FAULT, "", tollgate_settings_get(limiter, TEXT("log.check"), value, sizeof value, &length));
    FAILS(TOLLGATE_STORE_FAULT, "", tollgate_counter(limiter, rule, TEXT("u1"), &counter));
    FAILS(TOLLGATE_STORE_FAULT, "", tollgate_clear(limiter, rule, TEXT("u1")));
    OK(tollgate_store_state(limiter, &state, why, sizeof why, &length));
    CHECK(state.fault != TOLLGATE_FAULT_NONE && length == strlen(why) && strchr(why, '[') != NULL);
    EXPECT(TOLLGATE_BUFFER_TOO_SMALL, tollgate_store_state(limiter, &state, why, 4, &length));
    CHECK(state.connects == 1 && length > 4 && strlen(why) == 3);

    await("start");
    do {
        pause_briefly();
        decision = acquire(limiter, rule, "u2");
    } while (decision.outcome == TOLLGATE_OUTCOME_FAULT_ALLOWED);
    CHECK(decision.outcome == TOLLGATE_OUTCOME_ALLOWED && decision.count == 1);
    CHECK(acquire(limiter, rule, "u2").outcome == TOLLGATE_OUTCOME_LIMITED);
    TOLLGATE_INIT(stats);
    OK(tollgate_stats(limiter, &stats));
    CHECK(stats.fault_allowed >= 1 && stats.allowed == 2 && stats.limited == 2 && stats.store_up == 1);
    OK(tollgate_store_state(limiter, &state, why, sizeof why, &length));
    CHECK(state.connects >= 2 && state.fault == TOLLGATE_FAULT_NONE && length == 0);
    OK(tollgate_close(limiter));
    OK(tollgate_on_log(0, NULL, NULL));
    return 0;
}
