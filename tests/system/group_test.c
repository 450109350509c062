/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_test.c - processes make a group and end it: who is in it, under which name and number, and
 * what the members know of each other. */
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>

#include <shmix.h>

#include "job.h"
#include "support/sanitized.h"

static pmix_proc_t me;

/* ---- results -------------------------------------------------------------------------------- */

struct made {
    pmix_proc_t members[8];
    size_t count;
    size_t context_id; /* 0: none */
};

/* X33: the context id comes first, then the members, then the name. */
static struct made made_read(const pmix_info_t *results, size_t nresults)
{
    struct made made = { .count = 0 };

    CHECK(nresults == 0 || (strcmp(results[nresults - 1].key, PMIX_GROUP_ID) == 0 &&
                            results[nresults - 1].value.type == PMIX_STRING));
    for (size_t i = 0; i + 1 < nresults; i++) {
        if (strcmp(results[i].key, PMIX_GROUP_MEMBERSHIP) == 0) {
            const pmix_data_array_t *const array = results[i].value.data.darray;

            CHECK(results[i].value.type == PMIX_DATA_ARRAY && array->type == PMIX_PROC);
            CHECK(array->size <= 8);
            made.count = array->size;
            memcpy(made.members, array->array, array->size * sizeof(made.members[0]));
        } else {
            CHECK(i == 0 && strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID) == 0);
            CHECK(results[i].value.type == PMIX_SIZE && results[i].value.data.size != 0);
            made.context_id = results[i].value.data.size;
        }
    }
    return made;
}

static struct made construct(const char *name, const pmix_proc_t *procs, size_t nprocs,
                             const pmix_info_t *info, size_t ninfo)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;

    CHECK_STATUS(PMIx_Group_construct(name, procs, nprocs, info, ninfo, &results, &nresults),
                 PMIX_SUCCESS);
    const struct made made = made_read(results, nresults);

    PMIx_Info_free(results, nresults);
    return made;
}

static void destruct(const char *name)
{
    CHECK_STATUS(PMIx_Group_destruct(name, NULL, 0), PMIX_SUCCESS);
}

static struct made construct_all(const char *name, const char *key)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    pmix_info_t info;

    if (key != NULL) {
        info = info_flag(key);
    }
    return construct(name, &all, 1, &info, key != NULL);
}

/* ---- who is in it, and where ---------------------------------------------------------------- */

/* GR1, GR2, GR4, X20: the order of the lowest caller is that of the ranks; nobody counts twice. */
static int rank_of_order(int rank)
{
    static const pmix_rank_t ranks[] = { 2, 0, 1 };

    rank_begin(&me);
    const pmix_proc_t one_way[] = { proc_of(JOB_NSPACE, 2), proc_of("", 0), proc_of("", 1) };
    const pmix_proc_t other_way[] = { proc_of("", 1), proc_of("", 0), proc_of("", 1),
                                      proc_of(JOB_NSPACE, 2) };
    const struct made made = rank == 0 ? construct("tea", one_way, 3, NULL, 0)
                                       : construct("tea", other_way, 4, NULL, 0);

    CHECK(made.count == 3 && made.context_id == 0); /* GR13, GR16 */
    for (int i = 0; i < 3; i++) {
        CHECK(strcmp(made.members[i].nspace, JOB_NSPACE) == 0);
        CHECK(made.members[i].rank == ranks[i]);
    }
    destruct("tea");
    return rank_end();
}

/* GR3: a wildcard, or the name of a group, for those who list ranks. */
static int rank_of_wildcard(int rank)
{
    rank_begin(&me);
    const pmix_proc_t listed[] = { proc_of("", 0), proc_of("", 1) };
    const pmix_proc_t all = proc_of("", PMIX_RANK_WILDCARD);
    const pmix_proc_t turned[] = { proc_of("", 1), proc_of("", 0) };
    const pmix_proc_t of_turned = proc_of("turned", PMIX_RANK_WILDCARD);

    CHECK(construct("tea", rank == 0 ? &all : listed, rank == 0 ? 1 : 2, NULL, 0).count == 2);
    CHECK(construct("turned", turned, 2, NULL, 0).members[0].rank == 1);
    CHECK(construct("again", &of_turned, 1, NULL, 0).members[0].rank == 1);
    destruct("turned");
    destruct("again");
    destruct("tea");
    return rank_end();
}

/* ---- forms ---------------------------------------------------------------------------------- */

struct outcome {
    sem_t done;
    pmix_status_t status;
    struct made made;
};

static void on_construct(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                         pmix_release_cbfunc_t release, void *release_cbdata)
{
    struct outcome *const outcome = cbdata;

    outcome->status = status;
    outcome->made = made_read(info, ninfo);
    if (release != NULL) {
        release(release_cbdata);
    }
    sem_post(&outcome->done);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    struct outcome *const outcome = cbdata;

    outcome->status = status;
    sem_post(&outcome->done);
}

