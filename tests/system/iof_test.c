/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof_test.c - output that a host delivers comes to those who pull it: all of it, in order, by
 * channel, to a callback or to their own streams, and no faster than they take it. */
#include <dirent.h>
#include <pmix_tool.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <shmix.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#define PULLED PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL
#define PIECE ((size_t)64 << 10)
#define PIECES 64
#define PULLS_MAX 64 /* of one process */
#define REFUSED "nobody.has.it"
#define NESTED \
    "drops.all" /* who hears of the end of a pull of it drops both ranks, and takes none */
#define LATER "answered.later" /* the begin of a pull of rank 0, and the end of one of rank 1 */

/* ---- the host -------------------------------------------------------------------------------- */

static struct {
    sem_t asked, stopped;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
} later; /* the host is asked */

static pmix_status_t on_pull_later(bool begins, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    later.cbfunc = cbfunc;
    later.cbdata = cbdata;
    sem_post(begins ? &later.asked : &later.stopped);
    return PMIX_SUCCESS;
}

static pmix_status_t on_pull_nested(bool begins)
{
    for (pmix_rank_t rank = 0; rank < 2 && !begins; rank++) {
        pmix_proc_t one;

        PMIx_Load_procid(&one, JOB_NSPACE, rank);
        PMIx_server_deregister_client(&one, NULL, NULL);
    }
    if (!begins) {
        sem_post(&later.stopped);
    }
    return begins ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_FOUND;
}

static sem_t taken;
static _Atomic int taken_count;

static pmix_status_t on_pull(const pmix_proc_t procs[], size_t nprocs,
                             const pmix_info_t directives[], size_t ndirs,
                             pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(nprocs == 1 && ndirs >= 2 && PMIx_Check_key(directives[ndirs - 2].key, PMIX_USERID));
    CHECK(directives[ndirs - 2].value.data.uint32 == geteuid());
    CHECK((channels & PMIX_FWD_STDIN_CHANNEL) == 0);
    if (strcmp(procs->nspace, REFUSED) == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (strcmp(procs->nspace, NESTED) == 0) {
        return on_pull_nested(!PMIx_Check_key(directives[0].key, PMIX_IOF_STOP));
    }
    if (strcmp(procs->nspace, LATER) == 0) {
        const bool begins = !PMIx_Check_key(directives[0].key, PMIX_IOF_STOP);

        if (procs->rank == 0 || !begins) {
            return on_pull_later(begins, cbfunc, cbdata);
        }
    }
    if (procs->rank == 1) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    cbfunc(PMIX_SUCCESS, cbdata);
    cbfunc(PMIX_SUCCESS, cbdata); /* which is dropped */
    return PMIX_SUCCESS;
}

static void on_taken(pmix_status_t status, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS && cbdata == &taken);
    taken_count++;
    sem_post(&taken);
}

static void deliver_of(const char *nspace, pmix_rank_t rank, pmix_iof_channel_t channel,
                       const char *text)
{
    pmix_byte_object_t bytes = { .bytes = (char *)(uintptr_t)text, .size = strlen(text) };
    pmix_proc_t source;

    PMIx_Proc_load(&source, nspace, rank);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, channel, &bytes, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

static void deliver(pmix_rank_t rank, pmix_iof_channel_t channel, const char *text)
{
    deliver_of(JOB_NSPACE, rank, channel, text);
}

/* Byte @at of what a rank writes. */
static char byte_of(size_t at)
{
    return (char)('a' + (at * 7 + at / 251) % 26);
}

/* Piece @number of a stream, with a callback. */
static void deliver_piece(size_t number)
{
    char *const piece = malloc(PIECE);
    pmix_byte_object_t bytes = { .bytes = piece, .size = PIECE };
    pmix_proc_t source;

    CHECK(piece != NULL);
    for (size_t i = 0; i < PIECE; i++) {
        piece[i] = byte_of(number * PIECE + i);
    }
    PMIx_Proc_load(&source, JOB_NSPACE, 0);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0,
                                         on_taken, &taken),
                 PMIX_SUCCESS);
    free(piece); /* it has been copied */
}

static void deliver_complete(pmix_rank_t rank, pmix_iof_channel_t channel, const char *text)
{
    pmix_byte_object_t bytes = { .bytes = (char *)(uintptr_t)text, .size = strlen(text) };
    pmix_info_t complete;
    pmix_proc_t source;

    PMIx_Proc_load(&source, JOB_NSPACE, rank);
    PMIx_Info_load(&complete, PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, channel, &bytes, &complete, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

/* ---- the rank: what comes -------------------------------------------------------------------- */

static struct {
    size_t size, ends;
    char bytes[256];
} received[9]; /* by channel */
static sem_t ended;

static void on_output(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    CHECK(handler != 0 && channel < sizeof(received) / sizeof(received[0]) && ninfo == 0 &&
          info == NULL);
    CHECK(strcmp(source->nspace, JOB_NSPACE) == 0 && source->rank == 0);
    if (payload->size == 0) {
        received[channel].ends++;
        sem_post(&ended);
        return;
    }
    CHECK(received[channel].ends == 0);
    CHECK(received[channel].size + payload->size <= sizeof(received[channel].bytes));
    memcpy(received[channel].bytes + received[channel].size, payload->bytes, payload->size);
    received[channel].size += payload->size;
}

static bool is_received(pmix_iof_channel_t channel, const char *text)
{
    return received[channel].size == strlen(text) &&
           memcmp(received[channel].bytes, text, strlen(text)) == 0;
}

static size_t pull(pmix_rank_t rank, pmix_iof_channel_t channels, pmix_iof_cbfunc_t cbfunc)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, rank);
    const pmix_status_t rc = PMIx_IOF_pull(&proc, 1, NULL, 0, channels, cbfunc, NULL, NULL);

    CHECK(rc > 0);
    return (size_t)rc;
}

