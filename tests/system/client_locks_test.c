/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_locks_test.c - a thread that waits for the server holds up no other thread.
 *
 * Rank 0 stops the server, with SIGSTOP, and brings threads of its own into calls that now wait.
 * What its main thread does meanwhile has to end.  That a thread waits is seen in /proc. */
#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"

#define CODE (PMIX_EXTERNAL_ERR_BASE - 100)
#define VALUE_BYTES 8192 /* seven of them fill a lane up to where small messages still fit */
#define VALUES 64
#define INFO_BYTES 12000 /* of a fence: a lane could take it, but not this one */

static pmix_proc_t me;

static void init(void)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

static void put_string(const char *key, const char *text)
{
    pmix_value_t value;

    CHECK_STATUS(PMIx_Value_load(&value, text, PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
    PMIx_Value_destruct(&value);
}

/* ---- the server, and threads that wait ------------------------------------------------------ */

/* The letter of @path's "stat"; 0: it is not there. */
static char state_of(const char *path)
{
    char line[512] = "";
    FILE *const file = fopen(path, "r");
    const char *end;

    if (file == NULL) {
        return '\0';
    }
    const bool got = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    end = got ? strrchr(line, ')') : NULL;
    return end != NULL && end[1] == ' ' ? end[2] : '\0';
}

static bool all_stopped(pid_t pid)
{
    char path[300];
    struct dirent *entry;
    bool all = true;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *const dir = opendir(path);
    CHECK(dir != NULL);
    while (all && (entry = readdir(dir)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", (int)pid, entry->d_name);
            all = state_of(path) == 'T';
        }
    }
    closedir(dir);
    return all;
}

static pid_t server;

static void server_go_on(void)
{
    kill(server, SIGCONT);
}

/* However this rank ends, the server goes on. */
static void out_of_time(int number)
{
    server_go_on();
    signal(number, SIG_DFL);
    raise(number);
}

static void server_stop(void)
{
    server = getppid();
    signal(SIGALRM, out_of_time);
    CHECK(atexit(server_go_on) == 0);
    CHECK(kill(server, SIGSTOP) == 0);
    while (!all_stopped(server)) { /* bounded by the rank's alarm */
        sched_yield();
    }
}

struct work {
    pmix_status_t (*fn)(void);
    pthread_t thread;
    _Atomic int tid;
    atomic_bool over;
    pmix_status_t status;
};

static void *work_main(void *arg)
{
    struct work *const work = arg;

    atomic_store(&work->tid, (int)syscall(SYS_gettid));
    work->status = work->fn();
    atomic_store(&work->over, true);
    return NULL;
}

/* @fn, on a thread of its own, has come to where it waits. */
static void work_begin(struct work *work, pmix_status_t (*fn)(void))
{
    char path[64];
    bool waits = false;

    *work = (struct work){ .fn = fn };
    CHECK(pthread_create(&work->thread, NULL, work_main, work) == 0);
    while (!waits) { /* bounded by the rank's alarm */
        sched_yield();
        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&work->tid));
        waits = atomic_load(&work->tid) != 0 && state_of(path) == 'S';
        CHECK(!atomic_load(&work->over));
    }
}

static void work_end(struct work *work)
{
    CHECK(pthread_join(work->thread, NULL) == 0);
    CHECK_STATUS(work->status, PMIX_SUCCESS);
}

/* ---- a full lane ---------------------------------------------------------------------------- */

static pmix_status_t commit(void)
{
    return PMIx_Commit();
}

static pmix_status_t fence_large(void)
{
    static char text[INFO_BYTES];
    pmix_info_t info;

    memset(text, 'f', sizeof(text) - 1);
    info = info_text("test.unknown", text);
    const pmix_status_t rc = PMIx_Fence(&me, 1, &info, 1);
    PMIx_Info_destruct(&info);
    return rc;
}

static atomic_bool committed;

/* What it commits another thread may have taken along. */
static pmix_status_t commit_and_fence(void)
{
    const pmix_status_t rc = PMIx_Commit();

    atomic_store(&committed, true);
    return rc == PMIX_SUCCESS ? PMIx_Fence(NULL, 0, NULL, 0) : rc;
}

static void get_missing(void)
{
    pmix_proc_t other = me;
    pmix_value_t *value = NULL;
    pmix_info_t info;
    int seconds = 1;

    other.rank = 1;
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get(&other, "nobody.puts.this", &info, 1, &value), PMIX_ERR_TIMEOUT);
}

static void values_put(void)
{
    static char text[VALUE_BYTES];
    char key[32];

    memset(text, 'v', sizeof(text) - 1);
    for (int i = 0; i < VALUES; i++) {
        snprintf(key, sizeof(key), "value.%d", i);
        put_string(key, text);
    }
    put_string("last", "is here");
}

