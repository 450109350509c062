/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_test.c - processes become one namespace and part again, in all forms of the calls. */
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "support/sanitized.h"

#define SECOND "second.job" /* sorts before JOB_NSPACE */
#define ID_LONG PMIX_MAX_NSLEN

static pmix_proc_t me;

static pmix_proc_t proc_of(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return proc;
}

static pmix_proc_t everybody(void)
{
    return proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
}

static void fence(void)
{
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
}

static void yes(pmix_info_t *info, const char *key)
{
    CHECK_STATUS(PMIx_Info_load(info, key, NULL, PMIX_BOOL), PMIX_SUCCESS);
}

/* The connected namespaces of a process.  Return: how many. */
static size_t connected(const pmix_proc_t *proc, pmix_proc_t ret[4])
{
    pmix_value_t *value = NULL;
    const pmix_status_t rc = PMIx_Get(proc, SHMIX_CONNECTED, NULL, 0, &value);

    if (rc == PMIX_ERR_NOT_FOUND) {
        return 0;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_PROC);
    const size_t count = value->data.darray->size;

    CHECK(count <= 4);
    memcpy(ret, value->data.darray->array, count * sizeof(*ret));
    PMIx_Value_free(value, 1);
    return count;
}

/* ---- one job -------------------------------------------------------------------------------- */

static void connect_all(char nspace[PMIX_MAX_NSLEN + 1])
{
    const pmix_proc_t all = everybody();
    pmix_rank_t rank = PMIX_RANK_UNDEF;

    CHECK_STATUS(shmix_connect(&all, 1, NULL, 0, nspace, &rank), PMIX_SUCCESS);
    CHECK(rank == me.rank);
    CHECK(nspace[0] != '\0' && strlen(nspace) <= PMIX_MAX_NSLEN && strchr(nspace, ':') == NULL);
}

