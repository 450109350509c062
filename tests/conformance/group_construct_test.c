/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct_test.c - what RFC0033 and the Standard say of construct and destruct: who meets
 * whom, what they get, which arguments are wrong, what the directives do. */
#include "../support/memory.h"
#include "../support/sanitized.h"
#include "connect.h"

#define GROUP "test.group"
#define MEMBERS_MAX 64

/* ---- construct and destruct ----------------------------------------------------------------- */

/* What a construct, an invitation or a join has given. */
struct made {
    struct call call;
    pmix_proc_t members[MEMBERS_MAX];
    size_t size;
    size_t context_id; /* of has_context */
    bool has_context;
};

static void results_read(const pmix_info_t info[], size_t ninfo, struct made *ret)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_GROUP_MEMBERSHIP) == 0) {
            const pmix_data_array_t *const array = info[i].value.data.darray;

            CHECK(info[i].value.type == PMIX_DATA_ARRAY && array->type == PMIX_PROC);
            CHECK(array->size <= MEMBERS_MAX);
            ret->size = array->size;
            memcpy(ret->members, array->array, array->size * sizeof(pmix_proc_t));
        } else if (strcmp(info[i].key, PMIX_GROUP_CONTEXT_ID) == 0) {
            CHECK(info[i].value.type == PMIX_SIZE && !ret->has_context);
            ret->context_id = info[i].value.data.size;
            ret->has_context = true;
        }
    }
}

static void on_made(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    struct made *const made = cbdata;

    results_read(info, ninfo, made);
    if (release != NULL) {
        release(release_cbdata);
    }
    call_answered(&made->call, status);
}

static pmix_status_t construct_by(const char *name, const pmix_proc_t procs[], size_t nprocs,
                                  struct words words, struct made *made)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;

    *made = (struct made){ .size = 0 };
    const pmix_status_t rc = PMIx_Group_construct(name, procs, nprocs, words.infos, words.count,
                                                  &results, &nresults);

    results_read(results, nresults, made);
    PMIx_Info_free(results, nresults);
    words_free(&words);
    return rc;
}

static void construct_begin(const char *name, const pmix_proc_t procs[], size_t nprocs,
                            struct words words, struct made *made)
{
    *made = (struct made){ .size = 0 };
    CHECK_STATUS(PMIx_Group_construct_nb(name, procs, nprocs, words.infos, words.count, on_made,
                                         made),
                 PMIX_SUCCESS);
    words_free(&words);
}

static pmix_status_t destruct_by(const char *name, struct words words)
{
    const pmix_status_t rc = PMIx_Group_destruct(name, words.infos, words.count);

    words_free(&words);
    return rc;
}

/* All ranks of this process's job. */
static struct made construct_of_job(const char *name, struct words words)
{
    const pmix_proc_t all = proc_of(me.nspace, WILDCARD);
    struct made made;

    CHECK_STATUS(construct_by(name, &all, 1, words, &made), PMIX_SUCCESS);
    return made;
}

static struct words numbered(void)
{
    return and_flag(NO_WORDS, PMIX_GROUP_ASSIGN_CONTEXT_ID);
}

static pmix_status_t fence_of(const char *name, pmix_rank_t rank)
{
    const pmix_proc_t proc = proc_of(name, rank);

    return PMIx_Fence(&proc, 1, NULL, 0);
}

/* ---- who meets whom ------------------------------------------------------------------------- */

/* GR1 GR3 GR16 GR23 GR81 X9: each calls in another form, and nobody returns before the last has called. */
static int forms(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    const pmix_proc_t each[3] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1),
                                  proc_of(JOB_NSPACE, 2) };
    struct made made;

    rank_begin(&me);
    construct_begin(GROUP, rank == 0 ? &all : each, rank == 0 ? 1 : 3, NO_WORDS, &made);
    if (rank == 2) {
        job_token_put(0);
        job_token_put(0);
    } else {
        CHECK_STATUS(call_wait(&made.call), PMIX_SUCCESS);
        CHECK(token_is_there(0));
        job_token_get(0);
    }
    if (rank == 2) {
        CHECK_STATUS(call_wait(&made.call), PMIX_SUCCESS);
    }
    CHECK(made.size == 3 && !made.has_context); /* GR13 */
    if (rank == 1) {
        struct call call = { .answers = 0 };

        CHECK_STATUS(PMIx_Group_destruct_nb(GROUP, NULL, 0, on_done, &call), PMIX_SUCCESS);
        CHECK_STATUS(call_wait(&call), PMIX_SUCCESS);
    } else {
        CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    }
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_ERR_NOT_FOUND); /* GR83 */
    return rank_end();
}

