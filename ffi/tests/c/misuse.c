/* What is wrong with an argument gives a status and a text, whatever it is. */
#include "check.h"

static void nulls(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_limiter *other = NULL;
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3, 1);
    tollgate_rule_spec spec = spec_of("Order.list", 3, 1);
    tollgate_decision decision;
    tollgate_stats_snapshot stats;
    char buffer[8];
    size_t length;
    const tollgate_status null = TOLLGATE_NULL_ARGUMENT;
    TOLLGATE_INIT(decision);
    TOLLGATE_INIT(stats);

    FAILS(null, "url", tollgate_open(NULL, 7, NULL, &other));
    FAILS(null, "url", tollgate_open(NULL, 0, NULL, &other));
    FAILS(null, "limiter", tollgate_open(TEXT("memory:"), NULL, NULL));
    FAILS(null, "limiter", tollgate_rule_register(NULL, &spec, &rule));
    FAILS(null, "spec", tollgate_rule_register(limiter, NULL, &rule));
    FAILS(null, "rule", tollgate_rule_register(limiter, &spec, NULL));
    spec.module = NULL;
    FAILS(null, "spec.module", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, 1);
    spec.name = NULL;
    FAILS(null, "spec.name", tollgate_rule_register(limiter, &spec, &rule));
    FAILS(null, "limiter", tollgate_acquire(NULL, rule, TEXT("u1"), &decision));
    FAILS(null, "rule", tollgate_acquire(limiter, NULL, TEXT("u1"), &decision));
    FAILS(null, "user", tollgate_acquire(limiter, rule, NULL, 2, &decision));
    FAILS(null, "user", tollgate_acquire(limiter, rule, NULL, 0, &decision));
    FAILS(null, "decision", tollgate_acquire(limiter, rule, TEXT("u1"), NULL));
    FAILS(null, "limiter", tollgate_settings_get(NULL, TEXT("log.check"), buffer, sizeof buffer, &length));
    FAILS(null, "field", tollgate_settings_get(limiter, NULL, 9, buffer, sizeof buffer, &length));
    OK(tollgate_settings_set(limiter, TEXT("log.check"), TEXT("true")));
    FAILS(null, "buffer", tollgate_settings_get(limiter, TEXT("log.check"), NULL, sizeof buffer, &length));
    FAILS(null, "length", tollgate_settings_get(limiter, TEXT("log.check"), buffer, sizeof buffer, NULL));
    FAILS(null, "limiter", tollgate_settings_set(NULL, TEXT("log.check"), TEXT("true")));
    FAILS(null, "field", tollgate_settings_set(limiter, NULL, 9, TEXT("true")));
    FAILS(null, "value", tollgate_settings_set(limiter, TEXT("log.check"), NULL, 4));
    FAILS(null, "limiter", tollgate_settings_list(NULL, NULL, NULL));
    FAILS(null, "callback", tollgate_settings_list(limiter, NULL, NULL));
    FAILS(null, "limiter", tollgate_stats(NULL, &stats));
    FAILS(null, "stats", tollgate_stats(limiter, NULL));
    FAILS(null, "limiter", tollgate_store(NULL, buffer, sizeof buffer, &length));
    FAILS(null, "name", tollgate_outcome_name(0, NULL));
    FAILS(null, "name", tollgate_status_name(0, NULL));
    FAILS(null, "version", tollgate_version(NULL));
    FAILS(null, "limiter", tollgate_close(NULL));
    EXPECT(null, tollgate_last_error(NULL, 8, &length, NULL));
    EXPECT(null, tollgate_last_error(buffer, sizeof buffer, NULL, NULL));
    /* None of it was a hit, and the limiter is as it was. */
    CHECK(acquire(limiter, rule, "u1").count == 1);
    OK(tollgate_close(limiter));
}