static void outcome_wait(struct outcome *outcome, pmix_status_t want)
{
    job_sem_wait(&outcome->done);
    CHECK_STATUS(outcome->status, want);
}

/* GR1: what two callers have written alike is read once.  So it means what it meant, although the
 * name that they have used has gone since. */
static int rank_of_same_words(int rank)
{
    const pmix_proc_t turned[] = { proc_of("", 1), proc_of("", 0) };
    const pmix_proc_t words[] = { proc_of("turned", PMIX_RANK_WILDCARD), proc_of(JOB_NSPACE, 0) };
    struct outcome outcome = { .status = 1 };

    sem_init(&outcome.done, 0, 0);
    rank_begin(&me);
    (void)construct("turned", turned, 2, NULL, 0);
    if (rank == 1) {
        CHECK_STATUS(PMIx_Group_construct_nb("tea", words, 2, NULL, 0, on_construct, &outcome),
                     PMIX_SUCCESS);
    }
    destruct("turned");
    if (rank == 1) {
        outcome_wait(&outcome, PMIX_SUCCESS);
    } else {
        outcome.made = construct("tea", words, 2, NULL, 0);
    }
    CHECK(outcome.made.count == 2 && outcome.made.members[0].rank == 1);
    destruct("tea");
    return rank_end();
}