/* ---- channels, ends, and what comes after (TQ42, TQ44) --------------------------------------- */

static int rank_pulls(int rank)
{
    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    const size_t number = pull(0, PULLED, on_output);

    job_token_put(0);
    job_sem_wait(&ended);
    job_sem_wait(&ended);
    CHECK(is_received(PMIX_FWD_STDOUT_CHANNEL, "one\ntwo\n"));
    CHECK(is_received(PMIX_FWD_STDERR_CHANNEL, "oops\n"));
    CHECK(received[PMIX_FWD_STDDIAG_CHANNEL].size == 0);
    CHECK_STATUS(PMIx_IOF_deregister(number, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_IOF_deregister(number, NULL, 0, NULL, NULL), PMIX_ERR_NOT_FOUND);
    job_token_put(0);
    job_token_get(1);
    CHECK(is_received(PMIX_FWD_STDOUT_CHANNEL, "one\ntwo\n"));
    return rank_end();
}

static int host_delivers(struct job *job)
{
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "one\n");
    deliver(1, PMIX_FWD_STDOUT_CHANNEL, "of another rank\n");
    deliver(0, PMIX_FWD_STDDIAG_CHANNEL, "of another channel\n");
    deliver_complete(0, PMIX_FWD_STDERR_CHANNEL, "oops\n");
    deliver_complete(0, PMIX_FWD_STDOUT_CHANNEL, "two\n");
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "too late\n");
    job_token_put(1);
    return 0;
}

/* ---- everything by callback, all ranks, all channels ----------------------------------------- */

static sem_t registered, deregistered;
static size_t registered_number;

static void on_registered(pmix_status_t status, size_t number, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS && cbdata == &registered && number > 0);
    registered_number = number;
    sem_post(&registered);
}

static void on_deregistered(pmix_status_t status, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS && cbdata == &deregistered);
    /* What was on its way has come. */
    CHECK(is_received(PMIX_FWD_STDOUT_CHANNEL, "before"));
    sem_post(&deregistered);
}

static int rank_pulls_nb(int rank)
{
    const pmix_proc_t all = proc_of("", PMIX_RANK_WILDCARD); /* of its own job */

    rank_begin(NULL);
    sem_init(&registered, 0, 0);
    sem_init(&deregistered, 0, 0);
    sem_init(&ended, 0, 0);
    CHECK_STATUS(PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_ALL_CHANNELS, on_output, on_registered,
                               &registered),
                 PMIX_SUCCESS);
    job_sem_wait(&registered);
    job_token_put(0);
    job_token_get(1);
    CHECK_STATUS(PMIx_IOF_deregister(registered_number, NULL, 0, on_deregistered, &deregistered),
                 PMIX_SUCCESS);
    job_sem_wait(&deregistered);
    return rank_end();
}

static int host_delivers_once(struct job *job)
{
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "before");
    job_token_put(1);
    return 0;
}

/* ---- without a callback: to its own streams (TQ43) ------------------------------------------- */

static int rank_prints(int rank)
{
    const int streams[] = { memfd_create("out", 0), memfd_create("err", 0) };
    char out[64] = "", err[64] = "";

    rank_begin(NULL);
    CHECK(streams[0] >= 0 && streams[1] >= 0);
    const int before = dup(STDERR_FILENO);
    CHECK(dup2(streams[0], STDOUT_FILENO) >= 0 && dup2(streams[1], STDERR_FILENO) >= 0);
    const size_t number = pull(PMIX_RANK_WILDCARD, PULLED, NULL);

    job_token_put(0);
    job_token_get(1);
    const pmix_status_t rc = PMIx_IOF_deregister(number, NULL, 0, NULL, NULL);

    CHECK(dup2(before, STDERR_FILENO) >= 0);
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(pread(streams[0], out, sizeof(out) - 1, 0) >= 0);
    CHECK(pread(streams[1], err, sizeof(err) - 1, 0) >= 0);
    CHECK(strcmp(out, "one\ntwo\n") == 0 && strcmp(err, "oops\n") == 0);
    return rank_end();
}

static int host_has_printed(struct job *job)
{
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "one\n");
    deliver(1, PMIX_FWD_STDERR_CHANNEL, "oops\n");
    deliver(7, PMIX_FWD_STDOUT_CHANNEL, "two\n");
    job_token_put(1);
    return 0;
}

/* ---- a slow reader slows the host, and loses nothing ----------------------------------------- */

static size_t slow_size, slow_total = PIECES * PIECE;

static void on_piece(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                     pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    if (slow_size == 0) {
        job_token_put(0);
        job_token_get(1);
    }
    for (size_t i = 0; i < payload->size; i++) {
        CHECK(payload->bytes[i] == byte_of(slow_size + i));
    }
    slow_size += payload->size;
    if (slow_size == slow_total) {
        sem_post(&ended);
    }
}

