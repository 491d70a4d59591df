/* Threads that ask one limiter while others close it and open more. */
#include "check.h"

#include <pthread.h>

#define THREADS 4

/* What the threads share. Handles may be read while they change: any value is safe to pass. */
struct shared {
    pthread_mutex_t lock;
    tollgate_limiter *limiter;
    tollgate_rule *rule;
    int over;
};

static void *hammer(void *argument)
{
    struct shared *shared = (struct shared *) argument;
    unsigned long *answered = (unsigned long *) calloc(1, sizeof *answered);
    CHECK(answered != NULL);
    for (;;) {
        tollgate_decision decision;
        tollgate_limiter *limiter;
        tollgate_rule *rule;
        tollgate_status status;
        int over;
        pthread_mutex_lock(&shared->lock);
        limiter = shared->limiter;
        rule = shared->rule;
        over = shared->over;
        pthread_mutex_unlock(&shared->lock);
        if (over) {
            return answered;
        }
        TOLLGATE_INIT(decision);
        do {
            status = tollgate_acquire(limiter, rule, TEXT("u1"), &decision);
            CHECK(status == TOLLGATE_OK || status == TOLLGATE_CLOSED);
            if (status == TOLLGATE_OK) {
                CHECK(decision.outcome == TOLLGATE_OUTCOME_ALLOWED && decision.count > 0);
                ++*answered;
            }
        } while (status == TOLLGATE_OK);
    }
}

static void publish(struct shared *shared, tollgate_limiter *limiter, tollgate_rule *rule, int over)
{
    pthread_mutex_lock(&shared->lock);
    shared->limiter = limiter;
    shared->rule = rule;
    shared->over = over;
    pthread_mutex_unlock(&shared->lock);
}

static void *last_error_of_my_own(void *argument)
{
    char text[64];
    size_t length = 0;
    tollgate_status code = TOLLGATE_PANIC;
    (void) argument;
    OK(tollgate_last_error(text, sizeof text, &length, &code));
    CHECK(code == TOLLGATE_OK && length == 0);
    FAILS(TOLLGATE_NULL_ARGUMENT, "version", tollgate_version(NULL));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS], alone;
    struct shared shared;
    unsigned long answered = 0;
    /* Valgrind runs one thread at a time, and slowly. */
    const int rounds = getenv("UNDER_VALGRIND") != NULL ? 20 : 300;
    int i;
    memset(&shared, 0, sizeof shared);
    pthread_mutex_init(&shared.lock, NULL);
    shared.limiter = open_limiter("memory:");
    shared.rule = register_rule(shared.limiter, "Order.list", 3600, INT64_MAX);
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, hammer, &shared) == 0);
    }
    for (i = 0; i < rounds; i++) {
        tollgate_limiter *before = shared.limiter;
        tollgate_stats_snapshot stats;
        TOLLGATE_INIT(stats);
        /* Until somebody was answered by this one. */
        do {
            OK(tollgate_stats(before, &stats));
        } while (stats.allowed == 0);
        {
            tollgate_limiter *next = open_limiter("memory:");
            publish(&shared, next, register_rule(next, "Order.list", 3600, INT64_MAX), 0);
        }
        OK(tollgate_close(before));
        EXPECT(TOLLGATE_CLOSED, tollgate_close(before));
    }
    {
        tollgate_limiter *last = shared.limiter;
        publish(&shared, last, shared.rule, 1);
        OK(tollgate_close(last));
    }
    for (i = 0; i < THREADS; i++) {
        void *result = NULL;
        CHECK(pthread_join(threads[i], &result) == 0);
        answered += *(unsigned long *) result;
        free(result);
    }
    CHECK(answered >= (unsigned long) rounds);

    /* Texts of failures stay on their thread. */
    EXPECT(TOLLGATE_NULL_ARGUMENT, tollgate_close(NULL));
    CHECK(pthread_create(&alone, NULL, last_error_of_my_own, NULL) == 0);
    CHECK(pthread_join(alone, NULL) == 0);
    check_last_error(TOLLGATE_NULL_ARGUMENT, "limiter", __FILE__, __LINE__);
    return 0;
}
