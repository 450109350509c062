/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_count_test.c - what the promises about cost come to: calls, allocations and locks, counted.
 *
 * A rank's work runs in a process that its parent traces; getpgrp marks where counting begins and
 * ends.  Allocations and locks are counted by standing in front of the C library's functions. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "support/allocations.h"
#include "support/traced.h"

/* ---- locks -------------------------------------------------------------------------------- */

static unsigned long locks;

#if !SANITIZED
SEEN_BY_ALL int pthread_mutex_lock(pthread_mutex_t *mutex);

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*_Atomic next)(pthread_mutex_t *);

    if (next == NULL) {
        next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    }
    __atomic_add_fetch(&locks, 1, __ATOMIC_RELAXED);
    return next(mutex);
}
#endif

/* ---- system calls ------------------------------------------------------------------------- */

/* Between two marks of the traced process. */
struct counter {
    unsigned long calls;
    char names[4096];
};

/* What malloc does on its own account, when and if it likes. */
static bool is_of_malloc(long number)
{
    return number == SYS_brk || number == SYS_getrandom;
}

static void count_call(void *arg, pid_t pid, const struct __ptrace_syscall_info *info)
{
    struct counter *const counter = arg;
    const size_t used = strlen(counter->names);
    const long number = (long)info->entry.nr;

    if (!is_of_malloc(number)) {
        counter->calls++;
        snprintf(counter->names + used, sizeof(counter->names) - used, " %ld", number);
    }
}

/* Run @work in a traced process.  Return: the calls between its marks; names their numbers. */
static unsigned long calls_of(int (*work)(int rank), int rank, struct counter *counter)
{
    *counter = (struct counter){ 0 };
    traced_run(work, rank, count_call, counter);
    return counter->calls;
}

static void report(const char *what, unsigned long count, unsigned long of,
                   const struct counter *counter)
{
    printf("%s: %lu system calls in %lu", what, count, of);
    printf(of == 1 ? " (%s )\n" : "\n", counter->names);
    fflush(stdout);
}

/* ---- the work ----------------------------------------------------------------------------- */

#define ROUNDS 100

static pmix_proc_t me;

static int work_init(int rank)
{
    free(malloc(1000)); /* the heap is made by the program, not by us */
    traced_mark();
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    traced_mark();
    return rank_end();
}

static void put_number(const char *key, uint32_t number)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
}

static uint32_t get_number(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;

    proc.rank = rank;
    CHECK_STATUS(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS);
    const uint32_t number = value->data.uint32;
    free(value);
    return number;
}

static unsigned long *fence_locks; /* shared with the traced process; NULL: not asked for */

static int work_fence(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    traced_mark();
    const unsigned long before = locks;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    }
    const unsigned long after = locks;
    traced_mark();
    if (fence_locks != NULL) {
        *fence_locks = after - before;
    }
    return rank_end();
}

static int work_get(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    put_number("mine", (uint32_t)rank + 100);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    const pmix_rank_t other = 1 - me.rank;
    CHECK(get_number(other, "mine") == other + 100);
    free(malloc(64)); /* the heap is there */
    traced_mark();
    const unsigned long before = allocations;
    for (int i = 0; i < ROUNDS; i++) {
        (void)get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
        (void)get_number(other, PMIX_LOCAL_RANK);
        CHECK(get_number(other, "mine") == other + 100);
        CHECK(get_number(me.rank, "mine") == me.rank + 100);
    }
    const unsigned long after = allocations;
    traced_mark();
    CHECK(after - before == 4 * ROUNDS); /* the values; fewer and they were not counted */
    return rank_end();
}

