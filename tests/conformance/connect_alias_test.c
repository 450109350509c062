/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_alias_test.c - the name that a connect gives stands for the members wherever a namespace
 * stands, until they have disconnected. */
#include "connect.h"

#define CODE (-3801)
#define CODE_LATE (-3802)

/* Both jobs; *call is theirs.  Rank 2 of the case is rank 0 of the second job. */
static void connect_both(struct call *call)
{
    const pmix_proc_t procs[2] = { proc_of(JOB_NSPACE, WILDCARD), proc_of(SECOND, WILDCARD) };

    CHECK_STATUS(connect_by(procs, 2, NO_WORDS, call), PMIX_SUCCESS);
}

/* The member of rank @rank by its own name: ranks follow the names of the namespaces. */
static pmix_proc_t member_of(pmix_rank_t rank)
{
    return proc_of(rank < 2 ? SECOND : JOB_NSPACE, rank % 2);
}

static void put_own_name(void)
{
    char text[512];

    snprintf(text, sizeof(text), "%s.%u", me.nspace, me.rank);
    put_text("own name", text);
}

static void text_expect(const pmix_proc_t *proc, const char *key, const char *want)
{
    char text[512];

    CHECK_STATUS(get_text(proc, key, text), PMIX_SUCCESS);
    if (strcmp(text, want) != 0) {
        fprintf(stderr, "%s of %s.%u is \"%s\", not \"%s\"\n", key, proc->nspace, proc->rank, text,
                want);
        exit(99);
    }
}

static void u32_expect(const pmix_proc_t *proc, const char *key, uint32_t want)
{
    uint32_t number;

    CHECK_STATUS(get_u32(proc, key, &number), PMIX_SUCCESS);
    CHECK(number == want);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void value_expect_nb(const pmix_proc_t *proc, const char *want);

static struct {
    pmix_status_t status;
    char text[512];
    struct call call;
} got;

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    got.status = status;
    got.text[0] = '\0';
    if (status == PMIX_SUCCESS && value->type == PMIX_STRING) {
        snprintf(got.text, sizeof(got.text), "%s", value->data.string);
    }
    call_answered(&got.call, status);
}

static void value_expect_nb(const pmix_proc_t *proc, const char *want)
{
    got.call.answers = 0;
    CHECK_STATUS(PMIx_Get_nb(proc, "own name", NULL, 0, on_value, NULL), PMIX_SUCCESS);
    CHECK_STATUS(call_wait(&got.call), PMIX_SUCCESS);
    CHECK(strcmp(got.text, want) == 0);
}

