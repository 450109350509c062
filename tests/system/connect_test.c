/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_test.c - processes become one namespace and part again: what is local to them afterwards, and
 * the events of it.  The calls themselves are shown by conformance/connect_test.c. */
#include <semaphore.h>
#include <signal.h>
#include <string.h>

#include <shmix.h>

#include "job.h"

#define SECOND "second.job" /* sorts before JOB_NSPACE */
#define ID_LONG PMIX_MAX_NSLEN

static pmix_proc_t me;

static pmix_proc_t everybody(void)
{
    return proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
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

struct outcome {
    sem_t done;
    pmix_status_t status;
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_rank_t rank;
};

static void on_connect(pmix_status_t status, char nspace[], pmix_rank_t rank, void *cbdata)
{
    struct outcome *const outcome = cbdata;

    outcome->status = status;
    strcpy(outcome->nspace, nspace);
    outcome->rank = rank;
    sem_post(&outcome->done);
}

static void outcome_wait(struct outcome *outcome, pmix_status_t want)
{
    job_sem_wait(&outcome->done);
    CHECK_STATUS(outcome->status, want);
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
    struct outcome outcome[3] = { { .status = 1 } };
    pmix_info_t ids[2];
    pmix_proc_t places[4], others[4];

    rank_begin(&me);
    const pmix_proc_t all = everybody(), peer = proc_of(JOB_NSPACE, 1 - me.rank);
    id_load(&ids[0], 'a');
    id_load(&ids[1], 'b');
    for (int i = 0; i < 3; i++) {
        const int which = rank == 0 ? i : 2 - i;

        sem_init(&outcome[which].done, 0, 0);
        CHECK_STATUS(shmix_connect_nb(&all, 1, which < 2 ? &ids[which] : NULL, which < 2,
                                      on_connect, &outcome[which]),
                     PMIX_SUCCESS);
    }
    for (int i = 0; i < 3; i++) {
        outcome_wait(&outcome[i], PMIX_SUCCESS);
        CHECK(outcome[i].rank == me.rank);
        CHECK(i == 0 || strcmp(outcome[i].nspace, outcome[i - 1].nspace) != 0);
    }
    CHECK(connected(&me, places) == 3 && connected(&peer, others) == 3);
    for (int i = 0; i < 3; i++) {
        CHECK(strcmp(places[i].nspace, others[i].nspace) == 0);
    }
    rank_fence();
    CHECK_STATUS(PMIx_Disconnect(&all, 1, &ids[1], 1), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, &ids[1], 1), PMIX_ERR_INVALID_OPERATION);
    CHECK_STATUS(shmix_disconnect(outcome[1].nspace, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(shmix_disconnect(outcome[0].nspace, NULL, 0), PMIX_SUCCESS);
    CHECK(connected(&me, places) == 0);
    PMIx_Info_destruct(&ids[0]);
    PMIx_Info_destruct(&ids[1]);
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

/* ---- what is local to a process after a call that has brought it ------------------------------ */

static pmix_status_t get_optional(const char *nspace, pmix_rank_t rank, const char *key)
{
    const pmix_proc_t proc = proc_of(nspace, rank);
    pmix_value_t *value = NULL;
    pmix_info_t optional;

    optional = info_flag(PMIX_OPTIONAL);
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

    info = info_flag(PMIX_COLLECT_DATA);
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
    info = info_flag(PMIX_CONNECT_XCHG_ONLY);
    CHECK_STATUS(PMIx_Connect(procs, 2, &info, 1), PMIX_SUCCESS);
    expect_optional(procs, PMIX_SUCCESS);
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
    info = info_flag(PMIX_CONNECT_NOTIFY_EACH);
    rank_fence();
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

/* ---- members that end ----------------------------------------------------------------------- */

#define LEAVER 2

static int host_of_death(struct job *job)
{
    second_add(job, 1);
    return job_wait(job, 0) != 0 || job_wait(job, 1) != 0 || job_wait(job, 3) != 0;
}

/* Connect all of both jobs; rank LEAVER is killed. */
static void connect_and_lose(int rank, char nspace[PMIX_MAX_NSLEN + 1])
{
    pmix_proc_t procs[2];

    both(procs);
    CHECK_STATUS(shmix_connect(procs, 2, NULL, 0, nspace, NULL), PMIX_SUCCESS);
    if (rank == LEAVER) {
        raise(SIGKILL);
    }
}

/* CN38, CN40 */
static int rank_of_death(int rank)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    shmix_event_t event;
    shmix_value_t place;

    rank_begin(&me);
    shmix_events_t *const events = events_of(PMIX_ERR_PROC_TERM_WO_SYNC,
                                             PMIX_ERR_PROC_TERM_WO_SYNC);
    connect_and_lose(rank, nspace);
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

static const struct job_case cases[] = {
    { "ids", 2, rank_of_ids },
    { "cluster", 2, rank_of_cluster },
    { "optional_after_connect", 2, rank_of_optional_connect, host_of_two },
    { "optional_after_construct", 2, rank_of_optional_group, host_of_two },
    { "optional_after_others_left", 2, rank_of_optional_others_left, host_of_two },
    { "optional_after_read_before", 2, rank_of_optional_read_before, host_of_two },
    { "optional_after_invitation", 2, rank_of_optional_invitation, host_of_two },
    { "optional_after_fence", 2, rank_of_optional_fence, host_of_two },
    { "optional_after_exchange", 2, rank_of_optional_exchange, host_of_two },
    { "notify_each", 2, rank_of_notify_each },
    { "a_member_is_killed", 3, rank_of_death, host_of_death, true },
};

JOB_MAIN(cases)
