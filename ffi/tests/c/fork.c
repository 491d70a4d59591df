/* A process that forks: the child's limiter answers with a fault, and each process gets its own replies. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    tollgate_limiter *limiter;
    tollgate_limiter *own;
    tollgate_rule *rule;
    tollgate_rule_spec spec = spec_of("Order.list", 600, 1);
    tollgate_options options;
    int i;
    int status = 0;
    pid_t child;
    CHECK(count == 2);
    TOLLGATE_INIT(options);
    options.connect_timeout_ms = 20000;
    OK(tollgate_open(TEXT(arguments[1]), &options, &limiter));
    /* The rule's own deadline, generous under valgrind. */
    spec.deadline_ms = 20000;
    OK(tollgate_rule_register(limiter, &spec, &rule));
    CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_ALLOWED);

    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (i = 0; i < 100; i++) {
            CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_FAULT_ALLOWED);
        }
        OK(tollgate_close(limiter));
        OK(tollgate_open(TEXT(arguments[1]), &options, &own));
        OK(tollgate_rule_register(own, &spec, &rule));
        CHECK(acquire(own, rule, "u1").outcome == TOLLGATE_OUTCOME_LIMITED);
        OK(tollgate_close(own));
        /* Without the parent's exit handlers. */
        _exit(0);
    }
    for (i = 0; i < 100; i++) {
        CHECK(acquire(limiter, rule, "u1").outcome == TOLLGATE_OUTCOME_LIMITED);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(acquire(limiter, rule, "u2").outcome == TOLLGATE_OUTCOME_ALLOWED);
    OK(tollgate_close(limiter));
    return 0;
}