/* CN26: the data of a member, put before or behind the connect. */
static void members_read(const char *name)
{
    char want[512];

    for (pmix_rank_t rank = 0; rank < 4; rank++) {
        const pmix_proc_t alias = proc_of(name, rank), real = member_of(rank);

        snprintf(want, sizeof(want), "%s.%u", real.nspace, real.rank);
        text_expect(&alias, "own name", want);
        value_expect_nb(&alias, want);
        uint32_t local_rank = UINT32_MAX;
        pmix_value_t *value;
        CHECK_STATUS(PMIx_Get(&alias, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_SUCCESS);
        CHECK(value->type == PMIX_UINT16);
        local_rank = value->data.uint16;
        free(value);
        CHECK(local_rank == real.rank);
    }
}

/* What describes the connected namespace itself. */
static void namespace_read(const char *name)
{
    const pmix_proc_t all = proc_of(name, WILDCARD), last = proc_of(name, 3),
                      beyond = proc_of(name, 4), asker = proc_of(name, PMIX_RANK_INVALID);
    pmix_proc_t *procs;
    size_t count;
    pmix_value_t *value;
    char text[512];
    struct call own;

    CHECK_STATUS(newest_get(&own), PMIX_SUCCESS);
    u32_expect(&all, PMIX_JOB_SIZE, 4);
    u32_expect(&all, PMIX_MAX_PROCS, 4);
    u32_expect(&all, PMIX_LOCAL_SIZE, 4);
    text_expect(&all, PMIX_LOCAL_PEERS, "0,1,2,3");
    text_expect(&all, PMIX_NSPACE, name);
    text_expect(&all, PMIX_JOBID, name);
    CHECK_STATUS(PMIx_Get(&last, PMIX_RANK, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.rank == 3);
    free(value);
    CHECK_STATUS(PMIx_Get(&asker, PMIX_RANK, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.rank == own.rank);
    free(value);
    CHECK_STATUS(get_text(&beyond, "own name", text), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(get_text(&all, "test.no.such.key", text), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(get_text(&all, "own name", text), PMIX_SUCCESS); /* anybody's */
    CHECK_STATUS(PMIx_Resolve_peers(NULL, name, &procs, &count), PMIX_SUCCESS);
    CHECK(count == 4);
    for (pmix_rank_t rank = 0; rank < 4; rank++) {
        CHECK(strcmp(procs[rank].nspace, name) == 0 && procs[rank].rank == rank);
    }
    free(procs);
}

/* A value that is put later is waited for. */
static void late_read(const char *name, pmix_rank_t rank)
{
    const pmix_proc_t next = proc_of(name, (rank + 1) % 4);

    if (rank % 2 == 0) {
        put_text("late", "here it is");
        text_expect(&next, "late", "here it is");
    } else {
        text_expect(&next, "late", "here it is");
        put_text("late", "here it is");
    }
}

/* CN17 CN18 CN19 CN26 X23 */
static int reads(int rank)
{
    const pmix_proc_t other = proc_of(rank < 2 ? SECOND : JOB_NSPACE, WILDCARD);
    struct call call;
    shmix_job_t *job;

    begin_of_two();
    u32_expect(&other, PMIX_JOB_SIZE, 2); /* of the same user: before it, too */
    connect_both(&call);
    u32_expect(&other, PMIX_JOB_SIZE, 2);
    put_own_name();
    members_read(call.nspace);
    namespace_read(call.nspace);
    late_read(call.nspace, call.rank);
    CHECK_STATUS(shmix_job_open(call.nspace, &job), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* ---- together ------------------------------------------------------------------------------- */

/* CN24: a fence of all, and of some; a connect of a connected one, and of members by that name. */
static int meets(int rank)
{
    struct call call, again, pair;
    bool collect = true;
    pmix_info_t info;

    begin_of_two();
    connect_both(&call);
    const pmix_proc_t all = proc_of(call.nspace, WILDCARD);
    put_own_name();
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(&all, 1, &info, 1), PMIX_SUCCESS);
    members_read(call.nspace);
    const pmix_proc_t outer[2] = { proc_of(call.nspace, 0), proc_of(call.nspace, 3) };
    if (call.rank % 3 == 0) {
        CHECK_STATUS(PMIx_Fence(outer, 2, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(connect_by(outer, 2, NO_WORDS, &pair), PMIX_SUCCESS);
        CHECK(pair.rank == call.rank / 3);
        CHECK_STATUS(disconnect_by(pair.nspace, NO_WORDS), PMIX_SUCCESS);
    } else {
        CHECK_STATUS(PMIx_Fence(outer, 2, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
        CHECK_STATUS(connect_by(outer, 2, NO_WORDS, &pair), PMIX_ERR_NOT_A_MEMBER);
    }
    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &again), PMIX_SUCCESS);
    CHECK(again.rank == call.rank && strcmp(again.nspace, call.nspace) != 0);
    CHECK_STATUS(disconnect_by(again.nspace, NO_WORDS), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* CN25: a custom range reaches the members and nobody else. */
static int receives(int rank)
{
    const pmix_proc_t procs[2] = { proc_of(SECOND, 1), proc_of(JOB_NSPACE, 0) };
    pmix_proc_t each[4];
    struct call call = { .rank = PMIX_RANK_UNDEF };

    for (pmix_rank_t i = 0; i < 4; i++) {
        each[i] = member_of(i);
    }
    begin_of_two();
    (void)receive_one(CODE);
    (void)receive_one(CODE_LATE);
    CHECK_STATUS(PMIx_Fence(each, 4, NULL, 0), PMIX_SUCCESS);
    if (rank == 0 || rank == 3) {
        CHECK_STATUS(connect_by(procs, 2, NO_WORDS, &call), PMIX_SUCCESS);
    }
    if (rank == 0) {
        publish_to_proc(CODE, call.nspace, WILDCARD);
        publish_to_proc(CODE, call.nspace, 0); /* the second job's process */
        server_has_it();
    }
    if (rank == 3) {
        received_wait(CODE, 2);
    }
    CHECK_STATUS(PMIx_Fence(each, 4, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        received_wait(CODE, 1);
    }
    /* All that is for this process has come before this one. */
    publish_to_proc(CODE_LATE, me.nspace, me.rank);
    received_wait(CODE_LATE, 1);
    const size_t want = rank == 3 ? 2 : rank == 0 ? 1 : 0;
    if (received_of(CODE) != want) {
        fprintf(stderr, "rank %d heard %zu times, not %zu\n", rank, received_of(CODE), want);
        exit(99);
    }
    if (call.nspace[0] != '\0') {
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

/* CN59: the data of one process by both of its new names. */
static int in_two(int rank)
{
    const pmix_proc_t with[2][2] = { { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) },
                                     { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 2) } };
    struct call calls[2];

    rank_begin(&me);
    put_own_name();
    for (int i = 0; i < 2; i++) {
        if (rank == 0 || rank == i + 1) {
            CHECK_STATUS(connect_by(with[i], 2, NO_WORDS, &calls[i]), PMIX_SUCCESS);
            const pmix_proc_t first = proc_of(calls[i].nspace, 0);
            const pmix_proc_t all = proc_of(calls[i].nspace, WILDCARD);
            text_expect(&first, "own name", JOB_NSPACE ".0");
            u32_expect(&all, PMIX_JOB_SIZE, 2);
        }
    }
    if (rank == 0) {
        const pmix_proc_t one = proc_of(calls[0].nspace, 1), two = proc_of(calls[1].nspace, 1);

        text_expect(&one, "own name", JOB_NSPACE ".1");
        text_expect(&two, "own name", JOB_NSPACE ".2");
    }
    for (int i = 0; i < 2; i++) {
        if (rank == 0 || rank == i + 1) {
            CHECK_STATUS(disconnect_by(calls[i].nspace, NO_WORDS), PMIX_SUCCESS);
        }
    }
    return rank_end();
}

/* ---- afterwards ----------------------------------------------------------------------------- */

/* CN55: the name is nobody's. */
static int is_gone(int rank)
{
    pmix_proc_t *procs = NULL;
    size_t count;
    char *nodes = NULL, text[512];
    struct call call, none;
    shmix_job_t *job;

    begin_of_two();
    put_own_name();
    connect_both(&call);
    const pmix_proc_t all = proc_of(call.nspace, WILDCARD), first = proc_of(call.nspace, 0);
    CHECK_STATUS(get_text(&first, "own name", text), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    CHECK_STATUS(get_text(&first, "own name", text), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(get_text(&all, PMIX_JOB_SIZE, text), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Fence(&all, 1, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &none), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(PMIx_Resolve_peers(NULL, call.nspace, &procs, &count), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Resolve_nodes(call.nspace, &nodes), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_job_open(call.nspace, &job), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_ERR_NOT_FOUND);
    (void)receive_one(CODE);
    (void)receive_one(CODE_LATE);
    pmix_info_t info;
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EVENT_CUSTOM_RANGE, &all, PMIX_PROC), PMIX_SUCCESS);
    (void)PMIx_Notify_event(CODE, NULL, PMIX_RANGE_CUSTOM, &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
    publish_to_proc(CODE_LATE, me.nspace, me.rank);
    received_wait(CODE_LATE, 1);
    CHECK(received_of(CODE) == 0);
    return rank_end();
}

/* CN37 CN36: who may end early is missed by nobody, in a fence that runs and in later ones. */
static int goes_on_without(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call call, fence = { .answers = 0 };

    rank_begin(&me);
    (void)receive_one(PMIX_ERR_PROC_TERM_WO_SYNC);
    CHECK_STATUS(connect_by(&all, 1, and_flag(NO_WORDS, PMIX_CONNECT_EARLY_TERM_ALLOWED), &call),
                 PMIX_SUCCESS);
    const pmix_proc_t members = proc_of(call.nspace, WILDCARD);
    if (rank == 2) {
        job_token_get(0);
        job_token_get(0);
        CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
        return 0;
    }
    CHECK_STATUS(PMIx_Fence_nb(&members, 1, NULL, 0, on_done, &fence), PMIX_SUCCESS);
    server_has_it();
    job_token_put(0);
    CHECK_STATUS(call_wait(&fence), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(&members, 1, NULL, 0), PMIX_SUCCESS);
    CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    server_has_it();
    CHECK(received_of(PMIX_ERR_PROC_TERM_WO_SYNC) == 0);
    return rank_end();
}

static const struct job_case cases[] = {
    { "reads", 2, reads, host_of_two },     { "meets", 2, meets, host_of_two },
    { "hears", 2, receives, host_of_two },  { "in_two", 3, in_two },
    { "is_gone", 2, is_gone, host_of_two }, { "goes_on_without", 3, goes_on_without },
};

JOB_MAIN(cases)