static void closed_and_foreign(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_limiter *other = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3, 1);
    tollgate_rule *others = register_rule(other, "Order.list", 3, 1);
    tollgate_rule_spec spec = spec_of("Order.list", 3, 1);
    tollgate_decision decision;
    tollgate_stats_snapshot stats;
    char buffer[8];
    size_t length;
    int i;
    TOLLGATE_INIT(decision);
    TOLLGATE_INIT(stats);

    FAILS(TOLLGATE_FOREIGN_RULE, "wms.Order.list", tollgate_acquire(limiter, others, TEXT("u1"), &decision));
    /* A limiter is no rule, and a rule is no limiter. */
    FAILS(TOLLGATE_FOREIGN_RULE, "register",
          tollgate_acquire(limiter, (tollgate_rule *) (void *) limiter, TEXT("u1"), &decision));
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_close((tollgate_limiter *) (void *) rule));
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_close((tollgate_limiter *) (void *) &decision));

    OK(tollgate_close(limiter));
    /* Their places are taken by others, and the handles stay closed. */
    for (i = 0; i < 3; i++) {
        tollgate_limiter *next = open_limiter("memory:");
        tollgate_rule *fresh = register_rule(next, "Order.list", 3, 1);
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_close(limiter));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_rule_register(limiter, &spec, &rule));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_acquire(limiter, rule, TEXT("u1"), &decision));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_settings_get(limiter, TEXT("log.check"), buffer, sizeof buffer, &length));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_settings_set(limiter, TEXT("log.check"), TEXT("true")));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_settings_list(limiter, NULL, NULL));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_stats(limiter, &stats));
        FAILS(TOLLGATE_CLOSED, "closed", tollgate_store(limiter, buffer, sizeof buffer, &length));
        FAILS(TOLLGATE_FOREIGN_RULE, "register", tollgate_acquire(next, rule, TEXT("u1"), &decision));
        CHECK(acquire(next, fresh, "u1").count == 1);
        OK(tollgate_close(next));
    }
    CHECK(acquire(other, others, "u1").count == 1);
    OK(tollgate_close(other));
}

static void too_long_and_not_utf8(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "Order.list", 3, 1);
    tollgate_rule_spec spec = spec_of("Order.list", 3, 1);
    tollgate_options options;
    tollgate_decision decision;
    char buffer[8];
    size_t length;
    size_t big = (1 << 20) + 1;
    char *large = (char *) malloc(big);
    CHECK(large != NULL);
    memset(large, 'x', big);
    TOLLGATE_INIT(decision);

    FAILS(TOLLGATE_TOO_LONG, "user has 1048577", tollgate_acquire(limiter, rule, large, big, &decision));
    FAILS(TOLLGATE_TOO_LONG, "user", tollgate_acquire(limiter, rule, large, (size_t) -1, &decision));
    FAILS(TOLLGATE_TOO_LONG, "url has 4097", tollgate_open(large, 4097, NULL, &limiter));
    spec.name = large;
    spec.name_len = 4097;
    FAILS(TOLLGATE_TOO_LONG, "spec.name", tollgate_rule_register(limiter, &spec, &rule));
    FAILS(TOLLGATE_TOO_LONG, "field", tollgate_settings_get(limiter, large, 4097, buffer, sizeof buffer, &length));
    FAILS(TOLLGATE_TOO_LONG, "value", tollgate_settings_set(limiter, TEXT("log.check"), large, 4097));
    free(large);

    FAILS(TOLLGATE_NOT_UTF8, "user", tollgate_acquire(limiter, rule, "ab\xff", 3, &decision));
    FAILS(TOLLGATE_NOT_UTF8, "byte 1", tollgate_acquire(limiter, rule, "x\xe5\xbc", 3, &decision));
    FAILS(TOLLGATE_NOT_UTF8, "user", tollgate_acquire(limiter, rule, "\xc0\x80", 2, &decision));
    FAILS(TOLLGATE_NOT_UTF8, "url \"\\xff\"", tollgate_open("\xff", 1, NULL, &limiter));
    spec = spec_of("\xed\xa0\x80", 3, 1);
    FAILS(TOLLGATE_NOT_UTF8, "spec.name", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, 1);
    spec.message_key = "\xff";
    spec.message_key_len = 1;
    FAILS(TOLLGATE_NOT_UTF8, "spec.message_key", tollgate_rule_register(limiter, &spec, &rule));
    TOLLGATE_INIT(options);
    options.prefix = "\xff";
    options.prefix_len = 1;
    FAILS(TOLLGATE_NOT_UTF8, "options.prefix", tollgate_open(TEXT("memory:"), &options, &limiter));
    FAILS(TOLLGATE_NOT_UTF8, "value", tollgate_settings_set(limiter, TEXT("log.check"), "\xff", 1));
    OK(tollgate_close(limiter));
}