/* Into the caller's own storage: a scalar, strings in the store, a qualified value. */
static int work_get_static(int rank)
{
    pmix_value_t text = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t) "some text" };
    pmix_value_t storage, *at = &storage;
    pmix_info_t infos[3], parts[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = parts };
    pmix_value_t qualified = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    uint32_t number = 5;
    const bool yes = true;

    CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_GET_STATIC_VALUES, &yes, PMIX_BOOL), 0);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_GET_POINTER_VALUES, &yes, PMIX_BOOL), 0);
    CHECK_STATUS(PMIx_Info_load(&infos[2], "which", &number, PMIX_UINT32), 0);
    PMIx_Info_qualifier(&infos[2]);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&parts[0], "key", &number, PMIX_UINT32), 0);
    parts[1] = infos[2];
    put_number("mine", (uint32_t)rank + 100);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "text", &text), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, PMIX_QUALIFIED_VALUE, &qualified), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    pmix_proc_t other = me;
    other.rank = 1 - me.rank;
    traced_mark();
    const unsigned long before = allocations;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_STATUS(PMIx_Get(&other, "mine", infos, 1, &at), PMIX_SUCCESS);
        CHECK(storage.data.uint32 == other.rank + 100);
        CHECK_STATUS(PMIx_Get(&other, "text", infos, 2, &at), PMIX_SUCCESS);
        CHECK(strcmp(storage.data.string, "some text") == 0);
        CHECK_STATUS(PMIx_Get(&me, "text", infos, 2, &at), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Get(&other, "key", infos, 3, &at), PMIX_SUCCESS);
        CHECK(storage.data.uint32 == 5);
    }
    const unsigned long after = allocations;
    traced_mark();
    CHECK(after == before);
    return rank_end();
}

static int work_miss(int rank)
{
    const pmix_proc_t job = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    pmix_value_t *value;
    pmix_info_t optional;

    optional = info_flag(PMIX_OPTIONAL);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    traced_mark();
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_STATUS(PMIx_Get(&job, PMIX_HWLOC_SHMEM_FILE, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(PMIx_Get(&job, "unknown", &optional, 1, &value), PMIX_ERR_NOT_FOUND);
    }
    traced_mark();
    return rank_end();
}

static int work_group(int rank)
{
    const pmix_proc_t all = { .nspace = JOB_NSPACE, .rank = PMIX_RANK_WILDCARD };
    static char *const keys[] = { PMIX_JOB_SIZE, PMIX_LOCAL_SIZE, PMIX_LOCAL_PEERS };
    pmix_proc_t group;
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    PMIx_Load_procid(&group, "tea", PMIX_RANK_WILDCARD);
    for (int i = 0; i <= ROUNDS; i++) {
        for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++) {
            CHECK_STATUS(PMIx_Get(&group, keys[n], NULL, 0, &value), PMIX_SUCCESS);
            PMIX_VALUE_RELEASE(value);
        }
        if (i == 0) { /* the node's store is mapped now */
            traced_mark();
        }
    }
    traced_mark();
    return rank_end();
}

/* Rank 0 publishes, rank 1 looks: of one key, and of two at once. */
static int work_lookup(int rank)
{
    const uint32_t numbers[] = { 7, 8 };
    pmix_pdata_t data[2];
    pmix_info_t info[2];

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    PMIx_Info_load(&info[0], "seven", &numbers[0], PMIX_UINT32);
    PMIx_Info_load(&info[1], "eight", &numbers[1], PMIX_UINT32);
    if (me.rank == 0) {
        CHECK_STATUS(PMIx_Publish(info, 2), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    for (int i = 0; i < ROUNDS + 2; i++) {
        if (i == 2) { /* the store is mapped now */
            traced_mark();
        }
        for (size_t n = 0; n < 2; n++) {
            PMIx_Pdata_construct(&data[n]);
            PMIx_Load_key(data[n].key, info[n].key);
        }
        const unsigned long before = allocations;

        CHECK_STATUS(PMIx_Lookup(data, 1 + (size_t)i % 2, NULL, 0), PMIX_SUCCESS);
        CHECK(i < 2 || allocations == before);
        CHECK(data[0].value.data.uint32 == 7 && data[0].proc.rank == 0);
        CHECK(i % 2 == 0 || data[1].value.data.uint32 == 8);
    }
    traced_mark();
    return rank_end();
}

static int work_commit(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    put_number("first", 1); /* makes the private store and the list */
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    traced_mark();
    for (int i = 0; i < ROUNDS; i++) {
        put_number("again", (uint32_t)i);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    }
    traced_mark();
    return rank_end();
}

#define EVENT (PMIX_EXTERNAL_ERR_BASE - 5)

static void publish_all(void)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        pmix_info_t info = { .key = "number", .value = { .type = PMIX_UINT32, .data.uint32 = i } };

        CHECK_STATUS(PMIx_Notify_event(EVENT, &me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL),
                     PMIX_SUCCESS);
    }
}

