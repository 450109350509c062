/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* client_fd_test.c - ranks that sleep in poll(2) on shmix_fd: woken for what they want, once.
 *
 * The host's process counts what its server writes to sleepers, by standing in front of the C
 * library's send(), which the server uses for nothing else of one byte.  The server publishes first
 * and writes afterwards, so a rank that has its answer may have the byte for it still to come:
 * before silence is counted, rank 1 sees the server's loop go around. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"

/* In different classes: their sums with 15 differ. */
#define CODE(n) (PMIX_EXTERNAL_ERR_BASE - 100 - (n))
#define NOTICES 100

static atomic_uint bytes_sent;
static atomic_int refusals; /* that many more are refused for want of memory */

__attribute__((visibility("default"))) ssize_t send(int fd, const void *bytes, size_t size,
                                                    int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "send");
    }
    if (size == 1 && atomic_load(&refusals) > 0) {
        atomic_fetch_sub(&refusals, 1);
        errno = ENOBUFS;
        return -1;
    }
    if (size == 1) {
        atomic_fetch_add(&bytes_sent, 1);
    }
    return next(fd, bytes, size, flags);
}

static pmix_proc_t me;
static unsigned received, lost;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    received += status == CODE(0);
    lost += status == PMIX_ERR_LOST_CONNECTION;
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void init_external(void)
{
    pmix_info_t info;

    info = info_flag(PMIX_EXTERNAL_PROGRESS);
    CHECK_STATUS(PMIx_Init(&me, &info, 1), PMIX_SUCCESS);
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* What a program does; bounded by the rank's alarm. */
static void progress_until_quiet(int fd)
{
    do {
        PMIx_Progress();
    } while (readable(fd, 0));
}

static void notify(pmix_status_t code, int count)
{
    for (int i = 0; i < count; i++) {
        CHECK_STATUS(PMIx_Notify_event(code, NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    /* Alone in it, so that nobody else is told; the lane is taken in order. */
    CHECK_STATUS(PMIx_Fence(&me, 1, NULL, 0), PMIX_SUCCESS);
}

/* The server has written what belongs to all that it did before: its loop takes a lane, wakes, and
 * only then takes a frame. */
static void loop_goes_around(void)
{
    pmix_status_t code = CODE(7);

    CHECK_STATUS(PMIx_Fence(&me, 1, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
}

/* Rank 1: other codes, then many of the one that rank 0 sleeps for. */
static int publish(void)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    job_token_get(0);
    loop_goes_around();
    job_token_put(1);
    job_token_get(0);
    notify(CODE(1), NOTICES);
    loop_goes_around();
    job_token_put(1);
    job_token_get(0);
    notify(CODE(0), NOTICES);
    loop_goes_around();
    job_token_put(1);
    return rank_end();
}

/* Between two tokens of rank 0 the server must have sent @count bytes. */
static void host_check(unsigned count)
{
    job_token_get(2);
    atomic_store(&bytes_sent, 0); /* what its start took, and other cases */
    job_token_put(3);
    job_token_get(2);
    const unsigned sent = atomic_exchange(&bytes_sent, 0);
    if (sent != count) {
        fprintf(stderr, "the server has written %u times to a sleeper, not %u\n", sent, count);
        exit(99);
    }
    job_token_put(3);
}

static int host_counts(struct job *job)
{
    host_check(0);
    host_check(1);
    (void)job_wait(job, 0);
    return 0;
}

/* The host looks at its counter: before and after. */
static void host_looks(void)
{
    job_token_put(2);
    job_token_get(3);
}

/* Rank 1 does its next step: the loop goes around, then it publishes twice, all of which is in the
 * ring then, and written. */
static void let_rank_1_go(void)
{
    job_token_put(0);
    job_token_get(1);
}

static int a_sleeper_is_written_to_once(int rank)
{
    pmix_status_t code = CODE(0);
    int fd, again;

    if (rank == 1) {
        return publish();
    }
    init_external();
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    CHECK(readable(fd, 0)); /* look once */
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    let_rank_1_go(); /* the bytes for the answers have come */
    progress_until_quiet(fd);
    host_looks();
    let_rank_1_go(); /* not for us */
    CHECK(!readable(fd, 0));
    host_looks();
    CHECK(received == 0);
    host_looks();
    let_rank_1_go();
    CHECK(readable(fd, -1));
    CHECK(received == 0); /* nothing runs by itself */
    host_looks();         /* one byte for all of them */
    progress_until_quiet(fd);
    CHECK(received == NOTICES);
    CHECK_STATUS(shmix_fd(&again), PMIX_SUCCESS);
    CHECK(again == fd);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_fd(&again), PMIX_ERR_INIT);
    return 0;
}

static int read_all(shmix_events_t *events)
{
    shmix_event_t event;
    int count = 0;

    while (shmix_events_next(events, &event) == PMIX_SUCCESS) {
        count++;
    }
    return count;
}

/* Two readers, one of which wants all; no progress is made by hand. */
static int readers_are_woken_too(int rank)
{
    const pmix_status_t code = CODE(0);
    shmix_events_t *one, *other;
    int fd;

    if (rank == 1) {
        return publish();
    }
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &one), PMIX_SUCCESS);
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    CHECK(readable(fd, 0));
    let_rank_1_go(); /* the byte for the answer has come */
    while (readable(fd, 0)) {
        CHECK(read_all(one) == 0);
    }
    host_looks();
    let_rank_1_go(); /* not for it */
    CHECK(!readable(fd, 0));
    host_looks();
    CHECK(read_all(one) == 0);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, NULL, 0, &other), PMIX_SUCCESS);
    while (readable(fd, 0)) {
        CHECK(read_all(one) == 0 && read_all(other) == 0);
    }
    host_looks();
    let_rank_1_go();
    CHECK(readable(fd, -1));
    host_looks();
    CHECK(read_all(one) == NOTICES);
    CHECK(readable(fd, 0)); /* the other one has them before it */
    CHECK(read_all(other) == NOTICES);
    while (readable(fd, 0)) {
        CHECK(read_all(one) == 0 && read_all(other) == 0);
    }
    shmix_events_close(one);
    shmix_events_close(other);
    return rank_end();
}

