/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostile.c
 * Question:  what does a client that floods the server cost another client's round trip?
 * Predict:   the 99.9th percentile stays within twice the quiet one plus a millisecond, whatever the
 *            flood: a turn of the server's loop is as long as the shares of those who are busy, 0.1
 *            ms each, and one message that is longer makes its sender rest.
 * Method:    a host with the server; one process floods it in one way (tests/fault/hostile.c has
 *            them); another, of another job, measures: a fence of itself alone (lane and ring), and a
 *            Get of a key that nobody has put, with PMIX_IMMEDIATE (control).  A tenth is warm-up.
 *            A turn is what the server's thread has of the CPU from one round over its clients to
 *            the next: unlike the round trips it does not depend on who else wants the CPUs.
 * Varies:    the flood.  Fixed: one flooder.  Control: nobody beside it; a process beside it that
 *            spins and never says anything, to price the CPU that a flood takes by itself; one with
 *            two threads that do, since a flood keeps the server's thread busy, too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "control/loop_engine.h"
#include "fault/hostile.h"
#include "server/model/state.h"

#define JOB "measured.job"
#define SAMPLES_SMOKE 200u
#define SAMPLES_FULL 20000u
#define HOSTILE_ROUNDS 3u /* before anything is measured */

enum {
    P50,
    P99,
    P999,
    MOST,
    FIGURES
}; /* of one sort of round trip, in time_ns of the shared page */
enum { FENCE, GET, SORTS };

/* ---- who measures ------------------------------------------------------------------------------- */

static pmix_proc_t self;

static void fence(void)
{
    CHECK_STATUS(PMIx_Fence(&self, 1, NULL, 0), PMIX_SUCCESS);
}

static void get(void)
{
    pmix_value_t *value = NULL;
    pmix_proc_t other = self;
    pmix_info_t immediate;

    other.rank = 1; /* registered, and never started */
    PMIx_Info_load(&immediate, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_Get(&other, "nobody.puts.it", &immediate, 1, &value), PMIX_ERR_NOT_FOUND);
}