static int rank_is_slow(int rank)
{
    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    const size_t number = pull(0, PMIX_FWD_STDOUT_CHANNEL, on_piece);

    job_token_put(0);
    job_sem_wait(&ended);
    CHECK_STATUS(PMIx_IOF_deregister(number, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    return rank_end();
}

/* Return: when the rank has stopped reading, and the host would have to wait. */
static void deliver_too_much(void)
{
    sem_init(&taken, 0, 0);
    taken_count = 0;
    job_token_get(0);
    for (size_t i = 0; i < PIECES; i++) {
        deliver_piece(i);
    }
    job_token_get(0); /* it is in its callback */
    deliver(0, PMIX_FWD_STDDIAG_CHANNEL, "behind all of them");
    CHECK(taken_count < PIECES);
}

static int host_waits(struct job *job)
{
    deliver_too_much();
    job_token_put(1);
    for (int i = 0; i < PIECES; i++) {
        job_sem_wait(&taken);
    }
    CHECK(taken_count == PIECES);
    return 0;
}

/* A reader that dies holds nobody up. */
static int host_kills_the_reader(struct job *job)
{
    deliver_too_much();
    CHECK(kill(job->pids[0], SIGKILL) == 0);
    for (int i = 0; i < PIECES; i++) {
        job_sem_wait(&taken);
    }
    (void)job_wait(job, 0);
    return 0;
}

/* ---- the end: what is on its way still comes -------------------------------------------------- */

#define LAST 16

/* It stands in its callback when the server begins to end. */
static int rank_has_the_rest(int rank)
{
    slow_total = LAST * PIECE;
    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    (void)pull(0, PMIX_FWD_STDOUT_CHANNEL, on_piece);
    job_token_put(0);
    job_sem_wait(&ended);
    (void)PMIx_Finalize(NULL, 0); /* its server has gone, which is all it could say */
    return 0;
}

static int host_ends(struct job *job)
{
    sem_init(&taken, 0, 0);
    taken_count = 0;
    job_token_get(0);
    for (size_t i = 0; i < LAST; i++) {
        deliver_piece(i);
    }
    job_token_get(0);
    deliver(0, PMIX_FWD_STDDIAG_CHANNEL, "behind all of them");
    CHECK(taken_count < LAST);
    job_token_put(1);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    return 0;
}

static sem_t leaving;
static size_t left_size;

static void on_last(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                    pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    if (left_size == 0) {
        job_sem_wait(&leaving);
    }
    left_size += payload->size;
}

/* It has had nothing of it when it says that it leaves. */
static int rank_leaves_with_the_rest(int rank)
{
    rank_begin(NULL);
    sem_init(&leaving, 0, 0);
    (void)pull(0, PMIX_FWD_STDOUT_CHANNEL, on_last);
    job_token_put(0);
    job_token_get(1);
    sem_post(&leaving);
    rank_end();
    CHECK(left_size == 3 * 1000);
    return 0;
}

static int host_delivers_three(struct job *job)
{
    char text[1001];

    memset(text, 'x', 1000);
    text[1000] = '\0';
    job_token_get(0);
    for (int i = 0; i < 3; i++) {
        deliver(0, PMIX_FWD_STDOUT_CHANNEL, text);
    }
    job_token_put(1);
    return 0;
}

/* One that leaves without a word to its pull holds nobody up. */
static int rank_leaves(int rank)
{
    rank_begin(NULL);
    (void)pull(1, PULLED, on_output);
    (void)pull(1, PULLED, NULL);
    return rank_end();
}

/* ---- what came before the pull; what is dropped (TQ46) ---------------------------------------- */

/* The host has delivered before anybody asked; the end says that all has come. */
static int rank_comes_late(int rank)
{
    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    job_token_get(1);
    (void)pull(0, PULLED, on_output);
    job_sem_wait(&ended);
    CHECK(is_received(PMIX_FWD_STDOUT_CHANNEL, "early\n"));
    return rank_end();
}

static int host_is_early(struct job *job)
{
    deliver_complete(0, PMIX_FWD_STDOUT_CHANNEL, "early\n");
    job_token_put(1);
    return 0;
}

/* ---- a host that takes its time to answer ---------------------------------------------------- */

static void on_line(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                    pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    CHECK(strcmp(source->nspace, LATER) == 0 && source->rank == 1 && ninfo == 0);
    CHECK(received[channel].size + payload->size <= sizeof(received[channel].bytes));
    memcpy(received[channel].bytes + received[channel].size, payload->bytes, payload->size);
    received[channel].size += payload->size;
    sem_post(&ended);
}

static size_t pull_line(void)
{
    const pmix_proc_t proc = proc_of(LATER, 1);
    const pmix_status_t rc = PMIx_IOF_pull(&proc, 1, NULL, 0, PULLED, on_line, NULL, NULL);

    CHECK(rc > 0);
    return (size_t)rc;
}

/* It pulls again once the host has heard that it has taken the first pull back. */
static int rank_pulls_again(int rank)
{
    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    CHECK_STATUS(PMIx_IOF_deregister(pull_line(), NULL, 0, NULL, NULL), PMIX_SUCCESS);
    job_token_get(1);
    (void)pull_line();
    job_sem_wait(&ended);
    CHECK(is_received(PMIX_FWD_STDOUT_CHANNEL, "for the next pull"));
    return rank_end();
}

/* What a pull no longer wants, and the host does not know that, is not for the next pull. */
static int host_answers_the_end_later(struct job *job)
{
    job_sem_wait(&later.stopped);
    deliver_of(LATER, 1, PMIX_FWD_STDOUT_CHANNEL, "for a pull that has ended");
    later.cbfunc(PMIX_SUCCESS, later.cbdata);
    deliver_of(LATER, 1, PMIX_FWD_STDOUT_CHANNEL, "for the next pull");
    job_token_put(1);
    return 0;
}

/* Until the host has heard of the end of a pull it counts as one. */
static int rank_pulls_many(int rank)
{
    const pmix_proc_t proc = proc_of(LATER, 1);

    rank_begin(NULL);
    for (int i = 0; i < PULLS_MAX; i++) {
        CHECK_STATUS(PMIx_IOF_deregister(pull_line(), NULL, 0, NULL, NULL), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_IOF_pull(&proc, 1, NULL, 0, PULLED, on_line, NULL, NULL),
                 PMIX_ERR_OUT_OF_RESOURCE);
    return rank_end();
}

static int host_never_answers_the_end(struct job *job)
{
    for (int i = 0; i < PULLS_MAX; i++) {
        job_sem_wait(&later.stopped);
    }
    return 0;
}

static int rank_is_not_answered(int rank)
{
    const pmix_proc_t proc = proc_of(LATER, 0);

    rank_begin(NULL);
    (void)PMIx_IOF_pull(&proc, 1, NULL, 0, PULLED, on_output, NULL, NULL);
    return 1;
}

/* It agrees to a pull whose process has gone, and so has all of its job: then it hears of the end. */
static int host_agrees_too_late(struct job *job)
{
    job_sem_wait(&later.asked);
    CHECK(kill(job->pids[0], SIGKILL) == 0);
    (void)job_wait(job, 0);
    PMIx_server_deregister_nspace(JOB_NSPACE, NULL, NULL);
    later.cbfunc(PMIX_SUCCESS, later.cbdata);
    job_sem_wait(&later.stopped);
    later.cbfunc(PMIX_SUCCESS, later.cbdata);
    return 0;
}

#define OF_EACH 3

static int rank_is_dropped(int rank)
{
    const pmix_proc_t proc = proc_of(NESTED, 0);

    rank_begin(NULL);
    for (int i = 0; i < OF_EACH; i++) {
        CHECK(PMIx_IOF_pull(&proc, 1, NULL, 0, PULLED, on_output, NULL, NULL) >= 0);
    }
    job_token_put(0);
    job_token_get(1);
    (void)PMIx_Finalize(NULL, 0);
    return 0;
}

/* The host's entry is called for the end of one pull, and ends all of them. */
static int host_drops_who_pulls(struct job *job)
{
    job_token_get(0);
    job_token_get(0);
    job_token_put(1);
    for (int i = 0; i < 2 * OF_EACH; i++) {
        job_sem_wait(&later.stopped);
    }
    job_token_put(1);
    CHECK(job_wait(job, 0) == 0 && job_wait(job, 1) == 0);
    return 0;
}

#define CACHE 1000u
static size_t dropped_last; /* where the last piece began, as its first byte says */
static size_t dropped_size;
static uint64_t dropped_lost; /* as it is told */

/* The first piece stops the reader; then the host delivers far more than there is room for. */
static void on_some(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                    pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    if (ninfo > 0) {
        CHECK(ninfo == 1 && PMIx_Check_key(info->key, SHMIX_IOF_LOST));
        dropped_lost += info->value.data.uint64;
    }
    if (payload->size == 0) {
        sem_post(&ended);
        return;
    }
    if (dropped_size == 0) {
        job_token_put(0);
        job_token_get(1);
    }
    dropped_size += payload->size;
    dropped_last = (size_t)payload->bytes[payload->size - 1];
}

static void pull_dropping(const char *key)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, 0);
    const uint32_t size = CACHE;
    pmix_info_t info[2];

    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    PMIx_Info_load(&info[0], PMIX_IOF_CACHE_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&info[1], key, NULL, PMIX_BOOL);
    CHECK(PMIx_IOF_pull(&proc, 1, info, 2, PMIX_FWD_STDOUT_CHANNEL, on_some, NULL, NULL) > 0);
    job_token_put(0);
    job_sem_wait(&ended);
    CHECK(dropped_size < PIECES * PIECE);
    CHECK(dropped_size + dropped_lost == PIECES * PIECE);
}

static int rank_drops_oldest(int rank)
{
    pull_dropping(PMIX_IOF_DROP_OLDEST);
    CHECK(dropped_last == (size_t)byte_of(PIECES * PIECE - 1));
    return rank_end();
}

static int rank_drops_newest(int rank)
{
    pull_dropping(PMIX_IOF_DROP_NEWEST);
    return rank_end();
}

/* It is not made to wait. */
static int host_goes_on(struct job *job)
{
    sem_init(&taken, 0, 0);
    job_token_get(0);
    deliver_piece(0);
    job_token_get(0);
    for (size_t i = 1; i < PIECES; i++) {
        deliver_piece(i);
    }
    for (int i = 0; i < PIECES; i++) {
        job_sem_wait(&taken);
    }
    deliver_complete(0, PMIX_FWD_STDOUT_CHANNEL, "");
    job_token_put(1);
    return 0;
}

/* ---- marks (TQ47) ----------------------------------------------------------------------------- */

static void pull_marked(const char *key, const char *want)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, 0);
    pmix_info_t info;

    memset(received, 0, sizeof(received));
    PMIx_Info_load(&info, key, NULL, PMIX_BOOL);
    const pmix_status_t number = PMIx_IOF_pull(&proc, 1, &info, 1, PMIX_FWD_STDOUT_CHANNEL,
                                               on_output, NULL, NULL);

    CHECK(number > 0);
    job_token_put(0);
    job_sem_wait(&ended);
    CHECK_STATUS(PMIx_IOF_deregister((size_t)number, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    if (want != NULL && !is_received(PMIX_FWD_STDOUT_CHANNEL, want)) {
        fprintf(stderr, "%s: %.*s\n", key, (int)received[PMIX_FWD_STDOUT_CHANNEL].size,
                received[PMIX_FWD_STDOUT_CHANNEL].bytes);
        exit(1);
    }
}

#define MARKS 5

static int rank_marks(int rank)
{
    const char *const out = received[PMIX_FWD_STDOUT_CHANNEL].bytes;

    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    pull_marked(PMIX_IOF_TAG_OUTPUT, "[test.job,0]<stdout>: one\n[test.job,0]<stdout>: \n"
                                     "[test.job,0]<stdout>: a<b\n");
    pull_marked(PMIX_IOF_RANK_OUTPUT, "[0]<stdout>: one\n[0]<stdout>: \n[0]<stdout>: a<b\n");
    pull_marked(PMIX_IOF_XML_OUTPUT, "<stdout nspace=\"test.job\" rank=\"0\">one</stdout>\n"
                                     "<stdout nspace=\"test.job\" rank=\"0\"></stdout>\n"
                                     "<stdout nspace=\"test.job\" rank=\"0\">a&lt;b</stdout>\n");
    pull_marked(PMIX_IOF_TIMESTAMP_OUTPUT, NULL);
    CHECK(strncmp(out, "20", 2) == 0 && out[10] == 'T' && strncmp(out + 24, " one\n20", 7) == 0);
    pull_marked(PMIX_IOF_OUTPUT_RAW, "one\n\na<b");
    return rank_end();
}

/* Lines that come in parts, one without its end. */
static int host_delivers_parts(struct job *job)
{
    for (int i = 0; i < MARKS; i++) {
        job_token_get(0);
        deliver(0, PMIX_FWD_STDOUT_CHANNEL, "on");
        deliver(0, PMIX_FWD_STDOUT_CHANNEL, "e\n\na");
        deliver_complete(0, PMIX_FWD_STDOUT_CHANNEL, "<b");
    }
    return 0;
}

/* ---- held back (TQ45) -------------------------------------------------------------------------- */

static char pieces[64]; /* what has come, a '|' behind each call */

static void on_gathered(size_t handler, pmix_iof_channel_t channel, pmix_proc_t *source,
                        pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    const size_t used = strlen(pieces);

    CHECK(used + payload->size + 2 < sizeof(pieces));
    if (payload->size > 0) {
        memcpy(pieces + used, payload->bytes, payload->size);
    }
    pieces[used + payload->size] = '|';
    sem_post(&ended);
}

static size_t pull_gathering(uint32_t size, uint32_t seconds)
{
    const pmix_proc_t proc = proc_of(JOB_NSPACE, 0);
    pmix_info_t info[2];

    memset(pieces, 0, sizeof(pieces));
    PMIx_Info_load(&info[0], PMIX_IOF_BUFFERING_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&info[1], PMIX_IOF_BUFFERING_TIME, &seconds, PMIX_UINT32);
    const pmix_status_t number = PMIx_IOF_pull(&proc, 1, info, 2, PMIX_FWD_STDOUT_CHANNEL,
                                               on_gathered, NULL, NULL);

    CHECK(number > 0);
    return (size_t)number;
}

static int rank_gathers(int rank)
{
    rank_begin(NULL);
    sem_init(&ended, 0, 0);
    size_t number = pull_gathering(3, 0);

    job_token_put(0);
    job_token_get(1);
    CHECK_STATUS(PMIx_IOF_deregister(number, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    CHECK(strcmp(pieces, "abc|def|g|") == 0);

    number = pull_gathering(1000, 1);
    job_token_put(0);
    while (strcmp(pieces, "late|") != 0) { /* without a time it would never come */
        job_sem_wait(&ended);
    }
    CHECK_STATUS(PMIx_IOF_deregister(number, NULL, 0, NULL, NULL), PMIX_SUCCESS);

    number = pull_gathering(1000, 1000);
    job_token_put(0);
    while (strcmp(pieces, "end||") != 0) { /* the end brings the rest */
        job_sem_wait(&ended);
    }
    CHECK_STATUS(PMIx_IOF_deregister(number, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    return rank_end();
}

static int host_delivers_bits(struct job *job)
{
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "a");
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "bcdef");
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "g");
    job_token_put(1);
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "la");
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "te");
    job_token_get(0);
    deliver(0, PMIX_FWD_STDOUT_CHANNEL, "e");
    deliver_complete(0, PMIX_FWD_STDOUT_CHANNEL, "nd");
    return 0;
}

