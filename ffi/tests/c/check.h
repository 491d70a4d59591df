/* What the test programs share: they are compiled as C99 and as C++17. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tollgate.h"

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);         \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

/* The call's status is this one. */
#define EXPECT(status, call) expect(call, status, __FILE__, __LINE__, #call)
#define OK(call) EXPECT(TOLLGATE_OK, call)

/* The call fails with this status, and the last error says so with a text that contains this. */
#define FAILS(status, says, call)                                                             \
    do {                                                                                      \
        EXPECT(status, call);                                                                 \
        check_last_error(status, says, __FILE__, __LINE__);                                   \
    } while (0)

/* A text and its length. */
#define TEXT(text) (text), strlen(text)

static inline void expect(tollgate_status got, tollgate_status wanted, const char *file, int line, const char *call)
{
    if (got != wanted) {
        char why[1024] = "";
        size_t length = 0;
        tollgate_last_error(why, sizeof why, &length, NULL);
        fprintf(stderr, "%s:%d: %s gave %d instead of %d; last error: %s\n", file, line, call, (int) got,
                (int) wanted, why);
        exit(1);
    }
}

static inline void check_last_error(tollgate_status status, const char *says, const char *file, int line)
{
    char why[1024];
    size_t length = 0;
    tollgate_status code = TOLLGATE_OK;
    tollgate_last_error(why, sizeof why, &length, &code);
    if (code != status || strstr(why, says) == NULL || length != strlen(why)) {
        fprintf(stderr, "%s:%d: last error is %d \"%s\" instead of %d \"…%s…\"\n", file, line, (int) code, why,
                (int) status, says);
        exit(1);
    }
}

static inline tollgate_limiter *open_limiter(const char *url)
{
    tollgate_limiter *limiter = NULL;
    OK(tollgate_open(TEXT(url), NULL, &limiter));
    CHECK(limiter != NULL);
    return limiter;
}

static inline tollgate_rule_spec spec_of(const char *name, uint64_t interval_seconds, uint64_t limit)
{
    tollgate_rule_spec spec;
    TOLLGATE_INIT(spec);
    spec.module = "wms";
    spec.module_len = 3;
    spec.name = name;
    spec.name_len = strlen(name);
    spec.interval_seconds = interval_seconds;
    spec.limit = limit;
    return spec;
}

static inline tollgate_rule *register_rule(tollgate_limiter *limiter, const char *name, uint64_t interval, uint64_t limit)
{
    tollgate_rule_spec spec = spec_of(name, interval, limit);
    tollgate_rule *rule = NULL;
    OK(tollgate_rule_register(limiter, &spec, &rule));
    CHECK(rule != NULL);
    return rule;
}

static inline tollgate_decision acquire(tollgate_limiter *limiter, tollgate_rule *rule, const char *user)
{
    tollgate_decision decision;
    TOLLGATE_INIT(decision);
    OK(tollgate_acquire(limiter, rule, TEXT(user), &decision));
    return decision;
}

#endif