static void values_that_are_not_usable(void)
{
    tollgate_limiter *limiter = NULL;
    tollgate_rule *rule = NULL;
    tollgate_rule_spec spec;
    tollgate_options options;
    FAILS(TOLLGATE_BAD_OPTION, "htp://x", tollgate_open(TEXT("htp://x"), NULL, &limiter));
    FAILS(TOLLGATE_BAD_OPTION, "", tollgate_open("", 0, NULL, &limiter));
    TOLLGATE_INIT(options);
    options.deadline_ms = 60001;
    FAILS(TOLLGATE_BAD_OPTION, "deadline", tollgate_open(TEXT("memory:"), &options, &limiter));
    TOLLGATE_INIT(options);
    options.connect_timeout_ms = UINT64_MAX;
    FAILS(TOLLGATE_BAD_OPTION, "connect timeout", tollgate_open(TEXT("memory:"), &options, &limiter));
    TOLLGATE_INIT(options);
    options.max_counters = UINT64_MAX;
    FAILS(TOLLGATE_BAD_OPTION, "max counters", tollgate_open(TEXT("memory:"), &options, &limiter));
    TOLLGATE_INIT(options);
    options.prefix = "a b";
    options.prefix_len = 3;
    FAILS(TOLLGATE_BAD_OPTION, "a b", tollgate_open(TEXT("memory:"), &options, &limiter));
    TOLLGATE_INIT(options);
    options.on_fault = 4;
    FAILS(TOLLGATE_BAD_VALUE, "on_fault 4", tollgate_open(TEXT("memory:"), &options, &limiter));
    TOLLGATE_INIT(options);
    options.reserved = 1;
    FAILS(TOLLGATE_BAD_VALUE, "reserved", tollgate_open(TEXT("memory:"), &options, &limiter));
    CHECK(limiter == NULL);

    limiter = open_limiter("memory:");
    spec = spec_of("Order.list", 0, 1);
    FAILS(TOLLGATE_BAD_RULE, "interval", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, 1);
    spec.deadline_ms = 60001;
    FAILS(TOLLGATE_BAD_RULE, "deadline", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, 1);
    spec = spec_of("Order.list", 31536001, 1);
    FAILS(TOLLGATE_BAD_RULE, "31536000", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, UINT64_MAX);
    FAILS(TOLLGATE_BAD_RULE, "18446744073709551615", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of(" ", 3, 1);
    FAILS(TOLLGATE_BAD_RULE, "name", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, 1);
    spec.module_len = 0;
    FAILS(TOLLGATE_BAD_RULE, "module", tollgate_rule_register(limiter, &spec, &rule));
    spec = spec_of("Order.list", 3, 1);
    spec.on_fault = -1;
    FAILS(TOLLGATE_BAD_VALUE, "on_fault -1", tollgate_rule_register(limiter, &spec, &rule));
    CHECK(rule == NULL);
    OK(tollgate_close(limiter));
}

static void sizes_of_structs(void)
{
    /* A header of a later version: the struct has a field that this library doesn't know. */
    struct later_options {
        tollgate_options known;
        uint64_t more;
    } later;
    struct later_decision {
        tollgate_decision known;
        uint64_t more;
    } answer;
    tollgate_limiter *limiter = NULL;
    tollgate_rule *rule;
    memset(&later, 0, sizeof later);
    FAILS(TOLLGATE_BAD_SIZE, "options.size is 0", tollgate_open(TEXT("memory:"), &later.known, &limiter));
    later.known.size = sizeof later.known - 1;
    FAILS(TOLLGATE_BAD_SIZE, "sizeof", tollgate_open(TEXT("memory:"), &later.known, &limiter));
    later.known.size = (size_t) -1;
    FAILS(TOLLGATE_BAD_SIZE, "options.size", tollgate_open(TEXT("memory:"), &later.known, &limiter));
    later.known.size = sizeof later;
    later.more = 1;
    FAILS(TOLLGATE_BAD_SIZE, "doesn't know", tollgate_open(TEXT("memory:"), &later.known, &limiter));
    later.more = 0;
    OK(tollgate_open(TEXT("memory:"), &later.known, &limiter));

    rule = register_rule(limiter, "Order.list", 3600, 1);
    memset(&answer, 0, sizeof answer);
    FAILS(TOLLGATE_BAD_SIZE, "decision.size is 0", tollgate_acquire(limiter, rule, TEXT("u1"), &answer.known));
    answer.known.size = sizeof answer;
    answer.more = 77;
    OK(tollgate_acquire(limiter, rule, TEXT("u1"), &answer.known));
    CHECK(answer.known.count == 1 && answer.known.size == sizeof answer && answer.more == 77);
    OK(tollgate_close(limiter));
}

static void buffers(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    char buffer[8];
    char text[512];
    size_t length = 99;
    tollgate_status code = TOLLGATE_PANIC;

    memset(buffer, '#', sizeof buffer);
    FAILS(TOLLGATE_BUFFER_TOO_SMALL, "needs 7", tollgate_store(limiter, buffer, 6, &length));
    CHECK(length == 6 && strcmp(buffer, "memor") == 0 && buffer[6] == '#');
    OK(tollgate_store(limiter, buffer, 7, &length));
    CHECK(length == 6 && strcmp(buffer, "memory") == 0);
    EXPECT(TOLLGATE_BUFFER_TOO_SMALL, tollgate_store(limiter, NULL, 0, &length));
    CHECK(length == 6);

    /* The text is cut between characters, and asking for it doesn't change it. */
    FAILS(TOLLGATE_BAD_SETTING, "\xe5\xbc\xa0", tollgate_settings_set(limiter, TEXT("\xe5\xbc\xa0"), TEXT("1")));
    OK(tollgate_last_error(text, sizeof text, &length, &code));
    CHECK(code == TOLLGATE_BAD_SETTING && strlen(text) == length);
    {
        size_t whole = length;
        size_t cut = (size_t) (strstr(text, "\xe5\xbc\xa0") - text) + 2;
        char again[512];
        memset(again, '#', sizeof again);
        EXPECT(TOLLGATE_BUFFER_TOO_SMALL, tollgate_last_error(again, cut + 1, &length, NULL));
        CHECK(length == whole && strlen(again) == cut - 2 && memcmp(again, text, cut - 2) == 0);
        OK(tollgate_last_error(again, sizeof again, &length, &code));
        CHECK(code == TOLLGATE_BAD_SETTING && strcmp(again, text) == 0);
    }
    OK(tollgate_close(limiter));
    /* A success leaves the last failure as it was. */
    OK(tollgate_last_error(text, sizeof text, &length, &code));
    CHECK(code == TOLLGATE_BAD_SETTING);
}

int main(void)
{
    char text[8];
    size_t length = 99;
    tollgate_status code = TOLLGATE_PANIC;
    OK(tollgate_last_error(text, sizeof text, &length, &code));
    CHECK(code == TOLLGATE_OK && length == 0 && text[0] == '\0');
    nulls();
    closed_and_foreign();
    too_long_and_not_utf8();
    values_that_are_not_usable();
    sizes_of_structs();
    buffers();
    return 0;
}