static int work_event_read(int rank)
{
    shmix_events_t *events = NULL;
    shmix_event_t event;
    shmix_value_t value;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_OLDEST, NULL, 0, &events), PMIX_SUCCESS);
    publish_all();
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS); /* the server has had them all */
    traced_mark();
    const unsigned long before = allocations;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_SUCCESS);
        CHECK(event.number == (uint64_t)i + 1);
        CHECK_STATUS(shmix_event_find(&event, "number", &value), PMIX_SUCCESS);
    }
    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    const unsigned long after = allocations;
    traced_mark();
    CHECK(after == before);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

static int work_event_publish(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    traced_mark();
    publish_all(); /* the lane has room for them all */
    traced_mark();
    return rank_end();
}

/* ---- cases -------------------------------------------------------------------------------- */

/* Three of them ask when the process started that listens at the abstract socket. */
static int init_makes_at_most_28_calls(int rank)
{
    struct counter counter;
    const unsigned long calls = calls_of(work_init, rank, &counter);

    report("PMIx_Init", calls, 1, &counter);
    CHECK(calls > 0 && calls <= 28);
    return 0;
}

static int a_fence_makes_at_most_3_calls(int rank)
{
    struct counter counter;
    const unsigned long calls = calls_of(work_fence, rank, &counter);

    report("PMIx_Fence", calls, ROUNDS, &counter);
    CHECK(calls > 0 && calls <= 3 * ROUNDS);
    return 0;
}

/* Three locks to arrive, one to begin the wait, and one for each look, of which none comes before a
 * yield or a sleep; but one does where others compute, to whom nobody yields. */
static int a_fence_takes_4_locks_and_one_a_look(int rank)
{
    struct counter counter;

    fence_locks = mmap(NULL, sizeof(*fence_locks), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(fence_locks != MAP_FAILED);
    const unsigned long calls = calls_of(work_fence, rank, &counter);

    report("PMIx_Fence", calls, ROUNDS, &counter);
    printf("PMIx_Fence: %lu locks in %d\n", *fence_locks, ROUNDS);
    CHECK(*fence_locks >= ROUNDS); /* fewer and they were not counted */
    CHECK(*fence_locks <= 5 * ROUNDS + calls);
    return 0;
}

static int a_get_that_hits_makes_no_call(int rank)
{
    struct counter counter;
    const unsigned long calls = calls_of(work_get, rank, &counter);

    report("PMIx_Get", calls, 4 * ROUNDS, &counter);
    CHECK(calls == 0);
    return 0;
}

static int a_static_get_makes_no_call_and_no_allocation(int rank)
{
    struct counter counter;

    CHECK(calls_of(work_get_static, rank, &counter) == 0);
    return 0;
}

static int what_follows_from_a_group_makes_no_call(int rank)
{
    struct counter counter;

    CHECK(calls_of(work_group, rank, &counter) == 0);
    return 0;
}

static int a_lookup_of_what_is_published_makes_no_call(int rank)
{
    struct counter counter;

    CHECK(calls_of(work_lookup, rank, &counter) == 0);
    return 0;
}

static int a_miss_that_is_known_makes_no_call(int rank)
{
    struct counter counter;

    CHECK(calls_of(work_miss, rank, &counter) == 0);
    return 0;
}

static int an_event_that_is_there_is_read_without_a_call(int rank)
{
    struct counter counter;

    CHECK(calls_of(work_event_read, rank, &counter) == 0);
    return 0;
}

/* A bell for the server when it sleeps, and nothing over the control socket. */
static int a_publication_makes_at_most_one_call(int rank)
{
    struct counter counter;
    const unsigned long calls = calls_of(work_event_publish, rank, &counter);
    char *save = NULL;

    report("PMIx_Notify_event", calls, ROUNDS, &counter);
    CHECK(calls <= ROUNDS);
    for (char *name = strtok_r(counter.names, " ", &save); name != NULL;
         name = strtok_r(NULL, " ", &save)) {
        CHECK(atol(name) == SYS_write);
    }
    return 0;
}

static int a_commit_makes_no_call(int rank)
{
    struct counter counter;
    const unsigned long calls = calls_of(work_commit, rank, &counter);

    report("PMIx_Commit", calls, ROUNDS, &counter);
    CHECK(calls == 0);
    return 0;
}

/* ---- threads ------------------------------------------------------------------------------ */

static int thread_ids(int ids[8])
{
    DIR *const dir = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    CHECK(dir != NULL);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' && count < 8) {
            ids[count++] = atoi(entry->d_name);
        }
    }
    closedir(dir);
    return count;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