/* CN1, CN20 to CN24, CN52 to CN55, CN58 */
static int rank_of_one_job(int rank)
{
    char first[PMIX_MAX_NSLEN + 1], second[PMIX_MAX_NSLEN + 1];

    rank_begin(&me);
    const pmix_proc_t all = everybody();
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    connect_all(first);
    CHECK_STATUS(shmix_disconnect(first, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_disconnect(first, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    connect_all(second);
    CHECK(strcmp(first, second) != 0);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- all forms meet ------------------------------------------------------------------------- */

struct told {
    sem_t done;
    pmix_status_t status;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t rank;
};

static void on_connect(pmix_status_t status, char nspace[], pmix_rank_t rank, void *cbdata)
{
    struct told *const told = cbdata;

    told->status = status;
    strcpy(told->nspace, nspace);
    told->rank = rank;
    sem_post(&told->done);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    struct told *const told = cbdata;

    told->status = status;
    sem_post(&told->done);
}

static void told_wait(struct told *told, pmix_status_t want)
{
    while (sem_wait(&told->done) != 0) {
    }
    CHECK_STATUS(told->status, want);
}

/* CN2, CN3, CN64, X7, X8: each rank has a form of its own, and all get the same. */
static int rank_of_forms(int rank)
{
    struct told told = { .rank = PMIX_RANK_UNDEF };
    pmix_proc_t places[4];

    sem_init(&told.done, 0, 0);
    rank_begin(&me);
    const pmix_proc_t all = everybody();
    if (rank == 0) {
        CHECK_STATUS(shmix_connect(&all, 1, NULL, 0, told.nspace, &told.rank), PMIX_SUCCESS);
    } else if (rank == 1) {
        CHECK_STATUS(shmix_connect_nb(&all, 1, NULL, 0, on_connect, &told), PMIX_SUCCESS);
        told_wait(&told, PMIX_SUCCESS);
    } else if (rank == 2) {
        CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 0), PMIX_SUCCESS);
    } else {
        CHECK_STATUS(PMIx_Connect_nb(&all, 1, NULL, 0, on_op, &told), PMIX_SUCCESS);
        told_wait(&told, PMIX_SUCCESS);
    }
    for (pmix_rank_t peer = 0; peer < 4; peer++) {
        const pmix_proc_t proc = proc_of(JOB_NSPACE, peer);

        CHECK(connected(&proc, places) == 1 && places[0].rank == peer);
        CHECK(rank > 1 || strcmp(places[0].nspace, told.nspace) == 0);
    }
    CHECK(rank > 1 || told.rank == me.rank);
    fence(); /* all have looked */
    if (rank == 0) {
        CHECK_STATUS(shmix_disconnect(places[0].nspace, NULL, 0), PMIX_SUCCESS);
    } else if (rank == 1) {
        CHECK_STATUS(shmix_disconnect_nb(places[0].nspace, NULL, 0, on_op, &told), PMIX_SUCCESS);
        told_wait(&told, PMIX_SUCCESS);
    } else if (rank == 2) {
        CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    } else {
        CHECK_STATUS(PMIx_Disconnect_nb(&all, 1, NULL, 0, on_op, &told), PMIX_SUCCESS);
        told_wait(&told, PMIX_SUCCESS);
    }
    CHECK(connected(&me, places) == 0);
    return rank_end();
}

/* ---- several at once ------------------------------------------------------------------------ */

static void id_load(pmix_info_t *info, char letter)
{
    char id[ID_LONG + 1];

    memset(id, letter, ID_LONG);
    id[ID_LONG] = '\0';
    CHECK_STATUS(PMIx_Info_load(info, PMIX_CONNECT_ID, id, PMIX_STRING), PMIX_SUCCESS);
}

/* CN7 to CN10, CN59: begun in opposite orders, ended by their ids. */
static int rank_of_ids(int rank)
{
    struct told told[3] = { { .status = 1 } };
    pmix_info_t ids[2];
    pmix_proc_t places[4], others[4];

    rank_begin(&me);
    const pmix_proc_t all = everybody(), peer = proc_of(JOB_NSPACE, 1 - me.rank);
    id_load(&ids[0], 'a');
    id_load(&ids[1], 'b');
    for (int i = 0; i < 3; i++) {
        const int which = rank == 0 ? i : 2 - i;

        sem_init(&told[which].done, 0, 0);
        CHECK_STATUS(shmix_connect_nb(&all, 1, which < 2 ? &ids[which] : NULL, which < 2,
                                      on_connect, &told[which]),
                     PMIX_SUCCESS);
    }
    for (int i = 0; i < 3; i++) {
        told_wait(&told[i], PMIX_SUCCESS);
        CHECK(told[i].rank == me.rank);
        CHECK(i == 0 || strcmp(told[i].nspace, told[i - 1].nspace) != 0);
    }
    CHECK(connected(&me, places) == 3 && connected(&peer, others) == 3);
    for (int i = 0; i < 3; i++) {
        CHECK(strcmp(places[i].nspace, others[i].nspace) == 0);
    }
    fence();
    CHECK_STATUS(PMIx_Disconnect(&all, 1, &ids[1], 1), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, &ids[1], 1), PMIX_ERR_INVALID_OPERATION);
    CHECK_STATUS(shmix_disconnect(told[1].nspace, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_disconnect(told[0].nspace, NULL, 0), PMIX_SUCCESS);
    CHECK(connected(&me, places) == 0);
    PMIx_Info_destruct(&ids[0]);
    PMIx_Info_destruct(&ids[1]);
    return rank_end();
}

/* CN5, CN48: no order counts, and nobody counts twice. */
static int rank_of_order(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t new_rank;

    rank_begin(&me);
    const pmix_proc_t one_way[] = { proc_of(JOB_NSPACE, 2), proc_of(JOB_NSPACE, 0) };
    const pmix_proc_t other_way[] = { proc_of("", 0), one_way[0], one_way[1], one_way[0] };
    const pmix_proc_t twice[] = { proc_of(JOB_NSPACE, 1), everybody() };

    if (rank != 1) {
        CHECK_STATUS(shmix_connect(rank == 0 ? one_way : other_way, rank == 0 ? 2 : 4, NULL, 0,
                                   nspace, &new_rank),
                     PMIX_SUCCESS);
        CHECK(new_rank == (rank == 0 ? 0 : 1));
        CHECK_STATUS(PMIx_Disconnect(rank == 0 ? other_way : one_way, rank == 0 ? 4 : 2, NULL, 0),
                     PMIX_SUCCESS);
    }
    CHECK_STATUS(shmix_connect(twice, 2, NULL, 0, nspace, &new_rank), PMIX_SUCCESS);
    CHECK(new_rank == me.rank);
    CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* CN62: rank 0 puts its cluster in front, rank 1 does not; another cluster is unknown here. */
static int rank_of_cluster(int rank)
{
    const pmix_proc_t all = everybody();
    pmix_nspace_t cluster = "", plain = JOB_NSPACE, other = "elsewhere";
    pmix_proc_t named = all;
    pmix_value_t *value;
    pmix_rank_t new_rank;

    rank_begin(&me);
    CHECK_STATUS(PMIx_Get(&all, PMIX_CLUSTER_ID, NULL, 0, &value), PMIX_SUCCESS);
    snprintf(cluster, sizeof(cluster), "%s", value->data.string);
    PMIx_Value_free(value, 1);
    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(named.nspace, cluster, plain);
    CHECK_STATUS(shmix_connect(rank == 0 ? &named : &all, 1, NULL, 0, NULL, &new_rank),
                 PMIX_SUCCESS);
    CHECK(new_rank == me.rank);
    CHECK_STATUS(PMIx_Disconnect(rank == 1 ? &named : &all, 1, NULL, 0), PMIX_SUCCESS);
    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(named.nspace, other, plain);
    CHECK_STATUS(PMIx_Connect(&named, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    return rank_end();
}

/* ---- bad input ------------------------------------------------------------------------------ */

/* CN44 to CN46, CN49 */
static int rank_of_bad_input(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1], too_long[PMIX_MAX_NSLEN + 2];
    const pmix_proc_t all = everybody();
    pmix_info_t info;
    pmix_proc_t places[4];

    CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(shmix_disconnect("x", NULL, 0), PMIX_ERR_INIT);
    rank_begin(&me);
    const pmix_proc_t other = proc_of(JOB_NSPACE, 1 - me.rank);
    const pmix_proc_t unknown[] = { me, proc_of("no.such.job", 0) };
    const pmix_proc_t pair[] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };

    CHECK_STATUS(PMIx_Connect(NULL, 0, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect(&all, 0, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect(NULL, 1, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 1), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect_nb(&all, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_connect_nb(&all, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Connect(&other, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &(int){ 1 }, PMIX_INT), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Connect(unknown, 2, &info, 1), PMIX_ERR_TIMEOUT); /* it may be registered */
    CHECK_STATUS(PMIx_Disconnect(unknown, 2, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(NULL, 0, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Disconnect_nb(&all, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    memset(too_long, 'x', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = '\0';
    CHECK_STATUS(shmix_disconnect(NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_disconnect("", NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_disconnect(too_long, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(shmix_disconnect(JOB_NSPACE, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    CHECK_STATUS(shmix_disconnect_nb("x", NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_CONNECT_ID, &(uint32_t){ 1 }, PMIX_UINT32),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Connect(&all, 1, &info, 1), PMIX_ERR_BAD_PARAM);
    /* A stranger's namespace. */
    if (rank < 2) {
        CHECK_STATUS(shmix_connect(pair, 2, NULL, 0, nspace, NULL), PMIX_SUCCESS);
    }
    fence();
    if (rank == 2) {
        CHECK(connected(&pair[0], places) == 1);
        CHECK_STATUS(shmix_disconnect(places[0].nspace, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
        CHECK_STATUS(PMIx_Disconnect(pair, 2, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    }
    fence(); /* it is still there when the stranger comes */
    if (rank < 2) {
        CHECK_STATUS(PMIx_Disconnect(pair, 2, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

/* CN41, CN42 */
static int rank_of_timeout(int rank)
{
    const uint32_t seconds = 1;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_info_t info;

    rank_begin(&me);
    const pmix_proc_t all = everybody();
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_UINT32), PMIX_SUCCESS);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Connect(&all, 1, &info, 1), PMIX_ERR_TIMEOUT);
        job_token_put(0);
    } else {
        job_token_get(0);
    }
    connect_all(nspace);
    if (rank == 0) {
        CHECK_STATUS(shmix_disconnect(nspace, &info, 1), PMIX_ERR_TIMEOUT);
        job_token_put(0);
    } else {
        job_token_get(0);
    }
    CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- one after the other -------------------------------------------------------------------- */

#define HUNDRED 100

static void connect_often(void)
{
    char nspace[PMIX_MAX_NSLEN + 1];

    for (int i = 0; i < HUNDRED; i++) {
        connect_all(nspace);
        CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    }
}

/* CN66: the second hundred takes nothing that the first one has not taken. */
static int rank_of_hundred(int rank)
{
    rank_begin(&me);
    for (int i = 0; i < 2; i++) {
        connect_often();
        fence();
        if (rank == 0) {
            job_token_put(0);
            job_token_get(1);
        }
        fence();
    }
    return rank_end();
}

static int host_of_hundred(struct job *job)
{
    size_t used[2];

    for (int i = 0; i < 2; i++) {
        job_token_get(0); /* both ranks sleep in a fence, and the server with them */
        used[i] = mallinfo2().uordblks;
        job_token_put(1);
    }
    printf("connects: %zu bytes in use, then %zu\n", used[0], used[1]);
    CHECK(SANITIZED || used[1] <= used[0] + 4096);
    return 0;
}

/* ---- two jobs ------------------------------------------------------------------------------- */

#define REGISTERED 2 /* a token: the second job is there */

static void both(pmix_proc_t ret[2])
{
    if (strcmp(me.nspace, JOB_NSPACE) == 0) {
        job_token_get(REGISTERED);
    }
    ret[0] = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    ret[1] = proc_of(SECOND, PMIX_RANK_WILDCARD);
}

static uint32_t job_size_of(const char *nspace)
{
    const pmix_proc_t proc = proc_of(nspace, PMIX_RANK_WILDCARD);
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Get(&proc, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS);
    const uint32_t size = value->data.uint32;

    PMIx_Value_free(value, 1);
    return size;
}

static void second_add(struct job *job, int count)
{
    job_add(job, SECOND, count);
    for (int rank = 0; rank < job->it->size; rank++) {
        job_token_put(REGISTERED);
    }
}

static int host_of_two(struct job *job)
{
    second_add(job, 3);
    return 0;
}

/* CN4, CN17, CN20 to CN22, CN24: "second.job" comes first in the order. */
static int rank_of_two_jobs(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t new_rank;
    pmix_proc_t procs[2];

    rank_begin(&me);
    both(procs);
    CHECK_STATUS(shmix_connect(procs, 2, NULL, 0, nspace, &new_rank), PMIX_SUCCESS);
    CHECK(new_rank == (rank < 2 ? 3 + me.rank : me.rank));
    CHECK(job_size_of(JOB_NSPACE) == 2 && job_size_of(SECOND) == 3);
    CHECK_STATUS(PMIx_Disconnect(procs, 2, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* ---- what is local to a process after a call that has brought it ------------------------------ */

static pmix_status_t get_optional(const char *nspace, pmix_rank_t rank, const char *key)
{
    const pmix_proc_t proc = proc_of(nspace, rank);
    pmix_value_t *value = NULL;
    pmix_info_t optional;

    yes(&optional, PMIX_OPTIONAL);
    const pmix_status_t rc = PMIx_Get(&proc, key, &optional, 1, &value);

    if (rc == PMIX_SUCCESS) {
        PMIx_Value_free(value, 1);
    }
    return rc;
}

/* Ask without a call that looks for itself in between. */
static void expect_optional(const pmix_proc_t procs[2], pmix_status_t want)
{
    const char *const other = procs[strcmp(me.nspace, JOB_NSPACE) == 0].nspace;

    CHECK_STATUS(get_optional(other, 1, PMIX_LOCAL_RANK), want);
    CHECK_STATUS(get_optional(other, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), want);
    CHECK_STATUS(get_optional(other, 1, "card"), want);
}

static void fence_of(const pmix_proc_t procs[2], bool collects)
{
    pmix_info_t info;

    yes(&info, PMIX_COLLECT_DATA);
    CHECK_STATUS(PMIx_Fence(procs, 2, &info, collects), PMIX_SUCCESS);
}

static void optional_begin(pmix_proc_t procs[2])
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };

    rank_begin(&me);
    both(procs);
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "card", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    fence_of(procs, false); /* brings nothing */
    expect_optional(procs, PMIX_ERR_NOT_FOUND);
}

static int rank_of_optional_connect(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t new_rank;
    pmix_proc_t procs[2];

    optional_begin(procs);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(shmix_connect(procs, 2, NULL, 0, nspace, &new_rank), PMIX_SUCCESS);
        for (pmix_rank_t member = 0; member < 5; member++) {
            CHECK_STATUS(get_optional(nspace, member, "card"), PMIX_SUCCESS);
        }
        expect_optional(procs, PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Disconnect(procs, 2, NULL, 0), PMIX_SUCCESS);
        expect_optional(procs, PMIX_ERR_NOT_FOUND);
    }
    CHECK(job_size_of(JOB_NSPACE) == 2 && job_size_of(SECOND) == 3);
    return rank_end();
}

/* Two lists bring it: it stays with the last one. */
static int rank_of_optional_group(int rank)
{
    pmix_proc_t procs[2];

    optional_begin(procs);
    CHECK_STATUS(PMIx_Group_construct("tea", procs, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    expect_optional(procs, PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_construct("milk", procs, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_destruct("tea", NULL, 0), PMIX_SUCCESS);
    expect_optional(procs, PMIX_SUCCESS);
    fence_of(procs, false); /* nobody leaves before all have asked */
    CHECK_STATUS(PMIx_Group_leave("milk", NULL, 0), PMIX_SUCCESS);
    expect_optional(procs, PMIX_ERR_NOT_FOUND);
    return rank_end();
}

/* The other job's processes have gone from the list before: the last end of this one's own counts. */
static void leave_in_turns(const pmix_proc_t procs[2])
{
    const bool is_first = strcmp(me.nspace, JOB_NSPACE) == 0;

    expect_optional(procs, PMIX_SUCCESS);
    fence_of(procs, false); /* everybody has read */
    for (int turn = 0; turn < 2; turn++) {
        if (is_first == (turn == 0)) {
            CHECK_STATUS(PMIx_Group_leave("tea", NULL, 0), PMIX_SUCCESS);
            expect_optional(procs, PMIX_ERR_NOT_FOUND);
        }
        fence_of(procs, false);
    }
    expect_optional(procs, PMIX_ERR_NOT_FOUND);
}

static int rank_of_optional_others_left(int rank)
{
    pmix_proc_t procs[2];

    optional_begin(procs);
    CHECK_STATUS(PMIx_Group_construct("tea", procs, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    leave_in_turns(procs);
    return rank_end();
}

/* The end of a list without the other job, and its data are as local as before. */
static void end_of_own(const pmix_proc_t procs[2])
{
    const pmix_proc_t own = proc_of(me.nspace, PMIX_RANK_WILDCARD);

    CHECK_STATUS(PMIx_Group_construct(me.nspace[0] == 's' ? "milk" : "rice", &own, 1, NULL, 0, NULL,
                                      NULL),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_leave(me.nspace[0] == 's' ? "milk" : "rice", NULL, 0), PMIX_SUCCESS);
    expect_optional(procs, PMIX_SUCCESS);
}

/* What was read before goes with the list as well. */
static int rank_of_optional_read_before(int rank)
{
    pmix_proc_t procs[2];

    optional_begin(procs);
    CHECK(job_size_of(JOB_NSPACE) == 2 && job_size_of(SECOND) == 3);
    end_of_own(procs);
    fence_of(procs, false);
    CHECK_STATUS(PMIx_Group_construct("tea", procs, 2, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    leave_in_turns(procs);
    return rank_end();
}

static int rank_of_optional_fence(int rank)
{
    pmix_proc_t procs[2];

    optional_begin(procs);
    fence_of(procs, true);
    expect_optional(procs, PMIX_SUCCESS);
    end_of_own(procs);
    return rank_end();
}

static int rank_of_optional_exchange(int rank)
{
    pmix_proc_t procs[2];
    pmix_info_t info;

    optional_begin(procs);
    yes(&info, PMIX_CONNECT_XCHG_ONLY);
    CHECK_STATUS(PMIx_Connect(procs, 2, &info, 1), PMIX_SUCCESS);
    expect_optional(procs, PMIX_SUCCESS);
    return rank_end();
}

/* CN27, CN28: nothing to disconnect. */
static int rank_of_exchange(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "something";
    pmix_rank_t new_rank = 7;
    pmix_proc_t procs[2], places[4];
    pmix_info_t info;

    rank_begin(&me);
    both(procs);
    yes(&info, PMIX_CONNECT_XCHG_ONLY);
    CHECK_STATUS(shmix_connect(procs, 2, &info, rank == 0, nspace, &new_rank), PMIX_SUCCESS);
    CHECK(nspace[0] == '\0' && new_rank == PMIX_RANK_UNDEF && connected(&me, places) == 0);
    CHECK(job_size_of(JOB_NSPACE) == 2 && job_size_of(SECOND) == 3);
    CHECK_STATUS(PMIx_Disconnect(procs, 2, NULL, 0), PMIX_ERR_INVALID_OPERATION);
    return rank_end();
}

/* ---- events --------------------------------------------------------------------------------- */

static shmix_events_t *events_of(pmix_status_t code, pmix_status_t other)
{
    const pmix_status_t codes[] = { code, other };
    shmix_events_t *events;

    CHECK_STATUS(shmix_events_open(SHMIX_EVENTS_OLDEST, codes, 2, &events), PMIX_SUCCESS);
    return events;
}

static void event_wait(shmix_events_t *events, pmix_status_t code, pmix_rank_t source,
                       shmix_event_t *ret)
{
    CHECK_STATUS(shmix_events_wait(events, SHMIX_FOREVER, ret), PMIX_SUCCESS);
    CHECK_STATUS(ret->code, code);
    CHECK(ret->source.rank == source && strcmp(ret->source.nspace, JOB_NSPACE) == 0);
}

static void events_end(shmix_events_t *events)
{
    shmix_event_t event;

    CHECK_STATUS(shmix_events_next(events, &event), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
}

static int rank_of_optional_invitation(int rank)
{
    const pmix_proc_t leader = proc_of(JOB_NSPACE, 0);
    const pmix_proc_t invited[] = { proc_of(JOB_NSPACE, 1), proc_of(SECOND, 0), proc_of(SECOND, 1),
                                    proc_of(SECOND, 2) };
    pmix_proc_t procs[2];
    shmix_event_t event;

    optional_begin(procs);
    shmix_events_t *const events = events_of(PMIX_GROUP_INVITED, PMIX_GROUP_INVITED);
    fence_of(procs, false);
    if (PMIx_Check_procid(&me, &leader)) {
        CHECK_STATUS(PMIx_Group_invite("tea", invited, 4, NULL, 0, NULL, NULL), PMIX_SUCCESS);
    } else {
        event_wait(events, PMIX_GROUP_INVITED, 0, &event);
        CHECK_STATUS(PMIx_Group_join("tea", &leader, PMIX_GROUP_ACCEPT, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    leave_in_turns(procs);
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

/* CN29, CN30: who calls is told to the others, one at a time. */
static int rank_of_notify_each(int rank)
{
    shmix_event_t event;
    pmix_info_t info;

    rank_begin(&me);
    const pmix_proc_t all = everybody();
    shmix_events_t *const events = events_of(PMIX_PROC_HAS_CONNECTED, PMIX_PROC_HAS_DISCONNECTED);
    yes(&info, PMIX_CONNECT_NOTIFY_EACH);
    fence();
    if (rank == 1) {
        event_wait(events, PMIX_PROC_HAS_CONNECTED, 0, &event);
    }
    CHECK_STATUS(PMIx_Connect(&all, 1, &info, 1), PMIX_SUCCESS);
    if (rank == 0) {
        event_wait(events, PMIX_PROC_HAS_CONNECTED, 1, &event);
        event_wait(events, PMIX_PROC_HAS_DISCONNECTED, 1, &event);
    }
    CHECK_STATUS(PMIx_Disconnect(&all, 1, &info, rank == 1), PMIX_SUCCESS);
    /* CN31: nobody has asked for more. */
    CHECK_STATUS(PMIx_Connect(&all, 1, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    events_end(events);
    return rank_end();
}

/* CN32, CN33: who is asked calls with what it was told. */
static int rank_of_request(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    shmix_event_t event;
    shmix_value_t procs, id;
    pmix_info_t infos[2];
    pmix_rank_t new_rank;

    rank_begin(&me);
    const pmix_proc_t pair[] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 2) };
    shmix_events_t *const events = events_of(PMIX_CONNECT_REQUESTED, PMIX_CONNECT_REQUESTED);
    fence();
    if (rank == 0) {
        CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_CONNECT_ID, "tea", PMIX_STRING), PMIX_SUCCESS);
        yes(&infos[1], PMIX_CONNECT_NOTIFY_REQ);
        CHECK_STATUS(shmix_connect(pair, 2, infos, 2, nspace, &new_rank), PMIX_SUCCESS);
    } else if (rank == 2) {
        event_wait(events, PMIX_CONNECT_REQUESTED, 0, &event);
        CHECK_STATUS(shmix_event_find(&event, SHMIX_CONNECT_PROCS, &procs), PMIX_SUCCESS);
        CHECK_STATUS(shmix_event_find(&event, PMIX_CONNECT_ID, &id), PMIX_SUCCESS);
        CHECK(procs.element_type == PMIX_PROC && procs.count == 2);
        CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_CONNECT_ID, id.data, PMIX_STRING),
                     PMIX_SUCCESS);
        CHECK_STATUS(shmix_connect(procs.data, procs.count, infos, 1, nspace, &new_rank),
                     PMIX_SUCCESS);
    }
    if (rank != 1) {
        PMIx_Info_destruct(&infos[0]);
        CHECK(new_rank == me.rank / 2);
        CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    }
    fence();
    events_end(events);
    return rank_end();
}

/* ---- members that end ----------------------------------------------------------------------- */

#define LEAVER 2

static int host_of_death(struct job *job)
{
    second_add(job, 1);
    return job_wait(job, 0) != 0 || job_wait(job, 1) != 0 || job_wait(job, 3) != 0;
}

/* Connect all of both jobs; rank LEAVER ends in this way. */
static void connect_and_lose(int rank, int sign, const pmix_info_t *info,
                             char nspace[PMIX_MAX_NSLEN + 1])
{
    pmix_proc_t procs[2];

    both(procs);
    CHECK_STATUS(shmix_connect(procs, 2, info, info != NULL, nspace, NULL), PMIX_SUCCESS);
    if (rank == LEAVER && sign != 0) {
        raise(sign);
    }
}

static int rank_of_ending(int rank, int sign)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    shmix_event_t event;
    shmix_value_t place;

    rank_begin(&me);
    shmix_events_t *const events = events_of(PMIX_ERR_PROC_TERM_WO_SYNC,
                                             PMIX_ERR_PROC_TERM_WO_SYNC);
    connect_and_lose(rank, sign, NULL, nspace);
    if (rank != LEAVER) {
        event_wait(events, PMIX_ERR_PROC_TERM_WO_SYNC, LEAVER, &event);
        CHECK_STATUS(shmix_event_find(&event, SHMIX_CONNECTED, &place), PMIX_SUCCESS);
        CHECK(place.type == PMIX_PROC); /* no array: some hosts carry none in an event */
        CHECK(strcmp(((const pmix_proc_t *)place.data)->nspace, nspace) == 0);
        CHECK(((const pmix_proc_t *)place.data)->rank == 1 + LEAVER);
        CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    }
    events_end(events);
    return rank_end();
}

/* CN38, CN40 */
static int rank_of_death(int rank)
{
    return rank_of_ending(rank, SIGKILL);
}

/* X22 */
static int rank_of_finalize(int rank)
{
    return rank_of_ending(rank, 0);
}

/* CN36, CN37: what they do together goes on without it, and nobody is told. */
static int rank_of_early_end(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_info_t info;

    rank_begin(&me);
    shmix_events_t *const events = events_of(PMIX_ERR_PROC_TERM_WO_SYNC,
                                             PMIX_ERR_PROC_TERM_WO_SYNC);
    yes(&info, PMIX_CONNECT_EARLY_TERM_ALLOWED);
    connect_and_lose(rank, SIGKILL, &info, nspace);
    CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    events_end(events);
    return rank_end();
}

/* CN56 */
static int rank_of_death_behind(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];

    rank_begin(&me);
    shmix_events_t *const events = events_of(PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_LOST_CONNECTION);
    shmix_event_t event;
    pmix_proc_t procs[2];

    both(procs);
    CHECK_STATUS(shmix_connect(procs, 2, NULL, 0, nspace, NULL), PMIX_SUCCESS);
    CHECK_STATUS(shmix_disconnect(nspace, NULL, 0), PMIX_SUCCESS);
    if (rank == LEAVER) {
        raise(SIGKILL);
    }
    if (rank < LEAVER) { /* its job's business alone */
        event_wait(events, PMIX_ERR_LOST_CONNECTION, LEAVER, &event);
    }
    CHECK_STATUS(shmix_events_close(events), PMIX_SUCCESS);
    return rank_end();
}

static const struct job_case cases[] = {
    { "one_job", 2, rank_of_one_job },
    { "all_forms_meet", 4, rank_of_forms },
    { "ids", 2, rank_of_ids },
    { "order", 3, rank_of_order },
    { "cluster", 2, rank_of_cluster },
    { "bad_input", 3, rank_of_bad_input },
    { "timeout", 2, rank_of_timeout },
    { "hundred", 2, rank_of_hundred, host_of_hundred },
    { "two_jobs", 2, rank_of_two_jobs, host_of_two },
    { "optional_after_connect", 2, rank_of_optional_connect, host_of_two },
    { "optional_after_construct", 2, rank_of_optional_group, host_of_two },
    { "optional_after_others_left", 2, rank_of_optional_others_left, host_of_two },
    { "optional_after_read_before", 2, rank_of_optional_read_before, host_of_two },
    { "optional_after_invitation", 2, rank_of_optional_invitation, host_of_two },
    { "optional_after_fence", 2, rank_of_optional_fence, host_of_two },
    { "optional_after_exchange", 2, rank_of_optional_exchange, host_of_two },
    { "exchange_only", 2, rank_of_exchange, host_of_two },
    { "notify_each", 2, rank_of_notify_each },
    { "request", 3, rank_of_request },
    { "a_member_is_killed", 3, rank_of_death, host_of_death, true },
    { "a_member_finalizes", 3, rank_of_finalize, host_of_death, true },
    { "a_member_may_end", 3, rank_of_early_end, host_of_death, true },
    { "a_former_member_is_killed", 3, rank_of_death_behind, host_of_death, true },
};

JOB_MAIN(cases)
