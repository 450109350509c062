/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_name_test.c - the name of a group stands for its members wherever a namespace stands, for
 * its members and as long as they are members.
 *
 * Two jobs of two processes each.  In the group are, in this order, the last process of the second
 * job and both of the first one. */
#include "connect.h"

#define GROUP "group.of.three"
#define CODE (-3811)
#define CODE_LATE (-3812)
#define MEMBERS 3u
#define STRANGER 2 /* as a rank of the case: the second job's first process */

static pmix_proc_t member_of(pmix_rank_t rank)
{
    return rank == 0 ? proc_of(SECOND, 1) : proc_of(JOB_NSPACE, rank - 1);
}

static pmix_rank_t rank_of(int rank)
{
    return rank == 3 ? 0 : (pmix_rank_t)rank + 1;
}

static pmix_status_t fence_of(const pmix_proc_t procs[], size_t nprocs)
{
    return PMIx_Fence(procs, nprocs, NULL, 0);
}

/* All four processes. */
static void meet(void)
{
    const pmix_proc_t procs[2] = { proc_of(JOB_NSPACE, WILDCARD), proc_of(SECOND, WILDCARD) };

    CHECK_STATUS(fence_of(procs, 2), PMIX_SUCCESS);
}

/* @key: a directive that is true, or NULL. */
static void group_begin(int rank, const char *key)
{
    const pmix_proc_t procs[MEMBERS] = { member_of(0), member_of(1), member_of(2) };
    struct words words = NO_WORDS;
    pmix_info_t *results = NULL;
    size_t nresults = 0;

    begin_of_two();
    if (key != NULL) {
        words = and_flag(words, key);
    }
    if (rank != STRANGER) {
        CHECK_STATUS(PMIx_Group_construct(GROUP, procs, MEMBERS, words.infos, words.count, &results,
                                          &nresults),
                     PMIX_SUCCESS);
        PMIx_Info_free(results, nresults);
    }
    words_free(&words);
    meet();
}

