/* Several hits in one call. */
#include "check.h"

static tollgate_hit hit(tollgate_rule *rule, const char *user)
{
    tollgate_hit hit;
    TOLLGATE_INIT(hit);
    hit.rule = rule;
    hit.user = user;
    hit.user_len = strlen(user);
    return hit;
}

static void limits(tollgate_limiter *limiter)
{
    tollgate_rule *often = register_rule(limiter, "several.often", 3600, 1);
    tollgate_rule *daily = register_rule(limiter, "several.daily", 86400, 3);
    tollgate_hit hits[5];
    tollgate_decision decisions[5];
    size_t tightest = 99;
    int i;
    hits[0] = hit(daily, "u1");
    hits[1] = hit(often, "u1");
    hits[2] = hit(often, "");
    hits[3] = hit(daily, "u1");
    hits[4] = hit(often, "u2");
    for (i = 0; i < 5; i++) {
        TOLLGATE_INIT(decisions[i]);
    }
    OK(tollgate_acquire_all(limiter, hits, 5, decisions, &tightest));
    CHECK(decisions[0].count == 1 && decisions[3].count == 2 && decisions[3].limit == 3);
    CHECK(decisions[1].count == 1 && decisions[4].count == 1);
    CHECK(decisions[2].outcome == TOLLGATE_OUTCOME_NO_IDENTITY && decisions[2].allowed == 1);
    /* None left of the rule for an hour, one of the other. */
    CHECK((tightest == 1 || tightest == 4) && decisions[4].size == sizeof decisions[4]);
    OK(tollgate_acquire_all(limiter, hits, 4, decisions, &tightest));
    CHECK(decisions[1].outcome == TOLLGATE_OUTCOME_LIMITED && decisions[3].outcome == TOLLGATE_OUTCOME_LIMITED);
    /* That of the day lasts longer. */
    CHECK(tightest == 3 && decisions[0].allowed == 1 && decisions[3].count == 4);
    CHECK(acquire(limiter, daily, "u1").count == 5);
    OK(tollgate_acquire_all(limiter, hits + 2, 1, decisions, &tightest));
    CHECK(tightest == 1);
    OK(tollgate_acquire_all(limiter, hits, 5, decisions, NULL));
    CHECK(decisions[4].count == 2);
}