/* GR1, GR23: both forms meet; results are not asked for, or come in the callback. */
static int rank_of_forms(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    struct outcome outcome = { .status = 1 };

    sem_init(&outcome.done, 0, 0);
    rank_begin(&me);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, NULL, 0, NULL, NULL), PMIX_SUCCESS);
        destruct("tea");
    } else {
        CHECK_STATUS(PMIx_Group_construct_nb("tea", &all, 1, NULL, 0, on_construct, &outcome),
                     PMIX_SUCCESS);
        outcome_wait(&outcome, PMIX_SUCCESS);
        CHECK(outcome.made.count == 2 && outcome.made.members[1].rank == 1);
        CHECK_STATUS(PMIx_Group_destruct_nb("tea", NULL, 0, on_op, &outcome), PMIX_SUCCESS);
        outcome_wait(&outcome, PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- names ---------------------------------------------------------------------------------- */

/* GR7, GR8, GR9, GR10, GR25, GR48, GR49, GR80, GR83 */
static int rank_of_bad_input(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    char longest[PMIX_MAX_NSLEN + 2] = { 0 };
    pmix_info_t info;

    memset(longest, 'n', sizeof(longest) - 1);
    CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Group_destruct("tea", NULL, 0), PMIX_ERR_INIT);
    rank_begin(&me);
    const pmix_proc_t other = proc_of("", 1 - me.rank);
    const struct {
        const char *name;
        const pmix_proc_t *procs;
        size_t nprocs, ninfo;
        pmix_status_t want;
    } rows[] = {
        { NULL, &all, 1, 0, PMIX_ERR_BAD_PARAM },
        { "", &all, 1, 0, PMIX_ERR_BAD_PARAM },
        { longest, &all, 1, 0, PMIX_ERR_BAD_PARAM },
        { "tea", NULL, 1, 0, PMIX_ERR_BAD_PARAM },
        { "tea", &all, 0, 0, PMIX_ERR_BAD_PARAM },
        { "tea", &all, 1, 1, PMIX_ERR_BAD_PARAM },
        { "tea", &other, 1, 0, PMIX_ERR_NOT_A_MEMBER },
        { JOB_NSPACE, &all, 1, 0, PMIX_ERR_EXISTS },
        { "shmix.memberships", &me, 1, 0, PMIX_ERR_BAD_PARAM },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_STATUS(PMIx_Group_construct(rows[i].name, rows[i].procs, rows[i].nprocs, NULL,
                                          rows[i].ninfo, NULL, NULL),
                     rows[i].want);
    }
    CHECK_STATUS(PMIx_Group_construct_nb("tea", &all, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    info = info_text(PMIX_GROUP_INFO, "no array");
    CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, &info, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    CHECK_STATUS(PMIx_Group_destruct(NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_destruct(longest, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_destruct("tea", NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Group_destruct(JOB_NSPACE, NULL, 0), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(PMIx_Group_destruct_nb("tea", NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);

    longest[PMIX_MAX_NSLEN] = '\0';
    CHECK(construct_all(longest, NULL).count == 2);
    CHECK_STATUS(PMIx_Group_construct(longest, &all, 1, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
    rank_fence();
    destruct(longest);
    CHECK_STATUS(PMIx_Group_destruct(longest, NULL, 0), PMIX_ERR_NOT_FOUND);
    return rank_end();
}

/* GR7: a name that is being built, for those who are not asked, who have called, and who mean
 * somebody else; GR49: a stranger's destruct. */
static int rank_of_taken(int rank)
{
    struct outcome outcome = { .status = 1 };

    sem_init(&outcome.done, 0, 0);
    rank_begin(&me);
    const pmix_proc_t pair[] = { proc_of("", 0), proc_of("", 1) }, all = proc_of("", 2);

    if (rank == 0) {
        CHECK_STATUS(PMIx_Group_construct_nb("tea", pair, 2, NULL, 0, on_construct, &outcome),
                     PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_construct("tea", pair, 2, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
    }
    rank_fence();
    if (rank == 2) {
        CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
    } else if (rank == 1) {
        CHECK_STATUS(PMIx_Group_construct("tea", &me, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    }
    rank_fence();
    if (rank == 1) {
        CHECK(construct("tea", pair, 2, NULL, 0).count == 2);
    } else if (rank == 0) {
        outcome_wait(&outcome, PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_destruct_nb("tea", NULL, 0, on_op, &outcome), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Group_destruct("tea", NULL, 0), PMIX_ERR_INVALID_OPERATION);
    }
    rank_fence();
    if (rank == 2) {
        CHECK_STATUS(PMIx_Group_destruct("tea", NULL, 0), PMIX_ERR_NOT_A_MEMBER);
        CHECK_STATUS(PMIx_Group_leave("tea", NULL, 0), PMIX_ERR_NOT_A_MEMBER);
    }
    rank_fence();
    if (rank == 1) {
        destruct("tea");
    } else if (rank == 0) {
        outcome_wait(&outcome, PMIX_SUCCESS);
    }
    return rank_end();
}

/* ---- numbers, and what members give --------------------------------------------------------- */

/* GR11, GR12, GR14, GR87: one asks for a number, all get it; no other group has it, ever. */
static int rank_of_context(int rank)
{
    size_t seen[4];

    rank_begin(&me);
    seen[0] = construct_all("tea", rank == 1 ? PMIX_GROUP_ASSIGN_CONTEXT_ID : NULL).context_id;
    seen[1] = construct_all("milk", PMIX_GROUP_ASSIGN_CONTEXT_ID).context_id;
    destruct("tea");
    seen[2] = construct_all("tea", PMIX_GROUP_ASSIGN_CONTEXT_ID).context_id;
    pmix_info_t info;
    info = info_flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    const struct made alone = construct(rank == 0 ? "mine" : "yours", &me, 1, &info, 1);
    seen[3] = alone.context_id;
    CHECK(alone.count == 1 && alone.members[0].rank == me.rank);
    for (int i = 0; i < 4; i++) {
        for (int n = 0; n < i; n++) {
            CHECK(seen[i] != 0 && seen[n] != seen[i]);
        }
    }
    destruct(rank == 0 ? "mine" : "yours");
    destruct("tea");
    destruct("milk");
    return rank_end();
}

/* A number of @proc, of context @context_id (0: none).  Return: 0 when there is none. */
static size_t number_of(const pmix_proc_t *proc, const char *key, size_t context_id)
{
    pmix_info_t infos[2];
    pmix_value_t *value = NULL;

    infos[0] = info_flag(PMIX_IMMEDIATE);
    CHECK_STATUS(PMIx_Info_load(&infos[1], PMIX_GROUP_CONTEXT_ID, &context_id, PMIX_SIZE),
                 PMIX_SUCCESS);
    PMIx_Info_qualifier(&infos[1]);
    const pmix_status_t rc = PMIx_Get(proc, key, infos, context_id != 0 ? 2 : 1, &value);
    if (rc == PMIX_ERR_NOT_FOUND) {
        return 0;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(value->type == PMIX_SIZE);
    const size_t number = value->data.size;

    PMIx_Value_free(value, 1);
    return number;
}

/* PMIX_GROUP_INFO with the local number, or that directly. */
static size_t construct_numbered(const char *name, size_t number, bool in_array, bool with_context)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    pmix_info_t infos[2], inner;
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = &inner };

    CHECK_STATUS(PMIx_Info_load(&inner, PMIX_GROUP_LOCAL_CID, &number, PMIX_SIZE), PMIX_SUCCESS);
    if (in_array) {
        CHECK_STATUS(PMIx_Info_load(&infos[0], PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY),
                     PMIX_SUCCESS);
    } else {
        infos[0] = inner;
    }
    infos[1] = info_flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    const struct made made = construct(name, &all, 1, infos, with_context ? 2 : 1);

    PMIx_Info_destruct(&infos[0]);
    return made.context_id;
}

/* As MPI_Comm_create_from_group does. */
static size_t construct_with_number(size_t number, bool in_array, bool with_context)
{
    const size_t context_id = construct_numbered("tea", number, in_array, with_context);

    destruct("tea");
    return context_id;
}

/* PMIX_GROUP_INFO_ARRAY: infos, and arrays of them. */
static int rank_of_gift_arrays(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    size_t numbers[] = { 10, 20, 30 };
    pmix_info_t inner[2], elements[2], info;
    pmix_data_array_t nested = { .type = PMIX_INFO, .size = 2, .array = inner };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = elements };

    rank_begin(&me);
    const pmix_proc_t other = proc_of("", 1 - me.rank);

    for (size_t i = 0; i < 3; i++) {
        numbers[i] += (size_t)rank;
    }
    CHECK_STATUS(PMIx_Info_load(&inner[0], "test.a", &numbers[0], PMIX_SIZE), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&inner[1], "test.b", &numbers[1], PMIX_SIZE), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&elements[0], PMIX_GROUP_INFO, &nested, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&elements[1], "test.c", &numbers[2], PMIX_SIZE), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_GROUP_INFO_ARRAY, &array, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
    PMIx_Info_required(&info);
    (void)construct("tea", &all, 1, &info, 1);
    CHECK(number_of(&other, "test.a", 0) == 10 + other.rank);
    CHECK(number_of(&other, "test.b", 0) == 20 + other.rank);
    CHECK(number_of(&other, "test.c", 0) == 30 + other.rank);
    PMIx_Info_destruct(&elements[0]);
    PMIx_Info_destruct(&info);
    destruct("tea");
    return rank_end();
}

/* GR19: read when the group is gone, each number under its own context. */
static int rank_of_gifts(int rank)
{
    size_t context[2];

    rank_begin(&me);
    const pmix_proc_t other = proc_of("", 1 - me.rank);

    context[0] = construct_with_number(10 + me.rank, true, true);
    context[1] = construct_with_number(20 + me.rank, false, true);
    (void)construct_with_number(30 + me.rank, rank == 0, false);
    for (size_t i = 0; i < 2; i++) {
        CHECK(number_of(&other, PMIX_GROUP_LOCAL_CID, context[i]) == 10 * (i + 1) + other.rank);
        CHECK(number_of(&me, PMIX_GROUP_LOCAL_CID, context[i]) == 10 * (i + 1) + me.rank);
    }
    CHECK(number_of(&other, PMIX_GROUP_LOCAL_CID, 0) == 30 + other.rank);
    CHECK(number_of(&other, PMIX_GROUP_LOCAL_CID, 7) == 0);
    return rank_end();
}

#define MANY 2000
#define MANY_BYTES 65536u /* of SHMIX_SERVER_GROUP_BYTES: room for some of them */

/* The server sleeps, and so do both ranks. */
static void pause_both(int rank)
{
    rank_fence();
    if (rank == 0) {
        job_token_put(0);
        job_token_get(1);
    }
    rank_fence();
}

/* GR19: of what has been given in groups that have ended the newest is there, as much as the server
 * keeps; what was given in one that lives is there as well, however old it is. */
static int rank_of_many(int rank)
{
    size_t contexts[MANY], kept = 0;

    rank_begin(&me);
    const pmix_proc_t other = proc_of("", 1 - me.rank);
    const size_t living = construct_numbered("milk", 7, true, true);

    for (size_t i = 0; i < MANY; i++) {
        contexts[i] = construct_with_number(i + 1, true, true);
        if (i == MANY / 2 || i == MANY - 1) {
            pause_both(rank);
        }
    }
    while (kept < MANY &&
           number_of(&other, PMIX_GROUP_LOCAL_CID, contexts[MANY - 1 - kept]) == MANY - kept) {
        kept++;
    }
    CHECK(kept >= 32 && kept <= MANY_BYTES / 128);
    for (size_t i = 0; i < MANY - kept; i++) {
        CHECK(number_of(&other, PMIX_GROUP_LOCAL_CID, contexts[i]) == 0);
    }
    CHECK(number_of(&other, PMIX_GROUP_LOCAL_CID, living) == 7);
    destruct("milk");
    return rank_end();
}

/* The server takes no more memory for the second half. */
static int host_of_many(struct job *job)
{
    size_t used[2];

    for (int i = 0; i < 2; i++) {
        job_token_get(0); /* both ranks sleep in a fence, and the server with them */
        used[i] = mallinfo2().uordblks;
        job_token_put(1);
    }
    printf("groups: %zu bytes in use, then %zu\n", used[0], used[1]);
    CHECK(SANITIZED || used[1] <= used[0] + 4096);
    return 0;
}

/* ---- members that do not know of each other -------------------------------------------------- */

static void leaders_load(pmix_info_t *info, size_t count)
{
    CHECK_STATUS(PMIx_Info_load(info, PMIX_GROUP_BOOTSTRAP, &count, PMIX_SIZE), PMIX_SUCCESS);
}

static void added_load(pmix_info_t *info, pmix_proc_t *procs, size_t count)
{
    pmix_data_array_t array = { .type = PMIX_PROC, .size = count, .array = procs };

    CHECK_STATUS(PMIx_Info_load(info, PMIX_GROUP_ADD_MEMBERS, &array, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
}

/* GR89, GR90: ranks 1 and 2 lead; rank 0 is added by both, rank 3 by one. */
static int rank_of_bootstrap(int rank)
{
    pmix_info_t infos[2];
    struct made made;

    rank_begin(&me);
    rank_fence(); /* the host has registered all */
    pmix_proc_t added[] = { proc_of("", 3), proc_of(JOB_NSPACE, 0), proc_of("", 0) };

    for (int i = 0; i < 20; i++) {
        if (rank == 1 || rank == 2) {
            leaders_load(&infos[0], 2);
            added_load(&infos[1], rank == 1 ? added : added + 1, rank == 1 ? 3 : 1);
            made = construct("tea", &me, 1, infos, 2);
            PMIx_Info_destruct(&infos[1]);
        } else {
            made = construct("tea", NULL, 0, NULL, 0);
        }
        CHECK(made.count == 4);
        for (pmix_rank_t n = 0; n < 4; n++) {
            CHECK(made.members[n].rank == n && strcmp(made.members[n].nspace, JOB_NSPACE) == 0);
        }
        destruct("tea");
    }
    return rank_end();
}

/* GR91: who contradicts the others is refused; a guest whom nobody has named spoils it for all. */
static int rank_of_bad_bootstrap(int rank)
{
    struct outcome outcome = { .status = 1 };
    pmix_info_t infos[2];

    sem_init(&outcome.done, 0, 0);
    rank_begin(&me);
    const pmix_proc_t pair[] = { me, proc_of("", (me.rank + 1) % 3) };
    pmix_proc_t beyond = proc_of("", 7), first = proc_of("", 1);

    leaders_load(&infos[0], 2);
    added_load(&infos[1], &beyond, 1);
    CHECK_STATUS(PMIx_Group_construct("tea", pair, 2, &infos[0], 1, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_construct("tea", NULL, 0, &infos[0], 1, NULL, NULL),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Group_construct("tea", &me, 1, &infos[1], 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    rank_fence();
    if (rank == 0) {
        CHECK_STATUS(PMIx_Group_construct_nb("tea", NULL, 0, NULL, 0, on_construct, &outcome),
                     PMIX_SUCCESS);
    }
    rank_fence();
    if (rank == 1) {
        CHECK_STATUS(PMIx_Group_construct("tea", &me, 1, infos, 2, NULL, NULL), PMIX_ERR_NOT_FOUND);
        CHECK_STATUS(PMIx_Group_construct("tea", &me, 1, NULL, 0, NULL, NULL), PMIX_ERR_EXISTS);
    }
    PMIx_Info_destruct(&infos[1]);
    rank_fence();
    if (rank == 2) {
        leaders_load(&infos[0], 1);
        added_load(&infos[1], &first, 1);
        CHECK_STATUS(PMIx_Group_construct("tea", &me, 1, infos, 2, NULL, NULL), PMIX_ERR_BAD_PARAM);
        PMIx_Info_destruct(&infos[1]);
    } else if (rank == 1) {
        CHECK_STATUS(PMIx_Group_construct("tea", NULL, 0, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    } else {
        outcome_wait(&outcome, PMIX_ERR_BAD_PARAM);
    }
    return rank_end();
}

/* ---- the order in the end --------------------------------------------------------------------- */

static void final_load(pmix_info_t *info, const char *ranks)
{
    pmix_proc_t procs[8];
    pmix_data_array_t array = { .type = PMIX_PROC, .size = strlen(ranks), .array = procs };

    for (size_t i = 0; i < array.size; i++) {
        procs[i] = proc_of(i % 2 == 0 ? "" : JOB_NSPACE, (pmix_rank_t)(ranks[i] - '0'));
    }
    CHECK_STATUS(PMIx_Info_load(info, PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, &array, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
    PMIx_Info_required(info);
}

static void check_order(const struct made *made, const char *ranks)
{
    CHECK(made->count == strlen(ranks));
    for (size_t i = 0; i < made->count; i++) {
        CHECK(made->members[i].rank == (pmix_rank_t)(ranks[i] - '0'));
    }
}

/* Whoever says it: the lowest of those who do.  Others follow as they would; strangers and doubles
 * do not matter. */
static int rank_of_final(int rank)
{
    static const struct {
        const char *of[3]; /* what each rank says */
        const char *want;
    } rows[] = {
        { { "", "", "" }, "012" },    { { "210", "", "" }, "210" },  { { "", "", "1" }, "102" },
        { { "", "12", "2" }, "120" }, { { "2", "1", "0" }, "201" },  { { "", "729", "" }, "201" },
        { { "", "", "11" }, "102" },  { { "99", "10", "" }, "012" },
    };
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    pmix_info_t infos[2];

    rank_begin(&me);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        final_load(&infos[0], rows[i].of[rank]);
        const struct made made = construct("tea", &all, 1, infos, rows[i].of[rank][0] != '\0');

        check_order(&made, rows[i].want);
        PMIx_Info_destruct(&infos[0]);
        destruct("tea");
    }
    for (int i = 0; i < 5; i++) { /* rank 2 leads and says it, or rank 0, who comes when he likes */
        leaders_load(&infos[0], rank == 2 ? 1 : 0);
        final_load(&infos[1], "21");
        pmix_proc_t guests[] = { proc_of("", 0), proc_of("", 1) };
        pmix_info_t of_leader[3] = { infos[0], infos[1] };

        added_load(&of_leader[2], guests, 2);
        const struct made made = rank == 2   ? construct("tea", &me, 1, of_leader, 3)
                                 : rank == 0 ? construct("tea", NULL, 0, &infos[1], 1)
                                             : construct("tea", NULL, 0, NULL, 0);

        check_order(&made, "210");
        PMIx_Info_destruct(&infos[1]);
        PMIx_Info_destruct(&of_leader[2]);
        destruct("tea");
    }
    return rank_end();
}

/* ---- members that end ----------------------------------------------------------------------- */

#define MORTAL 2

static int host_of_death(struct job *job)
{
    return job_wait(job, 0) != 0 || job_wait(job, 1) != 0;
}

static void end(bool by_kill)
{
    if (by_kill) {
        raise(SIGKILL);
    }
    rank_end();
}

/* GR29: whether it ends before or after the others have called. */
static int rank_of_no_construct(int rank, bool by_kill)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    const pmix_status_t want = by_kill ? PMIX_ERR_LOST_CONNECTION : PMIX_ERR_PROC_TERM_WO_SYNC;

    rank_begin(&me);
    if (rank == MORTAL) {
        end(by_kill);
        return 0;
    }
    CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, NULL, 0, NULL, NULL), want);
    const pmix_proc_t pair[] = { proc_of("", 0), proc_of("", 1) };
    CHECK_STATUS(PMIx_Fence(pair, 2, NULL, 0), PMIX_SUCCESS); /* both have heard */
    CHECK(construct("tea", pair, 2, NULL, 0).count == 2);     /* the name is free */
    destruct("tea");
    return rank_end();
}

static int rank_of_killed_constructor(int rank)
{
    return rank_of_no_construct(rank, true);
}

static int rank_of_finalized_constructor(int rank)
{
    return rank_of_no_construct(rank, false);
}

/* GR30, GR31: the group is what is left; when all come it is whole, and nothing is said.  With
 * PMIX_GROUP_FT_COLLECTIVE that is a success. */
static int rank_of_optional(int rank, bool by_kill, const char *key, pmix_status_t want)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    const pmix_proc_t group = proc_of("tea", PMIX_RANK_WILDCARD);
    pmix_info_t info, *results = NULL;
    size_t nresults = 0;

    rank_begin(&me);
    CHECK(construct_all("whole", key).count == 3);
    rank_fence(); /* all have read who is in it */
    if (rank == MORTAL) {
        end(by_kill);
        return 0;
    }
    info = info_flag(key);
    CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, &info, 1, &results, &nresults), want);
    const struct made made = made_read(results, nresults);

    PMIx_Info_free(results, nresults);
    CHECK(made.count == 2 && made.members[0].rank == 0 && made.members[1].rank == 1);
    CHECK_STATUS(PMIx_Fence(&group, 1, NULL, 0), PMIX_SUCCESS);
    destruct("tea");
    return rank_end();
}

static int rank_of_killed_optional(int rank)
{
    return rank_of_optional(rank, true, PMIX_GROUP_OPTIONAL, PMIX_ERR_PARTIAL_SUCCESS);
}

static int rank_of_finalized_optional(int rank)
{
    return rank_of_optional(rank, false, PMIX_GROUP_OPTIONAL, PMIX_ERR_PARTIAL_SUCCESS);
}

static int rank_of_killed_tolerated(int rank)
{
    return rank_of_optional(rank, true, PMIX_GROUP_FT_COLLECTIVE, PMIX_SUCCESS);
}

/* ---- what the others say to that ------------------------------------------------------------ */

enum answer { NOTHING, GO_ON, LEAD, ABORT, DIE };

/* What handlers have heard, and what they answer. */
static struct {
    enum answer answer;
    sem_t failed, selected, updated;
    pmix_rank_t lost, leader; /* of the first event that has it */
    pmix_status_t error;      /* of the one that says that nobody leads */
    size_t left;
} received;

static void on_group(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *before, size_t nbefore,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    const char *const key = received.answer == LEAD ? PMIX_GROUP_LEADER : PMIX_GROUP_OPTIONAL;
    pmix_info_t result;

    for (size_t i = 0; i < ninfo; i++) {
        const pmix_data_array_t *const array = info[i].value.data.darray;

        if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 &&
            code != PMIX_GROUP_LEADER_SELECTED && received.lost == PMIX_RANK_INVALID) {
            received.lost = info[i].value.data.proc->rank;
        } else if (strcmp(info[i].key, PMIX_GROUP_LEADER) == 0) {
            received.leader = ((const pmix_proc_t *)array->array)->rank;
        } else if (strcmp(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS) == 0) {
            CHECK(info[i].value.type == PMIX_STATUS);
            received.error = info[i].value.data.status;
        } else if (strcmp(info[i].key, PMIX_GROUP_MEMBERSHIP) == 0) {
            received.left = array->size;
        }
    }
    if (received.answer == DIE) {
        raise(SIGKILL);
    }
    sem_post(code == PMIX_GROUP_LEADER_SELECTED     ? &received.selected
             : code == PMIX_GROUP_MEMBERSHIP_UPDATE ? &received.updated
                                                    : &received.failed);
    result = info_flag(key);
    const bool answers = received.answer == GO_ON || received.answer == LEAD;

    done(received.answer == ABORT ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_SUCCESS,
         answers ? &result : NULL, answers, NULL, NULL, cbdata);
}

static void receive(enum answer answer)
{
    pmix_status_t codes[] = { PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED,
                              PMIX_GROUP_LEADER_SELECTED, PMIX_GROUP_MEMBERSHIP_UPDATE };

    received.answer = answer;
    received.lost = received.leader = PMIX_RANK_INVALID;
    sem_init(&received.failed, 0, 0);
    sem_init(&received.selected, 0, 0);
    sem_init(&received.updated, 0, 0);
    CHECK(PMIx_Register_event_handler(codes, 4, NULL, 0, on_group, NULL, NULL) >= 0);
}

/* Begin a construct of all, with the directive @key (NULL: none). */
static void construct_begin(struct outcome *outcome, const char *key)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    pmix_info_t info;

    outcome->status = 1;
    sem_init(&outcome->done, 0, 0);
    if (key != NULL) {
        info = info_flag(key);
    }
    CHECK_STATUS(PMIx_Group_construct_nb("tea", &all, 1, &info, key != NULL, on_construct, outcome),
                 PMIX_SUCCESS);
}

static void received_wait(sem_t *what)
{
    job_sem_wait(what);
    CHECK(received.lost == MORTAL);
}

/* The mortal rank ends without having called; the others have, and answer.  They go on, or end with
 * @want. */
static int rank_of_member_failed(int rank, const char *key, enum answer answer, pmix_status_t want)
{
    struct outcome outcome;

    rank_begin(&me);
    receive(answer);
    if (rank == MORTAL) {
        rank_fence();
        raise(SIGKILL);
    }
    construct_begin(&outcome, key);
    rank_fence();
    outcome_wait(&outcome, want);
    if (want == PMIX_SUCCESS) {
        received_wait(&received.updated);
        CHECK(received.left == 2 && outcome.made.count == 2);
    }
    return 0;
}

/* GR32, GR34, GR35: one says that they go on, and the other nothing. */
static int rank_of_go_on(int rank)
{
    (void)rank_of_member_failed(rank, PMIX_GROUP_NOTIFY_TERMINATION, rank == 1 ? GO_ON : NOTHING,
                                PMIX_SUCCESS);
    received_wait(&received.failed);
    destruct("tea");
    return rank_end();
}

/* GR33, GR34: whoever does not lead is not asked. */
static int rank_of_leader_goes_on(int rank)
{
    (void)rank_of_member_failed(rank, rank == 0 ? PMIX_GROUP_LEADER : NULL,
                                rank == 0 ? GO_ON : ABORT, PMIX_SUCCESS);
    if (rank == 0) {
        received_wait(&received.failed);
    } else {
        CHECK(sem_trywait(&received.failed) != 0); /* it would come before the update */
    }
    destruct("tea");
    return rank_end();
}

/* GR36: as good as one abort. */
static int rank_of_abort(int rank)
{
    (void)rank_of_member_failed(rank, PMIX_GROUP_NOTIFY_TERMINATION, rank == 1 ? ABORT : NOTHING,
                                PMIX_GROUP_CONSTRUCT_ABORT);
    return rank_end();
}

/* GR29, GR32: all have heard, and nobody has anything to say. */
static int rank_of_silence(int rank)
{
    (void)rank_of_member_failed(rank, PMIX_GROUP_NOTIFY_TERMINATION, NOTHING,
                                PMIX_ERR_LOST_CONNECTION);
    received_wait(&received.failed);
    return rank_end();
}

/* GR37, GR38, GR39: the leader has called and ends; rank 0 leads from then on, or nobody does. */
static int rank_of_leader_failed(int rank, enum answer answer)
{
    const pmix_proc_t two[] = { proc_of("", 0), proc_of("", MORTAL) };
    struct outcome outcome;

    rank_begin(&me);
    receive(rank == 0 ? answer : NOTHING);
    rank_fence();
    if (rank != 1) {
        construct_begin(&outcome, rank == MORTAL ? PMIX_GROUP_LEADER : NULL);
        CHECK_STATUS(PMIx_Fence(two, 2, NULL, 0), PMIX_SUCCESS); /* the server has both calls */
    }
    if (rank == MORTAL) {
        raise(SIGKILL);
    }
    received_wait(&received.failed);
    received_wait(&received.selected);
    CHECK(received.leader == (answer == LEAD ? 0 : PMIX_RANK_INVALID));
    CHECK(received.error == (answer == LEAD ? PMIX_SUCCESS : PMIX_ERR_LOST_CONNECTION));
    if (rank == 1 && answer == LEAD) {
        construct_begin(&outcome, NULL);
    }
    if (rank == 0 || answer == LEAD) {
        outcome_wait(&outcome, answer == LEAD ? PMIX_SUCCESS : PMIX_ERR_LOST_CONNECTION);
    }
    if (answer == LEAD) {
        CHECK(outcome.made.count == 2);
        destruct("tea");
    }
    return rank_end();
}

static int rank_of_new_leader(int rank)
{
    return rank_of_leader_failed(rank, LEAD);
}

static int rank_of_no_leader(int rank)
{
    return rank_of_leader_failed(rank, NOTHING);
}

/* GR39: rank 0 alone is asked who leads, and ends. */
static int rank_of_no_answer(int rank)
{
    return rank_of_leader_failed(rank, DIE);
}

static int host_of_no_answer(struct job *job)
{
    const bool both = WIFSIGNALED(job_wait(job, MORTAL)) && WIFSIGNALED(job_wait(job, 0));

    return both && job_wait(job, 1) == 0 ? 0 : 1;
}

/* GR40, X11: the first one leads; the other is told, and may call without. */
static int rank_of_two_leaders(int rank)
{
    const pmix_proc_t all = proc_of(JOB_NSPACE, PMIX_RANK_WILDCARD);
    struct outcome outcome;
    pmix_info_t info;

    rank_begin(&me);
    info = info_flag(PMIX_GROUP_LEADER);
    if (rank == 0) {
        construct_begin(&outcome, PMIX_GROUP_LEADER);
    }
    rank_fence();
    if (rank == 1) {
        CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, &info, 1, NULL, NULL), PMIX_ERR_EXISTS);
        construct_begin(&outcome, NULL);
    }
    outcome_wait(&outcome, PMIX_SUCCESS);
    destruct("tea");
    return rank_end();
}

static const struct job_case cases[] = {
    { "order", 3, rank_of_order },
    { "wildcard", 2, rank_of_wildcard },
    { "forms", 2, rank_of_forms },
    { "bad_input", 2, rank_of_bad_input },
    { "taken", 3, rank_of_taken },
    { "same_words", 2, rank_of_same_words },
    { "context", 2, rank_of_context },
    { "gifts", 2, rank_of_gifts },
    { "gift_arrays", 2, rank_of_gift_arrays },
    { "many", 2, rank_of_many, host_of_many },
    { "bootstrap", 4, rank_of_bootstrap },
    { "bad_bootstrap", 3, rank_of_bad_bootstrap },
    { "final", 3, rank_of_final },
    { "killed_constructor", 3, rank_of_killed_constructor, host_of_death, true },
    { "finalized_constructor", 3, rank_of_finalized_constructor, host_of_death, true },
    { "killed_optional", 3, rank_of_killed_optional, host_of_death, true },
    { "killed_tolerated", 3, rank_of_killed_tolerated, host_of_death, true },
    { "finalized_optional", 3, rank_of_finalized_optional, host_of_death, true },
    { "go_on", 3, rank_of_go_on, host_of_death, true },
    { "leader_goes_on", 3, rank_of_leader_goes_on, host_of_death, true },
    { "abort", 3, rank_of_abort, host_of_death, true },
    { "silence", 3, rank_of_silence, host_of_death, true },
    { "new_leader", 3, rank_of_new_leader, host_of_death, true },
    { "no_leader", 3, rank_of_no_leader, host_of_death, true },
    { "no_answer", 3, rank_of_no_answer, host_of_no_answer, true },
    { "two_leaders", 2, rank_of_two_leaders },
};

int main(int argc, char **argv)
{
    char bytes[16];

    snprintf(bytes, sizeof(bytes), "%u", MANY_BYTES);
    setenv("SHMIX_SERVER_GROUP_BYTES", bytes, 1);
    return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
