/* The log callback. */
#include "check.h"

struct log {
    tollgate_limiter *limiter;
    int lines;
    int level;
    char text[512];
};

static void write_line(int32_t level, const char *message, size_t message_len, void *userdata)
{
    struct log *log = (struct log *) userdata;
    CHECK(message[message_len] == '\0' && strlen(message) == message_len);
    log->lines++;
    log->level = level;
    strncpy(log->text, message, sizeof log->text - 1);
    /* What would wait for this callback says so instead. */
    FAILS(TOLLGATE_IN_CALLBACK, "tollgate_on_log", tollgate_on_log(TOLLGATE_LEVEL_INFO, NULL, NULL));
    FAILS(TOLLGATE_IN_CALLBACK, "tollgate_close", tollgate_close(log->limiter));
}

/* Makes the next hit log a warning that names this limit. */
static void misspell(tollgate_limiter *limiter, tollgate_rule *rule, const char *name)
{
    tollgate_rule_spec spec = spec_of(name, 3, 2);
    tollgate_rule *again = NULL;
    /* Two rules of one name with different defaults. */
    OK(tollgate_rule_register(limiter, &spec, &again));
    CHECK(again != rule);
}

int main(void)
{
    struct log first, second;
    tollgate_limiter *limiter = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "A.a", 3, 1);
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    first.limiter = second.limiter = limiter;

    FAILS(TOLLGATE_BAD_VALUE, "max_level 0", tollgate_on_log(0, write_line, &first));
    FAILS(TOLLGATE_BAD_VALUE, "max_level 6", tollgate_on_log(6, write_line, &first));
    FAILS(TOLLGATE_BAD_VALUE, "max_level -1", tollgate_on_log(-1, write_line, &first));
    misspell(limiter, rule, "A.a");
    OK(tollgate_on_log(TOLLGATE_LEVEL_WARN, write_line, &first));
    misspell(limiter, register_rule(limiter, "B.b", 3, 1), "B.b");
    CHECK(first.lines == 1 && first.level == TOLLGATE_LEVEL_WARN && strstr(first.text, "wms.B.b") != NULL);

    /* The next callback takes over. */
    OK(tollgate_on_log(TOLLGATE_LEVEL_TRACE, write_line, &second));
    misspell(limiter, register_rule(limiter, "C.c", 3, 1), "C.c");
    CHECK(first.lines == 1 && second.lines == 1 && strstr(second.text, "wms.C.c") != NULL);

    /* A level that is too quiet, and none. */
    OK(tollgate_on_log(TOLLGATE_LEVEL_ERROR, write_line, &second));
    misspell(limiter, register_rule(limiter, "D.d", 3, 1), "D.d");
    OK(tollgate_on_log(0, NULL, NULL));
    misspell(limiter, register_rule(limiter, "E.e", 3, 1), "E.e");
    CHECK(first.lines == 1 && second.lines == 1);
    OK(tollgate_close(limiter));
    return 0;
}