static int by_time(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

static void measure(unsigned sort, void (*once)(void), size_t count)
{
    uint64_t *const samples = malloc(count * sizeof(*samples));
    _Atomic uint64_t *const figures = fault_shared->time_ns + FIGURES * sort;

    CHECK(samples != NULL && count >= 10, "%zu samples", count);
    for (size_t i = 0; i < count / 10; i++) {
        once();
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin_ns = fault_now_ns();

        once();
        samples[i] = fault_now_ns() - begin_ns;
    }
    qsort(samples, count, sizeof(*samples), by_time);
    figures[P50] = samples[count / 2];
    figures[P99] = samples[count - 1 - count / 100];
    figures[P999] = samples[count - 1 - count / 1000];
    figures[MOST] = samples[count - 1];
    free(samples);
}

static int role_measure(const char *arg)
{
    const size_t count = (size_t)atol(arg);

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    measure(FENCE, fence, count);
    measure(GET, get, count);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    atomic_store(&fault_shared->state[0], 1);
    return 0;
}

/* ---- who disturbs ------------------------------------------------------------------------------- */

static void *spin(void *arg)
{
    while (atomic_load(&fault_shared->stop) == 0) {
    }
    return arg;
}

static int role_hostile(const char *arg)
{
    const bool two_spin = strcmp(arg, "two spin") == 0;
    pthread_t other;

    if (!two_spin && strcmp(arg, "spins") != 0) {
        return hostile_role(arg);
    }
    CHECK(!two_spin || pthread_create(&other, NULL, spin, NULL) == 0, "no second thread");
    atomic_store(&fault_shared->state[ATTACK_RANK], HOSTILE_ROUNDS);
    spin(NULL);
    if (two_spin) {
        pthread_join(other, NULL);
    }
    return 0;
}

/* ---- turns -------------------------------------------------------------------------------------- */

#define TURNS_MAX 4000000u /* the first of a row */

static struct {
    sx_loop_fn turn; /* the server's own */
    uint32_t *took_ns;
    size_t count;
    uint64_t cpu_ns;
} turns;

static uint64_t cpu_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void on_turn(void *arg, uint64_t now_ns)
{
    turns.turn(arg, now_ns);
    const uint64_t cpu_ns = cpu_now_ns();

    if (turns.count < TURNS_MAX && turns.cpu_ns != 0) {
        turns.took_ns[turns.count++] = (uint32_t)(cpu_ns - turns.cpu_ns);
    }
    turns.cpu_ns = cpu_ns;
}

static pmix_status_t turns_watch(struct sx_server *server, void *arg)
{
    (void)arg;
    turns.took_ns = malloc(TURNS_MAX * sizeof(*turns.took_ns));
    CHECK(turns.took_ns != NULL, "no memory");
    turns.turn = server->loop->hooks.turn;
    server->loop->hooks.turn = on_turn;
    return PMIX_SUCCESS;
}

static pmix_status_t turns_begin(struct sx_server *server, void *arg)
{
    (void)server;
    (void)arg;
    turns.count = 0;
    turns.cpu_ns = 0; /* this turn may have sorted those of the row before */
    return PMIX_SUCCESS;
}

static int by_length(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? -1 : left > right;
}

static pmix_status_t turns_report(struct sx_server *server, void *arg)
{
    const size_t count = turns.count > 0 ? turns.count : 1;

    (void)server;
    (void)arg;
    qsort(turns.took_ns, turns.count, sizeof(*turns.took_ns), by_length);
    printf(" |%8.1f%9.1f%9.1f", turns.took_ns[count / 2] / 1e3,
           turns.took_ns[count - 1 - count / 1000] / 1e3, turns.took_ns[count - 1] / 1e3);
    return PMIX_SUCCESS;
}

/* ---- the host ----------------------------------------------------------------------------------- */

static size_t samples;

/* One row: @beside is NULL or what goes on meanwhile. */
static void row(const char *name, const char *beside, const uint64_t quiet[SORTS])
{
    char count[32];
    pid_t hostile = -1;

    snprintf(count, sizeof(count), "%zu", samples);
    atomic_store(&fault_shared->stop, 0);
    atomic_store(&fault_shared->state[0], 0);
    atomic_store(&fault_shared->state[ATTACK_RANK], 0);
    fault_job_start(ATTACK_JOB, 2);
    fault_job_start(JOB, 2);
    if (beside != NULL) {
        hostile = fault_start(ATTACK_JOB, ATTACK_RANK, "hostile", beside);
        while (atomic_load(&fault_shared->state[ATTACK_RANK]) < HOSTILE_ROUNDS) {
            hostile_admit();
            fault_pause();
        }
    }
    CHECK_STATUS(sx_server_call(sx_server_get(), turns_begin, NULL), PMIX_SUCCESS);
    const pid_t pid = fault_start(JOB, 0, "measure", count);
    while (atomic_load(&fault_shared->state[0]) == 0) {
        hostile_admit();
        fault_pause();
    }
    fault_wait_ok(pid, "the one who measures");
    atomic_store(&fault_shared->stop, 1);
    if (hostile >= 0) {
        fault_wait_ok(hostile, beside);
    }
    fault_job_end(JOB);
    fault_job_end(ATTACK_JOB);
    printf("%-21s", name);
    bool within = true;
    for (unsigned sort = 0; sort < SORTS; sort++) {
        const _Atomic uint64_t *const figures = fault_shared->time_ns + FIGURES * sort;

        printf(" |%8.1f%9.1f%9.1f%9.1f", (double)figures[P50] / 1e3, (double)figures[P99] / 1e3,
               (double)figures[P999] / 1e3, (double)figures[MOST] / 1e3);
        within = within && (quiet == NULL || figures[P999] <= 2 * quiet[sort] + 1000000);
    }
    CHECK_STATUS(sx_server_call(sx_server_get(), turns_report, NULL), PMIX_SUCCESS);
    printf("%s\n", quiet == NULL ? "" : within ? " | yes" : " | NO");
    fflush(stdout);
}

static int table(void)
{
    uint64_t quiet[SORTS];
    const char *const only = getenv("HOSTILE_ONLY");
    struct utsname host;

    samples = getenv("HOSTILE_SAMPLES") != NULL ? (size_t)atol(getenv("HOSTILE_SAMPLES"))
                                                : SAMPLES_SMOKE;
    uname(&host);
    printf("kernel %s, compiler %s, %zu samples a figure; microseconds\n", host.release,
           __VERSION__, samples);
    printf("%-21s |%8s%9s%9s%9s |%8s%9s%9s%9s |%8s%9s%9s | p99.9 within 2 x quiet + 1 ms\n",
           "beside it", "fence50", "p99", "p99.9", "max", "get p50", "p99", "p99.9", "max",
           "turn50", "p99.9", "max");
    fault_log_begin(); /* a line for each connection refused */
    fault_server_start();
    CHECK_STATUS(sx_server_call(sx_server_get(), turns_watch, NULL), PMIX_SUCCESS);
    row("nobody", NULL, NULL);
    for (unsigned sort = 0; sort < SORTS; sort++) {
        quiet[sort] = fault_shared->time_ns[FIGURES * sort + P999];
    }
    row("(spins)", "spins", quiet);
    row("(two spin)", "two spin", quiet);
    for (size_t i = 0; i < hostile_kind_count; i++) {
        if (only == NULL || strcmp(only, hostile_kinds[i].name) == 0) {
            row(hostile_kinds[i].name, hostile_kinds[i].name, quiet);
        }
    }
    fault_server_stop();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct fault_case cases[] = { { "table", table } };
    static const struct fault_role roles[] = { { "measure", role_measure },
                                               { "hostile", role_hostile } };
    char *arguments[] = { argv[0], "table", NULL };
    char full[32];

    if (argc > 2 && strcmp(argv[1], "--role") == 0) {
        return fault_main(argc, argv, cases, 1, roles, 2);
    }
    snprintf(full, sizeof(full), "%u", SAMPLES_FULL);
    setenv("HOSTILE_SAMPLES", full, 0);
    if (argc > 1 && strcmp(argv[1], "--smoke") == 0) {
        unsetenv("HOSTILE_SAMPLES");
    }
    return fault_main(2, arguments, cases, 1, roles, 2);
}
