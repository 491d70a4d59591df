/* Opening, limiting, settings and statistics on the memory store. */
#include "check.h"

#include <time.h>

static void limits_and_resets(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 2);
    tollgate_decision decision = acquire(limiter, rule, "u1");
    CHECK(decision.outcome == TOLLGATE_OUTCOME_ALLOWED && decision.allowed == 1 && decision.fault == TOLLGATE_FAULT_NONE);
    CHECK(decision.count == 1 && decision.limit == 2 && decision.remaining == 1 && decision.should_record == 0);
    CHECK(decision.reset_after_ms > 0 && decision.reset_after_ms <= 3600 * 1000);
    CHECK(decision.size == sizeof decision);
    CHECK(acquire(limiter, rule, "u1").allowed);
    decision = acquire(limiter, rule, "u1");
    CHECK(decision.outcome == TOLLGATE_OUTCOME_LIMITED && decision.allowed == 0 && decision.should_record == 1);
    CHECK(decision.count == 3 && decision.remaining == 0);
    CHECK(acquire(limiter, rule, "u2").count == 1);

    CHECK(acquire(limiter, rule, "").outcome == TOLLGATE_OUTCOME_NO_IDENTITY);
    CHECK(acquire(limiter, rule, " \t").outcome == TOLLGATE_OUTCOME_NO_IDENTITY);
    CHECK(acquire(limiter, rule, "undefined").outcome == TOLLGATE_OUTCOME_NO_IDENTITY);

    /* A window of a second ends, however slow this machine is. */
    rule = register_rule(limiter, "Short.window", 1, 1);
    CHECK(acquire(limiter, rule, "u1").allowed);
    do {
        const struct timespec pause = {0, 20 * 1000 * 1000};
        nanosleep(&pause, NULL);
        decision = acquire(limiter, rule, "u1");
    } while (decision.outcome == TOLLGATE_OUTCOME_LIMITED);
    CHECK(decision.outcome == TOLLGATE_OUTCOME_ALLOWED && decision.count == 1);
    OK(tollgate_close(limiter));
}

static void users_are_bytes_with_a_length(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    tollgate_decision decision;
    size_t big = 1 << 20;
    char *user = (char *) malloc(big);
    CHECK(user != NULL);
    TOLLGATE_INIT(decision);
    /* A NUL is a character like others, and different users don't meet. */
    OK(tollgate_acquire(limiter, rule, "a\0b", 3, &decision));
    CHECK(decision.count == 1);
    OK(tollgate_acquire(limiter, rule, "a\0c", 3, &decision));
    CHECK(decision.count == 1);
    OK(tollgate_acquire(limiter, rule, "a", 1, &decision));
    CHECK(decision.count == 1);
    OK(tollgate_acquire(limiter, rule, TEXT("\xe5\xbc\xa0\xe4\xb8\x89"), &decision));
    CHECK(decision.count == 1);
    OK(tollgate_acquire(limiter, rule, TEXT("\xed\xa0\x80"), &decision));
    CHECK(decision.count == 1);
    memset(user, 'x', big);
    OK(tollgate_acquire(limiter, rule, user, big, &decision));
    CHECK(decision.count == 1);
    OK(tollgate_acquire(limiter, rule, user, big - 1, &decision));
    CHECK(decision.count == 1);
    OK(tollgate_acquire(limiter, rule, user, big, &decision));
    CHECK(decision.count == 2);
    free(user);
    OK(tollgate_close(limiter));
}

struct seen {
    int fields;
    char last[256];
    tollgate_limiter *limiter;
};

static void see(const char *field, size_t field_len, const char *value, size_t value_len, void *userdata)
{
    struct seen *seen = (struct seen *) userdata;
    char buffer[16];
    size_t length;
    CHECK(field_len < sizeof seen->last);
    /* Other functions may be called from here. */
    OK(tollgate_settings_get(seen->limiter, field, field_len, buffer, sizeof buffer, &length));
    CHECK(length == value_len && memcmp(buffer, value, length) == 0);
    memcpy(seen->last, field, field_len);
    seen->last[field_len] = '\0';
    seen->fields++;
}