static void misuse(tollgate_limiter *limiter)
{
    tollgate_limiter *other = open_limiter("memory:");
    tollgate_rule *rule = register_rule(limiter, "several.misuse", 3600, 1);
    tollgate_rule *others = register_rule(other, "several.misuse", 3600, 1);
    tollgate_hit hits[65];
    tollgate_decision decisions[65];
    size_t tightest = 99;
    const size_t none = 0;
    int i;
    for (i = 0; i < 65; i++) {
        hits[i] = hit(rule, "u1");
        TOLLGATE_INIT(decisions[i]);
    }
    FAILS(TOLLGATE_NULL_ARGUMENT, "limiter", tollgate_acquire_all(NULL, hits, 2, decisions, &tightest));
    FAILS(TOLLGATE_NULL_ARGUMENT, "hits", tollgate_acquire_all(limiter, NULL, 2, decisions, &tightest));
    FAILS(TOLLGATE_NULL_ARGUMENT, "decisions", tollgate_acquire_all(limiter, hits, 2, NULL, &tightest));
    FAILS(TOLLGATE_BAD_VALUE, "1 to 64", tollgate_acquire_all(limiter, hits, none, decisions, &tightest));
    FAILS(TOLLGATE_BAD_VALUE, "count is 65", tollgate_acquire_all(limiter, hits, 65, decisions, &tightest));
    FAILS(TOLLGATE_BAD_VALUE, "64", tollgate_acquire_all(limiter, hits, (size_t) -1, decisions, &tightest));
    hits[1].rule = NULL;
    FAILS(TOLLGATE_NULL_ARGUMENT, "hits[1].rule", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[1].rule = others;
    FAILS(TOLLGATE_FOREIGN_RULE, "hits[1]", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[1] = hit(rule, "u1");
    hits[1].user = NULL;
    FAILS(TOLLGATE_NULL_ARGUMENT, "hits[1].user", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[1] = hit(rule, "\xff");
    FAILS(TOLLGATE_NOT_UTF8, "hits[1]", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[1].user_len = ((size_t) 1 << 20) + 1;
    FAILS(TOLLGATE_TOO_LONG, "hits[1].user", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[1] = hit(rule, "u1");
    hits[1].size = sizeof hits[1] + 8;
    FAILS(TOLLGATE_BAD_SIZE, "hits[1].size is 40", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[0].size = 0;
    FAILS(TOLLGATE_BAD_SIZE, "hits[0].size is 0", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    hits[0] = hits[1] = hit(rule, "u1");
    decisions[1].size = sizeof decisions[1] + 8;
    FAILS(TOLLGATE_BAD_SIZE, "decisions[1].size", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    decisions[0].size = 1;
    FAILS(TOLLGATE_BAD_SIZE, "decisions[0].size is 1", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    CHECK(tightest == 99);
    TOLLGATE_INIT(decisions[0]);
    TOLLGATE_INIT(decisions[1]);
    OK(tollgate_close(other));
    FAILS(TOLLGATE_CLOSED, "closed", tollgate_acquire_all(other, hits, 2, decisions, &tightest));
    hits[0].rule = others;
    FAILS(TOLLGATE_FOREIGN_RULE, "hits[0]", tollgate_acquire_all(limiter, hits, 2, decisions, &tightest));
    /* None of it was a hit. */
    hits[0] = hit(rule, "u1");
    OK(tollgate_acquire_all(limiter, hits, 64, decisions, &tightest));
    CHECK(decisions[63].count == 64 && tightest >= 1 && tightest < 64);
}

/* Arrays of a program with a later header, whose structs are larger. */
static void sizes(tollgate_limiter *limiter)
{
    struct {
        tollgate_hit known;
        uint64_t more;
    } hits[2];
    struct {
        tollgate_decision known;
        uint64_t more;
    } decisions[2];
    tollgate_rule *rule = register_rule(limiter, "several.sizes", 3600, 1);
    size_t tightest = 99;
    int i;
    for (i = 0; i < 2; i++) {
        memset(&hits[i], 0, sizeof hits[i]);
        hits[i].known = hit(rule, "u1");
        hits[i].known.size = sizeof hits[i];
        memset(&decisions[i], 0, sizeof decisions[i]);
        decisions[i].known.size = sizeof decisions[i];
        decisions[i].more = 77;
    }
    OK(tollgate_acquire_all(limiter, &hits[0].known, 2, &decisions[0].known, &tightest));
    CHECK(decisions[0].known.count == 1 && decisions[1].known.count == 2 && tightest == 1);
    CHECK(decisions[0].more == 77 && decisions[1].more == 77 && decisions[1].known.size == sizeof decisions[1]);
    hits[1].more = 1;
    FAILS(TOLLGATE_BAD_SIZE, "hits[1]", tollgate_acquire_all(limiter, &hits[0].known, 2, &decisions[0].known, &tightest));
    CHECK(acquire(limiter, rule, "u1").count == 3);
}

struct seen {
    int calls;
    tollgate_status status;
    size_t count;
    size_t tightest;
    tollgate_decision decisions[2];
};

static void see(tollgate_status status, const tollgate_decision *decisions, size_t count, size_t tightest, void *userdata)
{
    struct seen *seen = (struct seen *) userdata;
    seen->calls++;
    seen->status = status;
    seen->count = count;
    seen->tightest = tightest;
    CHECK(count == 2);
    memcpy(seen->decisions, decisions, sizeof seen->decisions);
}

static void later(tollgate_limiter *limiter)
{
    tollgate_rule *often = register_rule(limiter, "several.later", 3600, 1);
    tollgate_rule *daily = register_rule(limiter, "several.later.daily", 86400, 9);
    tollgate_hit hits[2];
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    hits[0] = hit(daily, "u1");
    hits[1] = hit(often, "u1");
    FAILS(TOLLGATE_NULL_ARGUMENT, "callback", tollgate_acquire_all_async(limiter, hits, 2, NULL, &seen));
    FAILS(TOLLGATE_BAD_VALUE, "count is 0", tollgate_acquire_all_async(limiter, hits, 0, see, &seen));
    FAILS(TOLLGATE_NULL_ARGUMENT, "hits", tollgate_acquire_all_async(limiter, NULL, 2, see, &seen));
    CHECK(seen.calls == 0);
    OK(tollgate_acquire_all_async(limiter, hits, 2, see, &seen));
    OK(tollgate_acquire_all_async(limiter, hits, 2, see, &seen));
    CHECK(seen.calls == 2 && seen.status == TOLLGATE_OK && seen.count == 2 && seen.tightest == 1);
    CHECK(seen.decisions[0].count == 2 && seen.decisions[0].allowed == 1);
    CHECK(seen.decisions[1].outcome == TOLLGATE_OUTCOME_LIMITED && seen.decisions[1].size == sizeof seen.decisions[1]);
}

int main(void)
{
    tollgate_limiter *limiter = open_limiter("memory:");
    limits(limiter);
    misuse(limiter);
    sizes(limiter);
    later(limiter);
    OK(tollgate_close(limiter));
    return 0;
}