/* GR4 X20: the members' ranks follow the array. */
static int ranks(int rank)
{
    static const pmix_rank_t order[3] = { 1, 2, 0 };
    pmix_proc_t procs[3];
    char text[512], want[32];
    struct made made;

    rank_begin(&me);
    for (int i = 0; i < 3; i++) {
        procs[i] = proc_of(JOB_NSPACE, order[i]);
    }
    snprintf(text, sizeof(text), "from %d", rank);
    put_text("from", text);
    CHECK_STATUS(construct_by(GROUP, procs, 3, NO_WORDS, &made), PMIX_SUCCESS);
    CHECK(made.size == 3);
    for (pmix_rank_t i = 0; i < 3; i++) { /* GR18 GR47 */
        const pmix_proc_t member = proc_of(GROUP, i);

        CHECK(made.members[i].rank == order[i]);
        snprintf(want, sizeof(want), "from %u", order[i]);
        CHECK_STATUS(get_text(&member, "from", text), PMIX_SUCCESS);
        CHECK(strcmp(text, want) == 0);
    }
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* GR17 GR18: members of two jobs know each other's job, and what each has put. */
static int two_jobs(int rank)
{
    const pmix_proc_t procs[2] = { proc_of(JOB_NSPACE, WILDCARD), proc_of(SECOND, WILDCARD) };
    char text[512];
    struct made made;
    uint32_t size;

    begin_of_two();
    put_text("job", me.nspace);
    CHECK_STATUS(construct_by(GROUP, procs, 2, NO_WORDS, &made), PMIX_SUCCESS);
    CHECK(made.size == 4);
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(get_u32(&procs[i], PMIX_JOB_SIZE, &size), PMIX_SUCCESS);
        CHECK(size == 2);
    }
    for (size_t i = 0; i < 4; i++) {
        CHECK_STATUS(get_text(&made.members[i], "job", text), PMIX_SUCCESS);
        CHECK(strcmp(text, made.members[i].nspace) == 0);
    }
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

#define AT_ONCE 20

/* GR5 GR6 GR27 GR82: many groups of the same members at once, in opposite orders, beside a fence. */
static int at_once(int rank)
{
    static struct made made[AT_ONCE];
    static struct call ends[AT_ONCE];
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct call fence = { .answers = 0 };
    char names[AT_ONCE][32];

    rank_begin(&me);
    for (int i = 0; i < AT_ONCE; i++) {
        const int which = rank == 0 ? i : AT_ONCE - 1 - i;

        snprintf(names[which], sizeof(names[which]), "group.%d", which);
        construct_begin(names[which], &all, 1, numbered(), &made[which]);
        if (i == AT_ONCE / 2) {
            CHECK_STATUS(PMIx_Fence_nb(&all, 1, NULL, 0, on_done, &fence), PMIX_SUCCESS);
        }
    }
    CHECK_STATUS(call_wait(&fence), PMIX_SUCCESS);
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_STATUS(call_wait(&made[i].call), PMIX_SUCCESS);
        for (int n = 0; n < i; n++) {
            CHECK(made[n].context_id != made[i].context_id); /* GR12 */
        }
    }
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_STATUS(fence_of(names[i], WILDCARD), PMIX_SUCCESS);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        const int which = rank == 1 ? i : AT_ONCE - 1 - i;

        CHECK_STATUS(PMIx_Group_destruct_nb(names[which], NULL, 0, on_done, &ends[which]),
                     PMIX_SUCCESS);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_STATUS(call_wait(&ends[i]), PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- names ---------------------------------------------------------------------------------- */

/* GR25 */
static void before_init(void)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct made made;

    CHECK_STATUS(construct_by(GROUP, &all, 1, NO_WORDS, &made), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Group_construct_nb(GROUP, &all, 1, NULL, 0, on_made, &made), PMIX_ERR_INIT);
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Group_destruct_nb(GROUP, NULL, 0, on_done, &made.call), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Group_leave(GROUP, NULL, 0), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Group_leave_nb(GROUP, NULL, 0, on_done, &made.call), PMIX_ERR_INIT);
}