static void settings_rule_the_next_hit(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    struct seen seen;
    char value[16];
    size_t length = 0;
    FAILS(TOLLGATE_NOT_FOUND, "wms.Order.list.limit",
          tollgate_settings_get(limiter, TEXT("wms.Order.list.limit"), value, sizeof value, &length));
    CHECK(acquire(limiter, rule, "u1").allowed);
    OK(tollgate_settings_get(limiter, TEXT("wms.Order.list.limit"), value, sizeof value, &length));
    CHECK(length == 1 && strcmp(value, "1") == 0);

    OK(tollgate_settings_set(limiter, TEXT("wms.Order.list.limit"), TEXT("2")));
    CHECK(acquire(limiter, rule, "u1").allowed);
    CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_LIMITED);
    OK(tollgate_settings_set(limiter, TEXT("wms.Order.list.check"), TEXT("shadow")));
    CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_SHADOWED);
    OK(tollgate_settings_set(limiter, TEXT("wms.Order.list.check"), TEXT("false")));
    CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_OFF);
    FAILS(TOLLGATE_BAD_SETTING, "wms.Order.list.limit",
          tollgate_settings_set(limiter, TEXT("wms.Order.list.limit"), TEXT("many")));
    FAILS(TOLLGATE_BAD_SETTING, "nothing", tollgate_settings_set(limiter, TEXT("nothing"), TEXT("1")));

    memset(&seen, 0, sizeof seen);
    seen.limiter = limiter;
    OK(tollgate_settings_list(limiter, see, &seen));
    CHECK(seen.fields == 4 && strcmp(seen.last, "wms.Order.list.limit") == 0);
    OK(tollgate_close(limiter));
}

static void statistics_count_everything(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    tollgate_stats_snapshot stats;
    CHECK(register_rule(limiter, "Order.list", 3600, 1) == rule);
    CHECK(register_rule(limiter, "Order.list", 3600, 2) != rule);
    acquire(limiter, rule, "u1");
    acquire(limiter, rule, "u1");
    acquire(limiter, rule, "u2");
    acquire(limiter, rule, "");
    TOLLGATE_INIT(stats);
    OK(tollgate_stats(limiter, &stats));
    CHECK(stats.allowed == 2 && stats.limited == 1 && stats.no_identity == 1);
    CHECK(stats.shadowed + stats.off + stats.fault_allowed + stats.fault_denied == 0);
    CHECK(stats.fault_local_allowed + stats.fault_local_limited == 0);
    CHECK(stats.rules == 2 && stats.counters == 2 && stats.store_up == 1);
    OK(tollgate_close(limiter));
}