static int group_end(int rank)
{
    meet();
    if (rank != STRANGER) {
        CHECK_STATUS(PMIx_Group_destruct(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- together ------------------------------------------------------------------------------- */

/* GR42: exactly the members meet; GR49: nobody else may name them. */
static int fences(int rank)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD);

    group_begin(rank, NULL);
    if (rank == STRANGER) {
        CHECK_STATUS(fence_of(&all, 1), PMIX_ERR_NOT_A_MEMBER);
        CHECK_STATUS(PMIx_Group_destruct(GROUP, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
        CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    } else {
        put_text("before", "the fence");
        CHECK_STATUS(fence_of(&all, 1), PMIX_SUCCESS);
        for (pmix_rank_t i = 0; i < MEMBERS; i++) {
            const pmix_proc_t member = proc_of(GROUP, i);
            char text[512];

            CHECK_STATUS(get_text(&member, "before", text), PMIX_SUCCESS);
        }
    }
    return group_end(rank);
}

/* GR43, GR44: some of the members, and others besides. */
static int fences_of_some(int rank)
{
    const pmix_proc_t some[2] = { proc_of(GROUP, 0), proc_of(GROUP, 2) };
    const pmix_proc_t mixed[2] = { proc_of(GROUP, 1), proc_of(SECOND, 0) };
    const pmix_proc_t twice[2] = { proc_of(GROUP, WILDCARD), proc_of(SECOND, WILDCARD) };

    group_begin(rank, NULL);
    CHECK_STATUS(fence_of(some, 2), rank == 1 || rank == 3 ? PMIX_SUCCESS : PMIX_ERR_NOT_A_MEMBER);
    if (rank == 0 || rank == STRANGER) {
        CHECK_STATUS(fence_of(mixed, 2), PMIX_SUCCESS);
    }
    CHECK_STATUS(fence_of(twice, 2), PMIX_SUCCESS);
    return group_end(rank);
}

/* GR43, GR44: rank 0 calls first, and rank 1 names the same two in its own words. */
static void fence_in_words(int rank, const pmix_proc_t first[2], const pmix_proc_t second[2])
{
    struct words words = and_limit(NO_WORDS, 60); /* so that those who do not meet hear of it */
    struct call fence = { .answers = 0 };

    if (rank == 1) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_Fence_nb(rank == 0 ? first : second, 2, words.infos, words.count, on_done,
                               &fence),
                 PMIX_SUCCESS);
    if (rank == 0) {
        server_has_it();
        job_token_put(0);
    }
    CHECK_STATUS(call_wait(&fence), PMIX_SUCCESS);
    words_free(&words);
}

static int fences_in_other_words(int rank)
{
    const pmix_proc_t words[][2] = {
        { proc_of(GROUP, 1), proc_of(JOB_NSPACE, 1) },
        { proc_of(GROUP, 2), proc_of(JOB_NSPACE, 0) },
        { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) },
    };

    group_begin(rank, NULL);
    for (size_t first = 0; rank < STRANGER && first < 3; first++) {
        for (size_t second = 0; second < 3; second++) {
            fence_in_words(rank, words[first], words[second]);
        }
    }
    return group_end(rank);
}

/* GR48: a name that nobody has, or a rank that no member has. */
static int unknown(int rank)
{
    const pmix_proc_t nobody = proc_of("nobody.knows", WILDCARD);
    const pmix_proc_t beyond = proc_of(GROUP, MEMBERS);
    char text[512];

    group_begin(rank, NULL);
    const pmix_proc_t with_beyond[2] = { me, beyond };

    CHECK_STATUS(fence_of(&nobody, 1), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(fence_of(with_beyond, 2), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(get_text(&beyond, "key", text), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Group_leave("nobody.knows", NULL, 0), PMIX_ERR_NOT_FOUND);
    return group_end(rank);
}

/* A connect of the group, and one of members by their ranks in it. */
static int connects(int rank)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD);
    const pmix_proc_t ends[2] = { proc_of(GROUP, 0), proc_of(GROUP, 2) };
    struct call call;

    group_begin(rank, NULL);
    if (rank != STRANGER) {
        CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
        const pmix_proc_t connected = proc_of(call.nspace, WILDCARD);
        uint32_t size;

        CHECK_STATUS(get_u32(&connected, PMIX_JOB_SIZE, &size), PMIX_SUCCESS);
        CHECK(size == MEMBERS);
        CHECK_STATUS(PMIx_Disconnect(&all, 1, NULL, 0), PMIX_SUCCESS);
    }
    if (rank == 1 || rank == 3) {
        CHECK_STATUS(connect_by(ends, 2, NO_WORDS, &call), PMIX_SUCCESS);
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
    }
    return group_end(rank);
}

/* ---- one by one ----------------------------------------------------------------------------- */

/* GR47 GR50: each member's data by its rank in the group, and what describes the group. */
static int reads(int rank)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD);
    char text[512], want[512];
    pmix_proc_t *procs;
    size_t count;
    uint32_t size;

    group_begin(rank, NULL);
    snprintf(text, sizeof(text), "%s.%u", me.nspace, me.rank);
    put_text("own name", text);
    for (pmix_rank_t i = 0; i < MEMBERS; i++) {
        const pmix_proc_t by_group = proc_of(GROUP, i), real = member_of(i);

        snprintf(want, sizeof(want), "%s.%u", real.nspace, real.rank);
        CHECK_STATUS(get_text(&by_group, "own name", text), PMIX_SUCCESS);
        CHECK(strcmp(text, want) == 0);
    }
    CHECK_STATUS(get_u32(&all, PMIX_JOB_SIZE, &size), PMIX_SUCCESS);
    CHECK(size == MEMBERS);
    CHECK_STATUS(PMIx_Resolve_peers(NULL, GROUP, &procs, &count), PMIX_SUCCESS);
    CHECK(count == MEMBERS && strcmp(procs[2].nspace, GROUP) == 0 && procs[2].rank == 2);
    free(procs);
    return group_end(rank);
}

/* GR46: a custom range reaches exactly the members, or the one that is meant. */
static int receives(int rank)
{
    group_begin(rank, NULL);
    (void)receive_one(CODE);
    (void)receive_one(CODE_LATE);
    meet();
    if (rank == 0) {
        publish_to_proc(CODE, GROUP, WILDCARD);
        publish_to_proc(CODE, GROUP, 0); /* the second job's process */
        server_has_it();
    }
    meet();
    /* All that is for this process has come before this one. */
    publish_to_proc(CODE_LATE, me.nspace, me.rank);
    received_wait(CODE_LATE, 1);
    CHECK(received_of(CODE) == (rank == STRANGER ? 0u : rank == 3 ? 2u : 1u));
    return group_end(rank);
}