/* ---- what else wakes ------------------------------------------------------------------------ */

static bool value_came;

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    CHECK(value->data.uint32 == 77);
    value_came = true;
}

static bool fence_came;

static void on_fence(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    fence_came = true;
}

static void sleep_until(int fd, const bool *came)
{
    while (!*came) {
        CHECK(readable(fd, -1));
        PMIx_Progress();
    }
}

static int answers_and_fences_wake(int rank)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 77 };
    pmix_proc_t other;
    int fd;

    init_external();
    if (rank == 1) {
        job_token_get(0);
        CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "later", &value), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        job_token_get(0);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        return 0;
    }
    other = me;
    other.rank = 1;
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get_nb(&other, "later", NULL, 0, on_value, NULL), PMIX_SUCCESS);
    progress_until_quiet(fd);
    CHECK(!value_came);
    job_token_put(0);
    sleep_until(fd, &value_came);
    CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_fence, NULL), PMIX_SUCCESS);
    progress_until_quiet(fd);
    CHECK(!fence_came);
    job_token_put(0);
    sleep_until(fd, &fence_came);
    return rank_end();
}

/* ---- how often ------------------------------------------------------------------------------ */

#define ROUNDS 500

/* Rank 1: an event whenever rank 0 sleeps. */
static int publish_when_asked(int rounds)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    for (int i = 0; i < rounds; i++) {
        job_token_get(0);
        CHECK_STATUS(PMIx_Notify_event(CODE(0), NULL, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    return rank_end();
}

/* How often poll() came back until @look had found all events. */
static void polls_check(int fd, unsigned (*look)(void *arg), void *arg)
{
    unsigned polls = 0, found;

    while (readable(fd, 0)) {
        CHECK(look(arg) == 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        job_token_put(0);
        do {
            CHECK(readable(fd, -1));
            polls++;
            found = look(arg);
        } while (found == 0);
        CHECK(found == 1);
    }
    /* Two more: what the answers of the server have rung for may come late. */
    if (polls > ROUNDS + 2) {
        fprintf(stderr, "%u polls for %d events\n", polls, ROUNDS);
        exit(99);
    }
}

static unsigned look_with_reader(void *arg)
{
    return (unsigned)read_all(arg);
}

static int an_event_is_one_poll_of_a_reader(int rank)
{
    const pmix_status_t code = CODE(0);
    shmix_events_t *events;
    int fd;

    if (rank == 1) {
        return publish_when_asked(ROUNDS);
    }
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &events), PMIX_SUCCESS);
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    polls_check(fd, look_with_reader, events);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

static unsigned look_with_handler(void *arg)
{
    const unsigned before = received;

    PMIx_Progress();
    return received - before;
}

static int an_event_is_one_poll_of_a_handler(int rank)
{
    pmix_status_t code = CODE(0);
    int fd;

    if (rank == 1) {
        return publish_when_asked(ROUNDS);
    }
    init_external();
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0);
    polls_check(fd, look_with_handler, NULL);
    return rank_end();
}

/* ---- a byte that is refused ------------------------------------------------------------------ */

static int a_byte_that_is_refused_comes_later(int rank)
{
    const pmix_status_t code = CODE(0);
    shmix_events_t *events;
    int fd;

    if (rank == 1) {
        return publish_when_asked(1);
    }
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, &code, 1, &events), PMIX_SUCCESS);
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    while (readable(fd, 0)) {
        CHECK(read_all(events) == 0);
    }
    host_looks(); /* from here on it refuses */
    job_token_put(0);
    do { /* there is no other news; what an answer has rung for may come late */
        CHECK(readable(fd, -1));
    } while (read_all(events) == 0);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

