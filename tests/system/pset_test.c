/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pset_test.c - process sets and groups by process, and handles of sets while the host changes them
 * as fast as it can. */
#include <string.h>
#include <unistd.h>

#include <shmix.h>

#include "job.h"
#include "support/sanitized.h"

static pmix_proc_t me;

/* What @key says of a rank has to be these names, with commas; "-" for none. */
static void check_names(const char *key, pmix_rank_t rank, const char *want)
{
    pmix_value_t *value = NULL;
    char got[256] = "-";
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, JOB_NSPACE, rank);
    const pmix_status_t rc = PMIx_Get(&proc, key, NULL, 0, &value);

    if (rc == PMIX_SUCCESS) {
        const pmix_data_array_t *const array = value->data.darray;
        char **const names = array->array;

        CHECK(value->type == PMIX_DATA_ARRAY && array->type == PMIX_STRING);
        got[0] = '\0';
        for (size_t i = 0; i < array->size; i++) {
            strcat(strcat(got, i == 0 ? "" : ","), names[i]);
        }
        PMIx_Value_free(value, 1);
    } else {
        CHECK_STATUS(rc, PMIX_ERR_NOT_FOUND);
    }
    CHECK(strcmp(got, want) == 0);
}

static void define(const char *set, const char *nspace, pmix_rank_t first, pmix_rank_t last)
{
    static pmix_proc_t procs[8192];
    size_t count = 0;

    for (pmix_rank_t rank = first; rank <= last; rank++) {
        PMIx_Load_procid(&procs[count++], nspace, rank);
    }
    CHECK_STATUS(PMIx_server_define_process_set(procs, count, set), PMIX_SUCCESS);
}

static void forget(const char *set)
{
    char name[PMIX_MAX_KEYLEN + 1];

    strcpy(name, set);
    CHECK_STATUS(PMIx_server_delete_process_set(name), PMIX_SUCCESS);
}

/* ---- in which a process is ------------------------------------------------------------------ */

#define RANKS 3