/* ---- the host ------------------------------------------------------------------------------- */

static pmix_proc_t aborted[8]; /* as the host was asked */
static _Atomic size_t aborted_count;

static pmix_status_t on_abort(const pmix_proc_t *proc, void *server_object, int status,
                              const char msg[], pmix_proc_t procs[], size_t nprocs,
                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    for (size_t i = 0; i < nprocs && i < 8; i++) {
        aborted[i] = procs[i];
    }
    aborted_count = nprocs;
    return PMIX_OPERATION_SUCCEEDED;
}

static int host_of_abort(struct job *job)
{
    (void)host_of_two(job);
    CHECK(job_wait(job, 0) == 0);
    CHECK(aborted_count == 2); /* all of the first job, and one of the second */
    for (size_t i = 0; i < 2; i++) {
        const bool first = strcmp(aborted[i].nspace, JOB_NSPACE) == 0;

        CHECK(first || strcmp(aborted[i].nspace, SECOND) == 0);
        CHECK(aborted[i].rank == (first ? PMIX_RANK_WILDCARD : 1));
    }
    return 0;
}

/* GR45: the host hears of real processes only. */
static int aborts(int rank)
{
    pmix_proc_t all = proc_of(GROUP, WILDCARD);

    group_begin(rank, NULL);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Abort(1, "as a test", &all, 1), PMIX_SUCCESS);
    }
    return group_end(rank);
}

/* ---- leaving -------------------------------------------------------------------------------- */

static unsigned lefts; /* under heard_lock */

/* Of PMIX_GROUP_LEFT: it says who has left which group. */
static void on_left(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const pmix_proc_t leaver = member_of(0);
    unsigned facts = 0;

    CHECK(code == PMIX_GROUP_LEFT && PMIx_Check_procid(source, &leaver));
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_GROUP_ID)) {
            facts += strcmp(info[i].value.data.string, GROUP) == 0;
        } else if (PMIx_Check_key(info[i].key, PMIX_EVENT_AFFECTED_PROC)) {
            facts += PMIx_Check_procid(info[i].value.data.proc, &leaver);
        }
    }
    CHECK(facts == 2);
    pthread_mutex_lock(&received_lock);
    lefts++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void left_wait(unsigned count)
{
    pthread_mutex_lock(&received_lock);
    while (lefts < count) {
        received_wait_locked("leaves, of", (long)count);
    }
    CHECK(lefts == count);
    pthread_mutex_unlock(&received_lock);
}

/* What the others find: GR77. */
static void stays(void)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD), gone = proc_of(GROUP, 0);
    const pmix_proc_t own = proc_of(GROUP, PMIX_RANK_INVALID);
    pmix_proc_t *procs;
    size_t count;
    pmix_value_t *value;
    char text[512];

    left_wait(1);
    CHECK_STATUS(PMIx_Resolve_peers(NULL, GROUP, &procs, &count), PMIX_SUCCESS);
    CHECK(count == MEMBERS - 1 && procs[0].rank == 1 && procs[1].rank == 2);
    free(procs);
    CHECK_STATUS(get_text(&gone, "key", text), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Get(&own, PMIX_RANK, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->data.rank == me.rank + 1); /* who stays keeps its rank */
    PMIx_Value_free(value, 1);
    CHECK_STATUS(fence_of(&all, 1), PMIX_SUCCESS);
}