static int host_refuses(struct job *job)
{
    job_token_get(2);
    atomic_store(&refusals, 5);
    job_token_put(3);
    (void)job_wait(job, 0);
    CHECK(atomic_load(&refusals) == 0);
    return 0;
}

/* A lost server is news, and then the descriptor is quiet. */
static int the_end_of_the_server_wakes(int rank)
{
    const bool external = rank == 0;
    shmix_events_t *events;
    shmix_event_t event;
    int fd;

    if (external) {
        init_external();
        CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    } else {
        CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    }
    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_NOW, NULL, 0, &events), PMIX_SUCCESS);
    CHECK_STATUS(shmix_fd(&fd), PMIX_SUCCESS);
    do {
        PMIx_Progress();
        CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    } while (readable(fd, 0));
    job_token_put(0);
    CHECK(readable(fd, -1));
    do {
        if (external) {
            PMIx_Progress();
        }
        (void)shmix_events_next(events, &event);
    } while (readable(fd, 0) || (external && lost == 0));
    CHECK_STATUS(shmix_events_wait(events, SHMIX_FOREVER, &event), PMIX_ERR_LOST_CONNECTION);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

static int end_the_server(struct job *job)
{
    for (int rank = 0; rank < job->size; rank++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    return 0;
}

/* Who has not asked costs the server nothing. */
static int nobody_else_is_written_to(int rank)
{
    if (rank == 1) {
        return publish();
    }
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) >= 0);
    let_rank_1_go();
    host_looks();
    let_rank_1_go();
    let_rank_1_go();
    host_looks();
    return rank_end();
}

static int host_counts_nothing(struct job *job)
{
    host_check(0);
    (void)job_wait(job, 0);
    return 0;
}

static const struct job_case cases[] = {
    { "a_sleeper_is_written_to_once", 2, a_sleeper_is_written_to_once, host_counts },
    { "readers_are_woken_too", 2, readers_are_woken_too, host_counts },
    { "answers_and_fences_wake", 2, answers_and_fences_wake },
    { "an_event_is_one_poll_of_a_reader", 2, an_event_is_one_poll_of_a_reader },
    { "an_event_is_one_poll_of_a_handler", 2, an_event_is_one_poll_of_a_handler },
    { "a_byte_that_is_refused_comes_later", 2, a_byte_that_is_refused_comes_later, host_refuses },
    { "the_end_of_the_server_wakes", 2, the_end_of_the_server_wakes, end_the_server },
    { "nobody_else_is_written_to", 2, nobody_else_is_written_to, host_counts_nothing },
};

JOB_MAIN(cases)