/* GR92, GR93: a set has the name of a group, and means nobody where a namespace stands. */
static int rank_of_names(int rank)
{
    shmix_group_facts_t facts;
    pmix_proc_t procs[2], proc;
    pmix_info_t *results = NULL;
    size_t result_count;
    shmix_group_t *set;

    rank_begin(&me);
    job_token_get(0);
    check_names(PMIX_PSET_NAMES, 0, "low,all");
    check_names(PMIX_PSET_NAMES, 2, "all");
    CHECK_STATUS(shmix_group_open("low", &set), PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(shmix_set_open("low", &set), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_info(set, &facts), PMIX_SUCCESS);
    CHECK(facts.kind == SHMIX_GROUP_SET && facts.size == 2 && facts.generation == 1);
    CHECK_STATUS(shmix_group_member(set, 1, &proc), PMIX_SUCCESS);
    CHECK(strcmp(proc.nspace, JOB_NSPACE) == 0 && proc.rank == 1);
    PMIx_Load_procid(&proc, "low", PMIX_RANK_WILDCARD);
    CHECK(PMIx_Fence(&proc, 1, NULL, 0) != PMIX_SUCCESS);
    rank_fence(); /* all have looked */
    if (rank > 0) {
        PMIx_Load_procid(&procs[0], JOB_NSPACE, 2);
        PMIx_Load_procid(&procs[1], JOB_NSPACE, 1);
        CHECK_STATUS(PMIx_Group_construct("low", procs, 2, NULL, 0, &results, &result_count),
                     PMIX_SUCCESS);
        PMIx_Info_free(results, result_count);
    }
    rank_fence();
    check_names(PMIX_GROUP_NAMES, 1, "low");
    check_names(PMIX_GROUP_NAMES, 2, "low");
    check_names(PMIX_GROUP_NAMES, 0, "-");
    rank_fence();
    if (rank > 0) {
        CHECK_STATUS(PMIx_Group_destruct("low", NULL, 0), PMIX_SUCCESS);
        check_names(PMIX_GROUP_NAMES, me.rank, "-");
    }
    CHECK_STATUS(shmix_group_refresh(set), PMIX_SUCCESS);
    rank_fence();
    job_token_put(1);
    CHECK_STATUS(shmix_group_wait(set, 1, SHMIX_FOREVER), PMIX_ERR_NOT_FOUND);
    check_names(PMIX_PSET_NAMES, 0, "all");
    CHECK_STATUS(shmix_group_close(set), PMIX_SUCCESS);
    return rank_end();
}

static int host_of_names(struct job *job)
{
    define("low", JOB_NSPACE, 0, 1);
    define("all", JOB_NSPACE, PMIX_RANK_WILDCARD, PMIX_RANK_WILDCARD);
    for (int i = 0; i < RANKS; i++) {
        job_token_put(0);
    }
    for (int i = 0; i < RANKS; i++) {
        job_token_get(1);
    }
    forget("low");
    return 0;
}

/* ---- sets of a client ----------------------------------------------------------------------- */

#define OWN_SETS 100u /* more than go in one turn */

static pmix_status_t define_own(unsigned number)
{
    pmix_info_t info, *results = NULL;
    char name[32];
    size_t count = 0;

    snprintf(name, sizeof(name), "own.%u", number);
    info = info_text(PMIX_JOB_CTRL_DEFINE_PSET, name);
    const pmix_status_t rc = PMIx_Job_control(&me, 1, &info, 1, &results, &count);

    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static size_t sets_count(void)
{
    char *keys[] = { (char *)(uintptr_t)PMIX_QUERY_NUM_PSETS, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *results = NULL;
    size_t count = 0;

    CHECK_STATUS(PMIx_Query_info(&query, 1, &results, &count), PMIX_SUCCESS);
    CHECK(count == 1 && results[0].value.type == PMIX_SIZE);
    const size_t sets = results[0].value.data.size;

    PMIx_Info_free(results, count);
    return sets;
}

/* The sets of a process go with it; the host's stay, and the names are free again. */
static int owned(int rank, bool says_good_bye)
{
    rank_begin(&me);
    job_token_get(0);
    if (rank == 0) {
        for (unsigned i = 0; i < OWN_SETS; i++) {
            CHECK_STATUS(define_own(i), PMIX_SUCCESS);
        }
        CHECK_STATUS(define_own(0), PMIX_EXISTS);
        CHECK(sets_count() == OWN_SETS + 1);
        rank_fence();
        if (says_good_bye) {
            rank_end();
        }
        _exit(0);
    }
    rank_fence();
    while (sets_count() > 1) {
    }
    check_names(PMIX_PSET_NAMES, 0, "hosts");
    CHECK_STATUS(define_own(0), PMIX_SUCCESS);
    CHECK(sets_count() == 2);
    return rank_end();
}

static int rank_of_left(int rank)
{
    return owned(rank, true);
}

static int rank_of_died(int rank)
{
    return owned(rank, false);
}

static int host_of_owned(struct job *job)
{
    define("hosts", JOB_NSPACE, 0, 1);
    job_token_put(0);
    job_token_put(0);
    return 0;
}

/* ---- while the host changes them ------------------------------------------------------------ */

/* The node's store is written anew each time 4 MiB of it are old. */
#define ROUNDS (SANITIZED ? 150u : 500u)
#define CHURN_MEMBERS 3000u

/* The members of the set that comes and goes tell which definition it is: it is that alone. */
static bool churn_look(void)
{
    shmix_group_facts_t facts;
    pmix_proc_t first, proc;
    shmix_group_t *set;
    const pmix_status_t rc = shmix_set_open("churn", &set);

    if (rc == PMIX_ERR_NOT_FOUND) {
        return false;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_info(set, &facts), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_member(set, 0, &first), PMIX_SUCCESS);
    CHECK(facts.size == CHURN_MEMBERS + first.rank);
    for (pmix_rank_t i = 0; i < facts.size; i += 97) {
        pmix_rank_t back;

        CHECK_STATUS(shmix_group_member(set, i, &proc), PMIX_SUCCESS);
        CHECK(proc.rank == first.rank + i);
        CHECK_STATUS(shmix_group_rank(set, &proc, &back), PMIX_SUCCESS);
        CHECK(back == i);
    }
    CHECK_STATUS(shmix_group_close(set), PMIX_SUCCESS);
    return true;
}

static int rank_of_churn(int rank)
{
    shmix_group_facts_t facts;
    shmix_group_t *steady, *last;
    pmix_rank_t own;

    rank_begin(&me);
    job_token_get(0);
    CHECK_STATUS(shmix_set_open("steady", &steady), PMIX_SUCCESS);
    job_token_put(1);
    while (shmix_set_open("last", &last) == PMIX_ERR_NOT_FOUND) {
        (void)churn_look();
        CHECK_STATUS(shmix_group_refresh(steady), PMIX_SUCCESS);
        CHECK_STATUS(shmix_group_info(steady, &facts), PMIX_SUCCESS);
        CHECK(facts.size == 2 && facts.generation == 1);
        CHECK_STATUS(shmix_group_rank(steady, NULL, &own), PMIX_SUCCESS);
        CHECK(own == (pmix_rank_t)rank);
    }
    CHECK_STATUS(shmix_group_close(steady), PMIX_SUCCESS);
    CHECK_STATUS(shmix_group_close(last), PMIX_SUCCESS);
    return rank_end();
}

static int host_of_churn(struct job *job)
{
    define("steady", JOB_NSPACE, 0, 1);
    for (int i = 0; i < 2; i++) {
        job_token_put(0);
    }
    for (int i = 0; i < 2; i++) {
        job_token_get(1);
    }
    for (pmix_rank_t round = 0; round < ROUNDS; round++) {
        define("churn", "elsewhere", round % 7, round % 7 + CHURN_MEMBERS + round % 7 - 1);
        forget("churn");
    }
    define("last", JOB_NSPACE, 0, 0);
    return 0;
}

static const struct job_case cases[] = {
    { .name = "names", .size = RANKS, .rank = rank_of_names, .host = host_of_names },
    { .name = "left", .size = 2, .rank = rank_of_left, .host = host_of_owned },
    { .name = "died", .size = 2, .rank = rank_of_died, .host = host_of_owned },
    { .name = "churn", .size = 2, .rank = rank_of_churn, .host = host_of_churn },
};

JOB_MAIN(cases)