/* GR8 GR9 */
static void wrong_names(void)
{
    char name[300];
    struct made made;

    CHECK_STATUS(construct_by(NULL, &me, 1, NO_WORDS, &made), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(construct_by("", &me, 1, NO_WORDS, &made), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(destruct_by(NULL, NO_WORDS), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(destruct_by("", NO_WORDS), PMIX_ERR_BAD_PARAM);
    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    CHECK_STATUS(construct_by(name, &me, 1, NO_WORDS, &made), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(destruct_by(name, NO_WORDS), PMIX_ERR_BAD_PARAM);
    CHECK(construct_by(JOB_NSPACE, &me, 1, NO_WORDS, &made) != PMIX_SUCCESS);
    name[254] = '\0';
    name[253] = (char)('0' + me.rank); /* a name of its own, as long as one may be */
    CHECK_STATUS(construct_by(name, &me, 1, numbered(), &made), PMIX_SUCCESS);
    CHECK(made.size == 1 && made.has_context); /* GR14 */
    CHECK_STATUS(destruct_by(name, NO_WORDS), PMIX_SUCCESS);
}

/* GR10 and others; whatever it is said to, it makes no group. */
static void wrong_lists(void)
{
    const pmix_proc_t other = proc_of(JOB_NSPACE, 1 - me.rank);
    const pmix_proc_t mixed[2] = { me, proc_of("nobody.here", 0) };
    struct made made;

    CHECK_STATUS(construct_by(GROUP, NULL, 1, NO_WORDS, &made), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(construct_by(GROUP, &me, 0, NO_WORDS, &made), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(construct_by(GROUP, &other, 1, NO_WORDS, &made), PMIX_ERR_NOT_A_MEMBER);
    CHECK(construct_by(GROUP, mixed, 2, and_limit(NO_WORDS, 1), &made) != PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Group_construct(GROUP, &me, 1, NULL, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_construct_nb(GROUP, &me, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_destruct_nb(GROUP, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_ERR_NOT_FOUND);
}

static void wrong_directives(void)
{
    const char *text = "yes";
    struct words words = and_flag(NO_WORDS, "test.no.such.key");
    struct made made;

    words.infos[0].flags = PMIX_INFO_REQD;
    CHECK_STATUS(construct_by(GROUP, &me, 1, words, &made), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(construct_by(GROUP, &me, 1, and_say(NO_WORDS, PMIX_TIMEOUT, text, PMIX_STRING),
                              &made),
                 PMIX_ERR_BAD_PARAM);
}

static int wrong_arguments(int rank)
{
    before_init();
    rank_begin(&me);
    wrong_names();
    wrong_lists();
    wrong_directives();
    return rank_end();
}

/* GR7: of a group that is there, for its members and for others; GR49. */
static int taken(int rank)
{
    const pmix_proc_t pair[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct made made;

    rank_begin(&me);
    if (rank < 2) {
        CHECK_STATUS(construct_by(GROUP, pair, 2, NO_WORDS, &made), PMIX_SUCCESS);
        CHECK(construct_by(GROUP, pair, 2, and_limit(NO_WORDS, 1), &made) != PMIX_SUCCESS);
    }
    rank_fence();
    if (rank == 2) {
        CHECK(construct_by(GROUP, &me, 1, NO_WORDS, &made) != PMIX_SUCCESS);
        CHECK(destruct_by(GROUP, NO_WORDS) != PMIX_SUCCESS);
    }
    rank_fence();
    if (rank < 2) {
        CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

/* GR28: nobody leaves what is not there yet; who has called is a member in the end. */
static int no_leave(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    struct made made;

    rank_begin(&me);
    if (rank == 0) {
        construct_begin(GROUP, &all, 1, NO_WORDS, &made);
        CHECK(PMIx_Group_leave(GROUP, NULL, 0) != PMIX_SUCCESS);
    }
    rank_fence();
    if (rank == 0) {
        CHECK_STATUS(call_wait(&made.call), PMIX_SUCCESS);
    } else {
        made = construct_of_job(GROUP, NO_WORDS);
    }
    CHECK(made.size == 2);
    CHECK_STATUS(fence_of(GROUP, WILDCARD), PMIX_SUCCESS);
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* GR87: by other members, with another number. */
static int again(int rank)
{
    const pmix_proc_t pair[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    size_t first;
    struct made made;

    rank_begin(&me);
    made = construct_of_job(GROUP, numbered());
    first = made.context_id;
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    if (rank < 2) {
        CHECK_STATUS(construct_by(GROUP, pair, 2, numbered(), &made), PMIX_SUCCESS);
        CHECK(made.size == 2 && made.has_context && made.context_id != first);
        CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

static bool is_in(const pmix_proc_t *proc, const char *name)
{
    pmix_value_t *value = NULL;
    const pmix_status_t rc = PMIx_Get(proc, PMIX_GROUP_NAMES, NULL, 0, &value);
    bool found = false;

    if (rc == PMIX_ERR_NOT_FOUND) {
        return false;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    const pmix_data_array_t *const array = value->data.darray;

    CHECK(value->type == PMIX_DATA_ARRAY && array->type == PMIX_STRING);
    for (size_t i = 0; i < array->size; i++) {
        found |= strcmp(((char **)array->array)[i], name) == 0;
    }
    PMIx_Value_free(value, 1);
    return found;
}

/* GR20: of this process and of another one, as long as there is the group. */
static int names(int rank)
{
    const pmix_proc_t pair[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    const pmix_proc_t third = proc_of(JOB_NSPACE, 2);
    struct made made;

    rank_begin(&me);
    (void)construct_of_job("all", NO_WORDS);
    if (rank < 2) {
        CHECK_STATUS(construct_by("pair", pair, 2, NO_WORDS, &made), PMIX_SUCCESS);
    }
    rank_fence();
    CHECK(is_in(&me, "all") && is_in(&me, "pair") == (rank < 2));
    CHECK(is_in(&pair[1], "pair") && is_in(&third, "all") && !is_in(&third, "pair"));
    rank_fence();
    CHECK_STATUS(destruct_by("all", NO_WORDS), PMIX_SUCCESS);
    CHECK(!is_in(&me, "all") && is_in(&me, "pair") == (rank < 2));
    if (rank < 2) {
        CHECK_STATUS(destruct_by("pair", NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- directives ----------------------------------------------------------------------------- */

/* GR11: all are given the same number, GR15: also where the members are said to be here. */
static int numbers(int rank)
{
    char mine[512], other[512];

    rank_begin(&me);
    const pmix_proc_t peer = proc_of(JOB_NSPACE, 1 - (pmix_rank_t)rank);
    const struct made made = construct_of_job(GROUP, and_flag(numbered(), PMIX_GROUP_LOCAL_ONLY));

    CHECK(made.has_context);
    snprintf(mine, sizeof(mine), "%zu", made.context_id);
    put_text("number", mine);
    CHECK_STATUS(get_text(&peer, "number", other), PMIX_SUCCESS);
    CHECK(strcmp(mine, other) == 0);
    CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    return rank_end();
}

/* GR21 GR22 GR86 X21: two wait for one that does not call; then the name is free. */
static int time_limit(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    const pmix_proc_t pair[2] = { proc_of(JOB_NSPACE, 0), proc_of(JOB_NSPACE, 1) };
    struct made made;

    rank_begin(&me);
    if (rank == 1) {
        construct_begin(GROUP, &all, 1, NO_WORDS, &made);
    }
    if (rank < 2) {
        CHECK_STATUS(PMIx_Fence(pair, 2, NULL, 0), PMIX_SUCCESS); /* the server has the call */
        CHECK_STATUS(rank == 0 ? construct_by(GROUP, &all, 1, and_limit(NO_WORDS, 1), &made)
                               : call_wait(&made.call),
                     PMIX_ERR_TIMEOUT);
        CHECK_STATUS(PMIx_Fence(pair, 2, NULL, 0), PMIX_SUCCESS);
        CHECK_STATUS(construct_by(GROUP, pair, 2, NO_WORDS, &made), PMIX_SUCCESS);
    }
    if (rank == 0) {
        CHECK_STATUS(destruct_by(GROUP, and_limit(NO_WORDS, 1)), PMIX_ERR_TIMEOUT);
    }
    rank_fence();
    if (rank < 2) {
        CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    }
    return rank_end();
}

/* GR94 */
static int codes(int rank)
{
    static const pmix_status_t values[][2] = {
        { PMIX_GROUP_INVITED, -159 },
        { PMIX_GROUP_LEFT, -160 },
        { PMIX_GROUP_INVITE_ACCEPTED, -161 },
        { PMIX_GROUP_INVITE_DECLINED, -162 },
        { PMIX_GROUP_INVITE_FAILED, -163 },
        { PMIX_GROUP_MEMBERSHIP_UPDATE, -164 },
        { PMIX_GROUP_CONSTRUCT_ABORT, -165 },
        { PMIX_GROUP_CONSTRUCT_COMPLETE, -166 },
        { PMIX_GROUP_LEADER_SELECTED, -167 },
        { PMIX_GROUP_LEADER_FAILED, -168 },
        { PMIX_GROUP_CONTEXT_ID_ASSIGNED, -169 },
        { PMIX_GROUP_MEMBER_FAILED, -170 },
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        CHECK(values[i][0] == values[i][1]);
    }
    CHECK(PMIX_GROUP_ACCEPT == 1 && PMIX_GROUP_DECLINE == 0); /* GR75 */
    rank_begin(&me);
    return rank_end();
}

/* ---- many ----------------------------------------------------------------------------------- */

#define THOUSAND (SANITIZED ? 50 : 1000)
#define NODE (SANITIZED ? 8 : 64)

static size_t answered; /* under heard_lock */

static void on_any(pmix_status_t status, void *cbdata)
{
    CHECK_STATUS(status, PMIX_SUCCESS);
    pthread_mutex_lock(&received_lock);
    answered++;
    pthread_cond_broadcast(&received_more);
    pthread_mutex_unlock(&received_lock);
}

static void on_any_made(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release, void *release_cbdata)
{
    struct made made = { .size = 0 };

    results_read(info, ninfo, &made);
    CHECK(made.size == NODE && made.has_context);
    if (release != NULL) {
        release(release_cbdata);
    }
    on_any(status, cbdata);
}

static void answers_wait(size_t count)
{
    pthread_mutex_lock(&received_lock);
    while (answered < count) {
        received_wait_locked("callbacks", (long)count);
    }
    CHECK(answered == count);
    answered = 0;
    pthread_mutex_unlock(&received_lock);
}

/* A thousand groups of 64 processes, all at the same time. */
static int thousand(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, WILDCARD);
    char name[32];

    rank_begin(&me);
    struct words words = numbered();

    for (int i = 0; i < THOUSAND; i++) {
        snprintf(name, sizeof(name), "group.%d", i);
        CHECK_STATUS(PMIx_Group_construct_nb(name, &all, 1, words.infos, words.count, on_any_made,
                                             NULL),
                     PMIX_SUCCESS);
    }
    answers_wait((size_t)THOUSAND);
    CHECK_STATUS(fence_of("group.7", WILDCARD), PMIX_SUCCESS);
    for (int i = 0; i < THOUSAND; i++) {
        snprintf(name, sizeof(name), "group.%d", i);
        CHECK_STATUS(PMIx_Group_destruct_nb(name, NULL, 0, on_any, NULL), PMIX_SUCCESS);
    }
    answers_wait((size_t)THOUSAND);
    words_free(&words);
    return rank_end();
}

#define CYCLES (SANITIZED ? 200 : 10000)
#define GROWN_KIB_MAX 512 /* for three quarters of them: less than 70 bytes each */

static bool has_grown(unsigned long before, const char *who)
{
    const unsigned long after = memory_kib();

    if (SANITIZED || after <= before + GROWN_KIB_MAX) {
        return false;
    }
    fprintf(stderr, "%s has grown from %lu to %lu KiB\n", who, before, after);
    return true;
}

/* Ten thousand that come and go leave nothing, here and in the server. */
static int cycles(int rank)
{
    unsigned long before = 0;

    rank_begin(&me);
    for (int i = 0; i <= CYCLES; i++) {
        if (i == CYCLES / 4 || i == CYCLES) {
            rank_fence();
            if (rank == 0) {
                job_token_put(0);
                job_token_get(1);
            }
            before = i < CYCLES ? memory_kib() : before;
            rank_fence();
        }
        (void)construct_of_job(GROUP, numbered());
        CHECK_STATUS(destruct_by(GROUP, NO_WORDS), PMIX_SUCCESS);
    }
    CHECK(!has_grown(before, "a rank"));
    return rank_end();
}

static int host_of_cycles(struct job *job)
{
    job_token_get(0);
    const unsigned long before = memory_kib();

    job_token_put(1);
    job_token_get(0);
    const bool grown = has_grown(before, "the server");

    job_token_put(1);
    return grown;
}

static const struct job_case cases[] = {
    { "forms", 3, forms },
    { "ranks", 3, ranks },
    { "two_jobs", 2, two_jobs, host_of_two },
    { "at_once", 2, at_once },
    { "wrong_arguments", 2, wrong_arguments },
    { "taken", 3, taken },
    { "no_leave", 2, no_leave },
    { "again", 3, again },
    { "names", 3, names },
    { "numbers", 2, numbers },
    { "time_limit", 3, time_limit },
    { "codes", 1, codes },
    { "thousand", NODE, thousand },
    { "cycles", 2, cycles, host_of_cycles },
};

JOB_MAIN(cases)