static void counters_are_shown_and_cleared(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3600, 1);
    tollgate_counter_snapshot counter;
    tollgate_store_snapshot state;
    char why[8] = "#";
    size_t length = 99;
    int i;
    TOLLGATE_INIT(counter);
    FAILS(TOLLGATE_NOT_FOUND, "nothing", tollgate_counter(limiter, rule, TEXT("u1"), &counter));
    FAILS(TOLLGATE_NOT_FOUND, "nothing", tollgate_counter(limiter, rule, TEXT(" "), &counter));
    FAILS(TOLLGATE_NOT_FOUND, "nothing", tollgate_clear(limiter, rule, TEXT("u1")));
    acquire(limiter, rule, "u1");
    acquire(limiter, rule, "u1");
    for (i = 0; i < 2; i++) {
        OK(tollgate_counter(limiter, rule, TEXT("u1"), &counter));
        CHECK(counter.count == 2 && counter.ends_in_ms > 0 && counter.ends_in_ms <= 3600 * 1000);
    }
    CHECK(counter.size == sizeof counter);
    OK(tollgate_clear(limiter, rule, TEXT("u1")));
    FAILS(TOLLGATE_NOT_FOUND, "nothing", tollgate_clear(limiter, rule, TEXT("u1")));
    CHECK(acquire(limiter, rule, "u1").count == 1);
    FAILS(TOLLGATE_NULL_ARGUMENT, "counter", tollgate_counter(limiter, rule, TEXT("u1"), NULL));
    FAILS(TOLLGATE_NULL_ARGUMENT, "rule", tollgate_clear(limiter, NULL, TEXT("u1")));
    FAILS(TOLLGATE_NULL_ARGUMENT, "user", tollgate_clear(limiter, rule, NULL, 2));
    FAILS(TOLLGATE_NOT_UTF8, "user", tollgate_clear(limiter, rule, "\xff", 1));
    counter.size = 8;
    FAILS(TOLLGATE_BAD_SIZE, "counter.size is 8", tollgate_counter(limiter, rule, TEXT("u1"), &counter));

    TOLLGATE_INIT(state);
    OK(tollgate_store_state(limiter, &state, why, sizeof why, &length));
    CHECK(state.connects == 0 && state.fault == TOLLGATE_FAULT_NONE && length == 0 && why[0] == '\0');
    FAILS(TOLLGATE_NULL_ARGUMENT, "state", tollgate_store_state(limiter, NULL, why, sizeof why, &length));
    FAILS(TOLLGATE_NULL_ARGUMENT, "length", tollgate_store_state(limiter, &state, why, sizeof why, NULL));
    OK(tollgate_close(limiter));
    TOLLGATE_INIT(counter);
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_counter(limiter, rule, TEXT("u1"), &counter));
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_clear(limiter, rule, TEXT("u1")));
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_store_state(limiter, &state, why, sizeof why, &length));
}

static void options_are_obeyed(void)
{
    tollgate_limiter *limiter = NULL;
    tollgate_options options;
    tollgate_rule_spec spec = spec_of("Order.list", 3600, 1);
    tollgate_rule *rule = NULL;
    char store[64];
    size_t length = 0;
    TOLLGATE_INIT(options);
    options.deadline_ms = 60000;
    options.connect_timeout_ms = 1;
    options.max_counters = 1;
    options.prefix = "mine";
    options.prefix_len = 4;
    options.on_fault = TOLLGATE_ON_FAULT_LOCAL;
    OK(tollgate_open(TEXT("memory:"), &options, &limiter));
    OK(tollgate_store(limiter, store, sizeof store, &length));
    CHECK(strcmp(store, "memory") == 0 && length == 6);
    spec.message_key = "operate_too_frequent";
    spec.message_key_len = strlen(spec.message_key);
    spec.on_fault = TOLLGATE_ON_FAULT_DENY;
    OK(tollgate_rule_register(limiter, &spec, &rule));
    CHECK(acquire(limiter, rule, "u1").allowed);
    OK(tollgate_close(limiter));
}

static void names_are_constants(void)
{
    const char *name = NULL;
    OK(tollgate_outcome_name(TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED, &name));
    CHECK(strcmp(name, "FAULT_LOCAL_LIMITED") == 0);
    OK(tollgate_status_name(TOLLGATE_PANIC, &name));
    CHECK(strcmp(name, "TOLLGATE_PANIC") == 0);
    OK(tollgate_version(&name));
    CHECK(strcmp(name, EXPECTED_VERSION) == 0);
    FAILS(TOLLGATE_BAD_VALUE, "outcome 9", tollgate_outcome_name(9, &name));
    FAILS(TOLLGATE_BAD_VALUE, "outcome -1", tollgate_outcome_name(-1, &name));
    FAILS(TOLLGATE_BAD_VALUE, "status 17", tollgate_status_name(17, &name));
}

int main(void)
{
    limits_and_resets();
    users_are_bytes_with_a_length();
    settings_rule_the_next_hit();
    statistics_count_everything();
    counters_are_shown_and_cleared();
    options_are_obeyed();
    names_are_constants();
    return 0;
}