/* The progress thread sleeps in one call without a timeout, so an idle rank makes none. */
static int an_idle_rank_sleeps(int rank)
{
    const char *const no_waitv = getenv("SHMIX_WAITV");
    char path[64], line[256] = "";
    int ids[8], quiet = 0;
    long number = -1;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    const int threads_before = thread_ids(ids);
    CHECK_STATUS(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL), 1);
    const int threads = thread_ids(ids);
    CHECK(threads == threads_before + 1); /* none before the first handler */
    const int progress = ids[0] != getpid() ? ids[threads - 1] : ids[1];
    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", progress);
    while (quiet == 0) { /* bounded by the rank's alarm */
        unsigned long args[6] = { 0 };
        FILE *const file = fopen(path, "r");

        if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
            printf("skipped: %s cannot be read\n", path);
            exit(JOB_SKIPPED);
        }
        fclose(file);
        const int fields = sscanf(line, "%ld %lx %lx %lx %lx", &number, &args[0], &args[1],
                                  &args[2], &args[3]);
        /* futex_waitv(words, count, flags, timeout, clock) */
        quiet = fields == 5 && number == 449 && args[3] == 0;
        if (no_waitv != NULL && number == SYS_futex) {
            quiet = 1; /* it may look again once a second there */
        }
        sched_yield();
    }
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(thread_ids(ids) == threads_before);
    return 0;
}

/* ---- events for a handler ----------------------------------------------------------------- */

#define EVENTS 400
#define EVENT_LOCKS_MAX 5 /* of this library, for one event */

static sem_t all_published, all_received;
static unsigned long received;

static void on_counted(size_t id, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    CHECK(ninfo == 2 && info[0].value.data.uint32 == received);
    CHECK(strcmp(info[1].value.data.string, "some text") == 0);
    while (received == 0 && sem_wait(&all_published) != 0) {
    }
    if (++received == EVENTS) {
        sem_post(&all_received);
    }
    cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void publish_for_handler(void)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        char text[] = "some text";
        pmix_info_t infos[] = {
            { .key = "number", .value = { .type = PMIX_UINT32, .data.uint32 = i } },
            { .key = "text", .value = { .type = PMIX_STRING, .data.string = text } },
        };

        CHECK_STATUS(PMIx_Notify_event(EVENT, &me, PMIX_RANGE_NAMESPACE, infos, 2, NULL, NULL),
                     PMIX_SUCCESS);
    }
}

static void register_counted(void)
{
    pmix_status_t code = EVENT;

    CHECK_STATUS(PMIx_Register_event_handler(&code, 1, NULL, 0, on_counted, NULL, NULL), 1);
}

/* Rank 0 publishes, rank 1 hears.  The first call of the handler waits until all has been
 * published, so that nothing depends on who is faster. */