/* What the one finds that has left: GR78, GR80.  To read by the name one need not be a member. */
static void has_left(void)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD), other = proc_of(GROUP, 1);
    const pmix_proc_t gone = proc_of(GROUP, 0);
    pmix_value_t *value;

    CHECK_STATUS(PMIx_Get(&other, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_SUCCESS);
    PMIx_Value_free(value, 1);
    CHECK_STATUS(PMIx_Get(&gone, PMIX_LOCAL_RANK, NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(fence_of(&all, 1), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    CHECK_STATUS(PMIx_Group_destruct(GROUP, NULL, 0), PMIX_ERR_NOT_A_MEMBER);
}

/* GR76: each other member hears of it, and nobody else. */
static int leaves(int rank)
{
    pmix_status_t code = PMIX_GROUP_LEFT;

    group_begin(rank, NULL);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_left, NULL, NULL) >= 0);
    (void)receive_one(CODE_LATE);
    meet();
    if (rank_of(rank) == 0) {
        CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_SUCCESS);
        has_left();
    } else if (rank != STRANGER) {
        stays();
    }
    meet();
    publish_to_proc(CODE_LATE, me.nspace, me.rank);
    received_wait(CODE_LATE, 1);
    left_wait(rank == 0 || rank == 1);
    if (rank == 0 || rank == 1) {
        CHECK_STATUS(PMIx_Group_destruct(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

/* GR54 GR53: one waits in a connect for the one that leaves.  It ends for both that stay, or goes on
 * without the leaver; then the group is a smaller one. */
static int connect_breaks(int rank)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD);
    struct call call = { .rank = PMIX_RANK_UNDEF };

    group_begin(rank, NULL);
    if (rank == 0) {
        connect_begin(&all, 1, NO_WORDS, &call);
        server_has_it();
        job_token_put(0);
        CHECK_STATUS(call_wait(&call), PMIX_ERR_PROC_TERM_WO_SYNC);
    }
    if (rank_of(rank) == 0) {
        job_token_get(0);
        CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    meet();
    if (rank == 1) {
        CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_ERR_PROC_TERM_WO_SYNC);
    }
    if (rank == 0 || rank == 1) {
        CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_destruct(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

static int connect_goes_on(int rank)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD);
    struct call call = { .rank = PMIX_RANK_UNDEF };

    group_begin(rank, NULL);
    if (rank == 0) {
        connect_begin(&all, 1, and_flag(NO_WORDS, PMIX_GROUP_FT_COLLECTIVE), &call);
        server_has_it();
        job_token_put(0);
    }
    if (rank_of(rank) == 0) {
        job_token_get(0);
        CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    meet();
    if (rank == 0) {
        CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
    }
    if (rank == 1) {
        CHECK_STATUS(connect_by(&all, 1, NO_WORDS, &call), PMIX_SUCCESS);
    }
    if (rank == 0 || rank == 1) {
        CHECK_STATUS(disconnect_by(call.nspace, NO_WORDS), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_destruct(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

/* GR88 GR87: with its last member the group is gone, and its name is free. */
static int all_leave(int rank)
{
    const pmix_proc_t all = proc_of(GROUP, WILDCARD);
    struct call call = { .answers = 0 };

    group_begin(rank, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    if (rank != STRANGER) {
        CHECK_STATUS(PMIx_Group_leave_nb(GROUP, NULL, 0, on_done, &call), PMIX_SUCCESS);
        CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
    }
    meet();
    CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(fence_of(&all, 1), PMIX_ERR_NOT_A_MEMBER);
    meet();
    if (rank == 0) {
        CHECK_STATUS(PMIx_Group_construct(GROUP, &me, 1, NULL, 0, NULL, NULL), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_SUCCESS);
    }
    return rank_end();
}

/* Bad input. */
static int wrong(int rank)
{
    const pmix_info_t required = { .key = "no.such.directive", .flags = PMIX_INFO_REQD };
    char name[PMIX_MAX_NSLEN + 2] = { 0 };

    CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_ERR_INIT);
    group_begin(rank, NULL);
    memset(name, 'n', sizeof(name) - 1);
    CHECK_STATUS(PMIx_Group_leave(NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_leave("", NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_leave(name, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_leave(JOB_NSPACE, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 1), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_leave(GROUP, &required, 1), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(PMIx_Group_leave_nb(GROUP, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    return group_end(rank);
}

static const struct job_case cases[] = {
    { "fences", 2, fences, host_of_two },
    { "fences_of_some", 2, fences_of_some, host_of_two },
    { "fences_in_other_words", 2, fences_in_other_words, host_of_two },
    { "unknown", 2, unknown, host_of_two },
    { "connects", 2, connects, host_of_two },
    { "reads", 2, reads, host_of_two },
    { "hears", 2, receives, host_of_two },
    { "aborts", 2, aborts, host_of_abort },
    { "leaves", 2, leaves, host_of_two },
    { "connect_breaks", 2, connect_breaks, host_of_two },
    { "connect_goes_on", 2, connect_goes_on, host_of_two },
    { "all_leave", 2, all_leave, host_of_two },
    { "wrong", 2, wrong, host_of_two },
};

int main(int argc, char **argv)
{
    job_module.abort = on_abort;
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