/* Rank 1: after the fence the last value of rank 0's commit is there, without asking. */
static int last_is_here(void)
{
    pmix_proc_t other = me;
    pmix_value_t *value = NULL;
    pmix_info_t info;

    other.rank = 0;
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    info = info_flag(PMIX_OPTIONAL);
    CHECK_STATUS(PMIx_Get(&other, "last", &info, 1, &value), PMIX_SUCCESS);
    CHECK(strcmp(value->data.string, "is here") == 0);
    PMIx_Value_destruct(value);
    free(value);
    return rank_end();
}

static int a_full_lane_holds_up_nobody_else(int rank)
{
    struct work first, second, third;

    init();
    if (rank == 1) {
        return last_is_here();
    }
    server_stop();
    values_put();
    work_begin(&first, commit);           /* for want of room */
    work_begin(&second, fence_large);     /* too */
    work_begin(&third, commit_and_fence); /* for the end of the first one */
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    get_missing();
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "later", &(pmix_value_t){ .type = PMIX_BOOL }),
                 PMIX_SUCCESS);
    CHECK(!atomic_load(&first.over) && !atomic_load(&second.over) && !atomic_load(&committed));
    server_go_on();
    work_end(&first);
    work_end(&second);
    work_end(&third);
    return rank_end();
}

/* Values that leave for the server by themselves, and one that a lane takes. */
static int a_large_value_holds_up_nobody_else(int rank)
{
    static char text[1 << 16];
    struct work work;

    init();
    if (rank == 1) {
        return last_is_here();
    }
    server_stop();
    memset(text, 'v', sizeof(text) - 1);
    put_string("large", text);
    put_string("last", "is here");
    work_begin(&work, commit_and_fence);
    CHECK_STATUS(PMIx_Notify_event(CODE, NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL),
                 PMIX_SUCCESS);
    get_missing();
    CHECK(!atomic_load(&committed));
    server_go_on();
    work_end(&work);
    return rank_end();
}

/* Without its server a process ends its waits when it leaves. */
static int finalize_ends_what_waits(int rank)
{
    struct work first, second;

    init();
    if (rank == 1) {
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        return 0;
    }
    server_stop();
    values_put();
    work_begin(&first, commit);
    work_begin(&second, commit);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(pthread_join(first.thread, NULL) == 0 && pthread_join(second.thread, NULL) == 0);
    CHECK_STATUS(first.status, PMIX_ERR_LOST_CONNECTION);
    CHECK_STATUS(second.status, PMIX_ERR_LOST_CONNECTION);
    server_go_on();
    return 0;
}

/* ---- other waits ---------------------------------------------------------------------------- */

static int descriptors[2] = { -1, -1 };

static pmix_status_t ask_for_the_descriptor(void)
{
    return shmix_fd(&descriptors[0]);
}

static pmix_status_t ask_for_it_again(void)
{
    return shmix_fd(&descriptors[1]);
}

static int the_descriptor_holds_up_nobody_else(int rank)
{
    struct work first, second;
    shmix_job_t *job;

    init();
    if (rank == 0) {
        CHECK_STATUS(shmix_job_open(NULL, &job), PMIX_SUCCESS);
        server_stop();
        work_begin(&first, ask_for_the_descriptor);
        work_begin(&second, ask_for_it_again);
        CHECK_STATUS(shmix_job_unpin(job), PMIX_SUCCESS); /* under the lock for stores */
        server_go_on();
        work_end(&first);
        work_end(&second);
        CHECK(descriptors[0] >= 0 && descriptors[0] == descriptors[1]);
        CHECK_STATUS(shmix_job_close(job), PMIX_SUCCESS);
    }
    return rank_end();
}

static pmix_status_t finalize_with_barrier(void)
{
    pmix_info_t info;

    info = info_flag(PMIX_EMBED_BARRIER);
    return PMIx_Finalize(&info, 1);
}

/* Who comes while the last one waits in its barrier keeps the process a client. */
static int a_barrier_at_the_end_holds_up_nobody_else(int rank)
{
    struct work work;

    init();
    if (rank == 0) {
        work_begin(&work, finalize_with_barrier);
        CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
        job_token_put(0);
        work_end(&work);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    } else {
        job_token_get(0);
    }
    CHECK_STATUS(rank == 0 ? PMIx_Finalize(NULL, 0) : finalize_with_barrier(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    return 0;
}

static const struct job_case cases[] = {
    { "a_full_lane_holds_up_nobody_else", 2, a_full_lane_holds_up_nobody_else },
    { "a_large_value_holds_up_nobody_else", 2, a_large_value_holds_up_nobody_else },
    { "finalize_ends_what_waits", 2, finalize_ends_what_waits },
    { "the_descriptor_holds_up_nobody_else", 2, the_descriptor_holds_up_nobody_else },
    { "a_barrier_at_the_end_holds_up_nobody_else", 2, a_barrier_at_the_end_holds_up_nobody_else },
};

JOB_MAIN(cases)