static int receive_events(int rank, bool late)
{
    sem_init(&all_published, 0, 0);
    sem_init(&all_received, 0, 0);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    if (rank == 1 && !late) {
        register_counted();
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    const unsigned long allocations_before = allocations, locks_before = locks;
    if (rank == 0) {
        publish_for_handler();
        job_token_put(0);
    } else { /* not in the fence: each event would end a sleep there, without futex_waitv */
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS); /* the server has had them all */
    if (rank == 1) {
        if (late) {
            register_counted();
        }
        sem_post(&all_published);
        job_sem_wait(&all_received);
        const unsigned long allocated = allocations - allocations_before;
        const unsigned long locked = locks - locks_before;

        printf("%d events: %lu allocations, %lu locks\n", EVENTS, allocated, locked);
        CHECK(allocated < EVENTS / 4); /* blocks of many; less than one for each */
        CHECK(locked > EVENTS);        /* fewer and they were not counted */
        CHECK(locked < EVENT_LOCKS_MAX * EVENTS);
    }
    return rank_end();
}

static int an_event_is_handled_without_memory_of_its_own(int rank)
{
    return receive_events(rank, false);
}

static int a_kept_event_is_handled_without_memory_of_its_own(int rank)
{
    return receive_events(rank, true);
}

/* The progress thread is there already, so that nothing but the registration is counted. */
static int work_come_late(int rank)
{
    pmix_status_t other = EVENT - 1;

    sem_init(&all_published, 0, 1);
    sem_init(&all_received, 0, 0);
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&other, 1, NULL, 0, on_event, NULL, NULL) > 0);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        publish_for_handler();
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS); /* the server has had them all */
    traced_mark();
    if (rank == 1) {
        pmix_status_t code = EVENT;

        CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_counted, NULL, NULL) > 0);
    }
    traced_mark();
    while (rank == 1 && sem_wait(&all_received) != 0) {
    }
    return rank_end();
}

/* They are several frames, and one answer. */
static int kept_events_are_asked_for_once(int rank)
{
    struct counter counter;
    char *save = NULL;
    int sent = 0;

    (void)calls_of(work_come_late, rank, &counter);
    report("PMIx_Register_event_handler", counter.calls, 1, &counter);
    for (char *name = strtok_r(counter.names, " ", &save); name != NULL;
         name = strtok_r(NULL, " ", &save)) {
        sent += atol(name) == SYS_sendmsg;
    }
    CHECK(sent == rank);
    return 0;
}

static const struct job_case cases[] = {
    { "init_makes_at_most_28_calls", 2, init_makes_at_most_28_calls },
    { "a_fence_makes_at_most_3_calls", 2, a_fence_makes_at_most_3_calls },
    { "a_fence_takes_4_locks_and_one_a_look", 2, a_fence_takes_4_locks_and_one_a_look },
    { "a_get_that_hits_makes_no_call", 2, a_get_that_hits_makes_no_call },
    { "a_static_get_makes_no_call_and_no_allocation", 2,
      a_static_get_makes_no_call_and_no_allocation },
    { "a_miss_that_is_known_makes_no_call", 1, a_miss_that_is_known_makes_no_call },
    { "what_follows_from_a_group_makes_no_call", 2, what_follows_from_a_group_makes_no_call },
    { "a_lookup_of_what_is_published_makes_no_call", 2,
      a_lookup_of_what_is_published_makes_no_call },
    { "a_commit_makes_no_call", 1, a_commit_makes_no_call },
    { "an_event_that_is_there_is_read_without_a_call", 2,
      an_event_that_is_there_is_read_without_a_call },
    { "a_publication_makes_at_most_one_call", 2, a_publication_makes_at_most_one_call },
    { "an_event_is_handled_without_memory_of_its_own", 2,
      an_event_is_handled_without_memory_of_its_own },
    { "kept_events_are_asked_for_once", 2, kept_events_are_asked_for_once },
    { "a_kept_event_is_handled_without_memory_of_its_own", 2,
      a_kept_event_is_handled_without_memory_of_its_own },
    { "an_idle_rank_sleeps", 2, an_idle_rank_sleeps },
};

int main(int argc, char **argv)
{
#if SANITIZED
    puts("skipped: a sanitizer's runtime makes calls and threads of its own");
    return 77;
#endif
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
