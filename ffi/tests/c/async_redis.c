/* Decisions that a real server brings, or doesn't: told by the test through standard input, which says through standard output what it
   awaits. */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <time.h>

#define THREADS 4
#define MANY 400

/* One hit; its callback comes on another thread. */
struct hit {
    struct board *board;
    int calls;
    tollgate_decision decision;
};

struct board {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int answered;
    struct hit hits[THREADS * MANY];
};

struct submitter {
    pthread_t thread;
    tollgate_limiter *limiter;
    tollgate_rule *rule;
    struct board *board;
    int first;
};

static void answer(tollgate_status status, const tollgate_decision *decision, void *userdata)
{
    struct hit *hit = (struct hit *) userdata;
    CHECK(status == TOLLGATE_OK);
    pthread_mutex_lock(&hit->board->lock);
    hit->calls++;
    hit->decision = *decision;
    hit->board->answered++;
    pthread_cond_signal(&hit->board->changed);
    pthread_mutex_unlock(&hit->board->lock);
}

static void clear(struct board *board)
{
    int i;
    board->answered = 0;
    memset(board->hits, 0, sizeof board->hits);
    for (i = 0; i < THREADS * MANY; i++) {
        board->hits[i].board = board;
    }
}

/* Waits until so many are answered, each once; how many of them in this way. */
static int outcomes(struct board *board, int hits, int32_t outcome)
{
    int i, found = 0;
    pthread_mutex_lock(&board->lock);
    while (board->answered < hits) {
        pthread_cond_wait(&board->changed, &board->lock);
    }
    CHECK(board->answered == hits);
    for (i = 0; i < hits; i++) {
        CHECK(board->hits[i].calls == 1);
        found += board->hits[i].decision.outcome == outcome;
    }
    pthread_mutex_unlock(&board->lock);
    return found;
}

static void submit(tollgate_limiter *limiter, tollgate_rule *rule, const char *user, struct board *board, int first, int hits)
{
    int i;
    for (i = first; i < first + hits; i++) {
        OK(tollgate_acquire_async(limiter, rule, TEXT(user), answer, &board->hits[i]));
    }
}

static void *submit_many(void *argument)
{
    struct submitter *my = (struct submitter *) argument;
    submit(my->limiter, my->rule, "many", my->board, my->first, MANY);
    return NULL;
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

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int count = 0;
    CHECK(tasks != NULL);
    while ((task = readdir(tasks)) != NULL) {
        count += task->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

static tollgate_limiter *open_redis(const char *url, uint64_t deadline_ms)
{
    tollgate_limiter *limiter = NULL;
    tollgate_options options;
    TOLLGATE_INIT(options);
    options.deadline_ms = deadline_ms;
    options.connect_timeout_ms = 20000;
    OK(tollgate_open(TEXT(url), &options, &limiter));
    return limiter;
}

static void many_in_flight(const char *url, struct board *board)
{
    tollgate_limiter *limiter = open_redis(url, 60000);
    tollgate_rule *rule = register_rule(limiter, "Async.many", 3600, MANY);
    struct submitter submitters[THREADS];
    int i;
    clear(board);
    submit(limiter, rule, "u1", board, 0, 1);
    CHECK(outcomes(board, 1, TOLLGATE_OUTCOME_ALLOWED) == 1);
    clear(board);
    for (i = 0; i < THREADS; i++) {
        submitters[i].limiter = limiter;
        submitters[i].rule = rule;
        submitters[i].board = board;
        submitters[i].first = i * MANY;
        CHECK(pthread_create(&submitters[i].thread, NULL, submit_many, &submitters[i]) == 0);
    }
    /* Calls that wait lead for them, too. */
    for (i = 0; i < MANY; i++) {
        CHECK(acquire(limiter, rule, "other").fault == TOLLGATE_FAULT_NONE);
    }
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(submitters[i].thread, NULL) == 0);
    }
    CHECK(outcomes(board, THREADS * MANY, TOLLGATE_OUTCOME_ALLOWED) == MANY);
    CHECK(outcomes(board, THREADS * MANY, TOLLGATE_OUTCOME_LIMITED) == (THREADS - 1) * MANY);
    OK(tollgate_close(limiter));
}

/* The limiter is closed with hits under way, and then the server goes on: they are decided as if nothing had happened. */
static void closed_in_flight(const char *url, struct board *board)
{
    tollgate_limiter *limiter = open_redis(url, 60000);
    tollgate_rule *rule = register_rule(limiter, "Async.closed", 3600, 60);
    clear(board);
    CHECK(acquire(limiter, rule, "warm").allowed == 1);
    await("pause");
    submit(limiter, rule, "u1", board, 0, 100);
    OK(tollgate_close(limiter));
    EXPECT(TOLLGATE_CLOSED, tollgate_acquire_async(limiter, rule, TEXT("u1"), answer, &board->hits[100]));
    CHECK(board->answered == 0);
    await("continue");
    CHECK(outcomes(board, 100, TOLLGATE_OUTCOME_ALLOWED) == 60);
    CHECK(outcomes(board, 100, TOLLGATE_OUTCOME_LIMITED) == 40);
}

/* The server never answers: the deadline does, whether the limiter is closed or not. */
static void stopped(const char *url, struct board *board, int close)
{
    tollgate_limiter *limiter = open_redis(url, 2000);
    tollgate_rule *rule = register_rule(limiter, close ? "Async.stopped" : "Async.hung", 3600, 1);
    clear(board);
    while (acquire(limiter, rule, "warm").fault != TOLLGATE_FAULT_NONE) {
        pause_briefly();
    }
    await("pause");
    submit(limiter, rule, "u1", board, 0, 200);
    if (close) {
        OK(tollgate_close(limiter));
    }
    CHECK(outcomes(board, 200, TOLLGATE_OUTCOME_FAULT_ALLOWED) == 200);
    /* The circuit is open: no waiting now. */
    if (!close) {
        submit(limiter, rule, "u1", board, 200, 1);
        CHECK(outcomes(board, 201, TOLLGATE_OUTCOME_FAULT_ALLOWED) == 201);
    }
    await("continue");
    if (!close) {
        while (acquire(limiter, rule, "warm").outcome != TOLLGATE_OUTCOME_LIMITED) {
            pause_briefly();
        }
        /* No late reply has called anybody again. */
        CHECK(outcomes(board, 201, TOLLGATE_OUTCOME_FAULT_ALLOWED) == 201);
        OK(tollgate_close(limiter));
    }
}

int main(int count, char **arguments)
{
    static struct board board;
    CHECK(count == 2);
    pthread_mutex_init(&board.lock, NULL);
    pthread_cond_init(&board.changed, NULL);
    many_in_flight(arguments[1], &board);
    closed_in_flight(arguments[1], &board);
    stopped(arguments[1], &board, 0);
    stopped(arguments[1], &board, 1);
    /* The limiters' threads end by themselves. */
    while (threads() > 1) {
        pause_briefly();
    }
    return 0;
}