/* ---- input (TQ48) ----------------------------------------------------------------------------- */

static sem_t pushed;
static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER; /* of what comes here */
static char input[64];
static size_t input_size;
static bool input_over;
static _Atomic int stopped_pushes, ends; /* ends: to rank 6 */

static pmix_status_t on_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                             size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                             const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(ntargets == 1 && strcmp(targets->nspace, JOB_NSPACE) == 0);
    if (targets->rank == 4) { /* whose host drops the other one that pushes to it */
        const pmix_proc_t other = proc_of(JOB_NSPACE, 1 - source->rank);

        PMIx_server_deregister_client(&other, NULL, NULL);
        stopped_pushes++;
        return PMIX_OPERATION_SUCCEEDED;
    }
    CHECK(source->rank == 0);
    if (targets->rank == 7) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (targets->rank == 5) { /* it has had enough with the first one */
        cbfunc(++stopped_pushes == 1 ? PMIX_ERR_IOF_XOFF : PMIX_SUCCESS, cbdata);
        return PMIX_SUCCESS;
    }
    CHECK(PMIx_Check_key(directives[ndirs - 2].key, PMIX_USERID));
    if (targets->rank == 6) {
        ends += bo->size == 0;
        job_token_put(bo->size == 0);
        cbfunc(PMIX_SUCCESS, cbdata);
        return PMIX_SUCCESS;
    }
    if (bo->size > sizeof(input)) {
        CHECK(bo->size == (size_t)1 << 20 && bo->bytes[bo->size - 1] == 'x');
        return PMIX_OPERATION_SUCCEEDED;
    }
    pthread_mutex_lock(&input_lock);
    CHECK(targets->rank == PMIX_RANK_WILDCARD && !input_over);
    input_over = ndirs == 3 && PMIx_Check_key(directives[0].key, PMIX_IOF_COMPLETE);
    if (bo->size > 0) {
        memcpy(input + input_size, bo->bytes, bo->size);
    }
    input_size += bo->size;
    pthread_mutex_unlock(&input_lock);
    cbfunc(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

static void on_pushed(pmix_status_t status, void *cbdata)
{
    CHECK(status == PMIX_SUCCESS && cbdata == &pushed);
    sem_post(&pushed);
}

static int rank_pushes(int rank)
{
    static char large[1 << 20];
    char text[] = "one\n";
    pmix_byte_object_t bytes = { .bytes = text, .size = 4 }, none = { .bytes = NULL, .size = 1 };
    pmix_byte_object_t large_bytes = { .bytes = large, .size = sizeof(large) };
    const pmix_proc_t all = proc_of("", PMIX_RANK_WILDCARD), nobody = proc_of(JOB_NSPACE, 7);
    pmix_info_t complete;

    CHECK_STATUS(PMIx_IOF_push(&all, 1, &bytes, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
    rank_begin(NULL);
    sem_init(&pushed, 0, 0);
    memset(large, 'x', sizeof(large));
    PMIx_Info_load(&complete, PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_IOF_push(&all, 1, &bytes, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_IOF_push(&all, 1, &bytes, NULL, 0, on_pushed, &pushed), PMIX_SUCCESS);
    job_sem_wait(&pushed);
    CHECK_STATUS(PMIx_IOF_push(&all, 1, &large_bytes, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_IOF_push(&nobody, 1, &bytes, NULL, 0, NULL, NULL), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_IOF_push(&all, 1, &none, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_push(&all, 1, NULL, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_push(NULL, 1, &bytes, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_push(&all, 1, NULL, &complete, 1, NULL, NULL), PMIX_SUCCESS);
    return rank_end();
}

static int host_is_pushed_to(struct job *job)
{
    CHECK(job_wait(job, 0) == 0);
    pthread_mutex_lock(&input_lock);
    CHECK(input_over && input_size == 8 && memcmp(input, "one\none\n", 8) == 0);
    pthread_mutex_unlock(&input_lock);
    return 0;
}

/* ---- who pushes its own input, and who ends what (TQ48) ------------------------------------------ */

static int threads(void)
{
    DIR *const dir = opendir("/proc/self/task");
    int count = 0;

    CHECK(dir != NULL);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

/* A thread that has been joined may be there for a moment. */
static void threads_await(int count)
{
    while (threads() != count) {
        sched_yield();
    }
}

static int push_own(bool complete)
{
    const pmix_proc_t target = proc_of(JOB_NSPACE, 6);
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], PMIX_IOF_PUSH_STDIN, NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
    return PMIx_IOF_push(&target, 1, NULL, info, complete ? 2 : 1, NULL, NULL);
}

/* It says itself that its input is complete, which does not come to an end. */
static int rank_pushes_own(int rank)
{
    const pmix_proc_t target = proc_of(JOB_NSPACE, 6);
    char text[] = "a word";
    pmix_byte_object_t bytes = { .bytes = text, .size = 6 };
    pmix_info_t own;
    int pair[2];

    CHECK(pipe(pair) == 0 && dup2(pair[0], STDIN_FILENO) == STDIN_FILENO);
    rank_begin(NULL);
    sem_init(&pushed, 0, 0);
    PMIx_Info_load(&own, PMIX_IOF_PUSH_STDIN, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, &own, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, NULL, 0, on_pushed, &pushed), PMIX_SUCCESS);
    job_sem_wait(&pushed);
    job_token_get(0);
    const int before = threads();

    CHECK_STATUS(push_own(false), PMIX_SUCCESS);
    CHECK_STATUS(push_own(false), PMIX_ERR_RESOURCE_BUSY);
    CHECK(write(pair[1], "own", 3) == 3);
    job_token_get(0);
    CHECK_STATUS(push_own(true), PMIX_SUCCESS);
    threads_await(before); /* it is read no more */
    job_token_get(1);
    return rank_end();
}

static void *rest(void *arg)
{
    for (;;) {
        pause();
    }
    return arg;
}

/* It does not, and so the server says it. */
static int rank_leaves_its_input(int rank)
{
    pthread_t first;
    int pair[2];

    /* With the first one a sanitizer starts one of its own, which stays. */
    CHECK(pthread_create(&first, NULL, rest, NULL) == 0);
    const int before = threads();

    CHECK(pipe(pair) == 0 && dup2(pair[0], STDIN_FILENO) == STDIN_FILENO);
    rank_begin(NULL);
    CHECK_STATUS(push_own(false), PMIX_SUCCESS);
    CHECK(write(pair[1], "own", 3) == 3);
    job_token_get(0);
    CHECK(rank_end() == 0);
    threads_await(before);
    return 0;
}

/* That was no input of its own: others may push more of it. */
static int rank_leaves_a_word(int rank)
{
    const pmix_proc_t target = proc_of(JOB_NSPACE, 6);
    char text[] = "a word";
    pmix_byte_object_t bytes = { .bytes = text, .size = 6 };

    rank_begin(NULL);
    CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    return rank_end();
}

/* Return: how many ends were told of; what is told of a rank that finalizes is told before it goes. */
static int ends_of(struct job *job)
{
    CHECK(job_wait(job, 0) == 0);
    return atomic_exchange(&ends, 0);
}

static int host_receives_one_end(struct job *job)
{
    CHECK(ends_of(job) == 1);
    return 0;
}

static int host_receives_no_end(struct job *job)
{
    CHECK(ends_of(job) == 0);
    return 0;
}

/* ---- a host that stops who pushes to it -------------------------------------------------------- */

static void on_given_up(pmix_status_t status, void *cbdata)
{
    CHECK(status != PMIX_SUCCESS && cbdata == NULL);
}

static int rank_is_stopped(int rank)
{
    char text[] = "some";
    pmix_byte_object_t bytes = { .bytes = text, .size = 4 };
    const pmix_proc_t target = proc_of(JOB_NSPACE, 5), refused = proc_of(REFUSED, 0);

    rank_begin(NULL);
    sem_init(&pushed, 0, 0);
    CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, NULL, 0, on_pushed, &pushed), PMIX_SUCCESS);
    }
    /* Behind them, and answered: the server has them. */
    CHECK_STATUS(PMIx_IOF_pull(&refused, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_NOT_FOUND);
    job_token_put(0);
    for (int i = 0; i < 3; i++) {
        job_sem_wait(&pushed);
    }
    job_token_put(0);
    /* What still waits goes with it. */
    job_token_get(1);
    CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, NULL, 0, on_given_up, NULL), PMIX_SUCCESS);
    return rank_end();
}

static int host_stops(struct job *job)
{
    const pmix_proc_t source = proc_of(JOB_NSPACE, 0), nobody = proc_of("nobody", 3);

    CHECK_STATUS(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDOUT_CHANNEL, true, NULL, 0, NULL,
                                              NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    job_token_get(0);
    CHECK(stopped_pushes == 1);
    CHECK_STATUS(PMIx_server_IOF_flow_control(&nobody, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL,
                                              NULL),
                 PMIX_OPERATION_SUCCEEDED);
    CHECK(stopped_pushes == 1);
    CHECK_STATUS(PMIx_server_IOF_flow_control(&source, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL,
                                              NULL),
                 PMIX_OPERATION_SUCCEEDED);
    job_token_get(0);
    CHECK(stopped_pushes == 4);
    CHECK_STATUS(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0, NULL,
                                              NULL),
                 PMIX_OPERATION_SUCCEEDED);
    job_token_put(1);
    return 0;
}

static void on_any_end(pmix_status_t status, void *cbdata)
{
    /* the one that is dropped hears of the loss */
    sem_post(cbdata);
}

static int rank_waits_to_push(int rank)
{
    char text[] = "some";
    pmix_byte_object_t bytes = { .bytes = text, .size = 4 };
    const pmix_proc_t target = proc_of(JOB_NSPACE, 4), refused = proc_of(REFUSED, 0);

    rank_begin(NULL);
    job_token_get(1);
    sem_init(&pushed, 0, 0);
    CHECK_STATUS(PMIx_IOF_push(&target, 1, &bytes, NULL, 0, on_any_end, &pushed), PMIX_SUCCESS);
    /* Behind it, and answered: the server has it. */
    CHECK_STATUS(PMIx_IOF_pull(&refused, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_NOT_FOUND);
    job_token_put(0);
    job_sem_wait(&pushed);
    (void)PMIx_Finalize(NULL, 0);
    return 0;
}

/* All who wait go on, and the host's entry drops one of them meanwhile. */
static int host_drops_who_waits(struct job *job)
{
    const int before = stopped_pushes;

    CHECK_STATUS(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, true, NULL, 0, NULL,
                                              NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < 2; rank++) {
        job_token_put(1);
    }
    for (int rank = 0; rank < 2; rank++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL,
                                              NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < 2; rank++) {
        CHECK(job_wait(job, rank) == 0);
    }
    CHECK(stopped_pushes == before + 1);
    return 0;
}

/* ---- what is refused (TQ49: by the host) ----------------------------------------------------- */

static int rank_pulls_badly(int rank)
{
    const pmix_proc_t refused = proc_of(REFUSED, 0), me = proc_of(JOB_NSPACE, 0);
    pmix_proc_t endless = me;
    pmix_info_t unknown;

    CHECK_STATUS(PMIx_IOF_pull(&me, 1, NULL, 0, PULLED, on_output, NULL, NULL), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_IOF_deregister(1, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
    rank_begin(NULL);
    memset(endless.nspace, 'n', sizeof(endless.nspace));
    PMIx_Info_load(&unknown, "nobody.knows.it", NULL, PMIX_BOOL);
    unknown.flags = PMIX_INFO_REQD;
    CHECK_STATUS(PMIx_IOF_pull(&refused, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_IOF_pull(NULL, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_pull(&me, 0, NULL, 0, PULLED, on_output, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_pull(&endless, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_pull(&me, 1, NULL, 0, PMIX_FWD_STDIN_CHANNEL, on_output, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_pull(&me, 1, NULL, 0, PMIX_FWD_NO_CHANNELS, on_output, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_IOF_pull(&me, 1, &unknown, 1, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_IOF_deregister(7, NULL, 0, NULL, NULL), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_IOF_deregister(7, NULL, 0, on_deregistered, NULL), PMIX_ERR_NOT_FOUND);
    for (int i = 0; i < 64; i++) {
        (void)pull(0, PULLED, NULL);
    }
    CHECK_STATUS(PMIx_IOF_pull(&me, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_OUT_OF_RESOURCE);
    return rank_end();
}

static int host_delivers_badly(struct job *job)
{
    pmix_byte_object_t bytes = { .bytes = NULL, .size = 1 }, good = { .bytes = NULL, .size = 0 };
    pmix_proc_t source = proc_of(JOB_NSPACE, 0), all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);

    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, NULL,
                                         NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, NULL, NULL, 0, NULL,
                                         NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_IOF_deliver(NULL, PMIX_FWD_STDOUT_CHANNEL, &good, NULL, 0, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_IOF_deliver(&all, PMIX_FWD_STDOUT_CHANNEL, &good, NULL, 0, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDIN_CHANNEL, &good, NULL, 0, NULL,
                                         NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_ALL_CHANNELS, &good, NULL, 0, NULL,
                                         NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_server_IOF_deliver(&source, PMIX_FWD_STDOUT_CHANNEL, &good, NULL, 1, NULL,
                                         NULL),
                 PMIX_ERR_BAD_PARAM);
    return 0;
}

static int rank_of_no_entry(int rank)
{
    const pmix_proc_t me = proc_of(JOB_NSPACE, 0);
    char text[] = "input";
    pmix_byte_object_t bytes = { .bytes = text, .size = 5 };

    rank_begin(NULL);
    CHECK_STATUS(PMIx_IOF_pull(&me, 1, NULL, 0, PULLED, on_output, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_IOF_push(&me, 1, &bytes, NULL, 0, NULL, NULL), PMIX_ERR_NOT_SUPPORTED);
    return rank_end();
}

static const struct job_case without_entry = { "no_entry", 1, rank_of_no_entry };
static const struct job_case cases[] = {
    { "pulls", 1, rank_pulls, host_delivers },
    { "callbacks", 1, rank_pulls_nb, host_delivers_once },
    { "prints", 1, rank_prints, host_has_printed },
    { "slow", 1, rank_is_slow, host_waits },
    { "killed", 1, rank_is_slow, host_kills_the_reader, true },
    { "rest_of_server", 1, rank_has_the_rest, host_ends },
    { "rest_of_client", 1, rank_leaves_with_the_rest, host_delivers_three },
    { "leaves", 1, rank_leaves },
    { "again", 1, rank_pulls_again, host_answers_the_end_later },
    { "never", 1, rank_pulls_many, host_never_answers_the_end },
    { "too_late", 1, rank_is_not_answered, host_agrees_too_late, true },
    { "early", 1, rank_comes_late, host_is_early },
    { "drops_oldest", 1, rank_drops_oldest, host_goes_on },
    { "drops_newest", 1, rank_drops_newest, host_goes_on },
    { "gathers", 1, rank_gathers, host_delivers_bits },
    { "marks", 1, rank_marks, host_delivers_parts },
    { "pushes", 1, rank_pushes, host_is_pushed_to },
    { "pushes_own", 1, rank_pushes_own, host_receives_one_end },
    { "leaves_its_input", 1, rank_leaves_its_input, host_receives_one_end },
    { "leaves_a_word", 1, rank_leaves_a_word, host_receives_no_end },
    { "stopped", 1, rank_is_stopped, host_stops },
    { "dropped", 2, rank_waits_to_push, host_drops_who_waits },
    { "ends_in_ends", 2, rank_is_dropped, host_drops_who_pulls },
    { "badly", 1, rank_pulls_badly, host_delivers_badly },
};

int main(int argc, char **argv)
{
    const int failed = argc == 1 || strcmp(argv[argc == 5 ? 2 : 1], without_entry.name) == 0
                           ? job_main(argc, argv, &without_entry, 1)
                           : 0;

    sem_init(&later.asked, 0, 0);
    sem_init(&later.stopped, 0, 0);
    job_module.iof_pull = on_pull;
    job_module.push_stdin = on_push;
    return failed | job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
