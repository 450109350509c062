/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_host_test.c - queries that the host answers: at once, later, twice, never, badly. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the host ------------------------------------------------------------------------------ */

struct answer {
    pmix_info_t *info;
    size_t ninfo;
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
    pmix_status_t status;
};

static _Atomic unsigned calls, open_count, counted;

static void answer_release(void *arg)
{
    struct answer *const answer = arg;

    PMIX_INFO_FREE(answer->info, answer->ninfo);
    free(answer);
}

static void answer_give(struct answer *answer)
{
    answer->cbfunc(answer->status, answer->info, answer->ninfo, answer->cbdata, answer_release,
                   answer);
}

static void *answer_later(void *arg)
{
    job_token_get(0); /* of a rank that has seen that others go on */
    answer_give(arg);
    return NULL;
}

static uint32_t qualifier_number(const pmix_query_t *query, const char *key)
{
    for (size_t i = 0; i < query->nqual; i++) {
        if (strcmp(query->qualifiers[i].key, key) == 0) {
            CHECK(query->qualifiers[i].value.type == PMIX_UINT32);
            return query->qualifiers[i].value.data.uint32;
        }
    }
    return 12345678;
}

/* The value of a key is its name, but "who" gets the asker's user and group. */
static void value_make(pmix_info_t *info, const char *key, const pmix_query_t *query)
{
    char text[64];

    if (strcmp(key, "host.who") == 0) {
        snprintf(text, sizeof(text), "%u.%u", qualifier_number(query, PMIX_USERID),
                 qualifier_number(query, PMIX_GRPID));
        PMIX_INFO_LOAD(info, key, text, PMIX_STRING);
    } else if (strcmp(key, "host.count") == 0) {
        snprintf(text, sizeof(text), "%u", ++counted);
        PMIX_INFO_LOAD(info, key, text, PMIX_STRING);
    } else if (strcmp(key, "host.pointer") == 0) {
        PMIX_INFO_LOAD(info, key, info, PMIX_POINTER);
    } else if (strcmp(key, "host.empty") == 0) {
        PMIX_LOAD_KEY(info->key, key);
        info->value.type = PMIX_DATA_ARRAY;
        info->value.data.darray = PMIx_Data_array_create(0, PMIX_PROC);
        info->value.data.darray->size = 7; /* of nothing */
    } else if (strcmp(key, "host.unasked") == 0) {
        PMIX_INFO_LOAD(info, "something.else", "unasked", PMIX_STRING);
    } else {
        PMIX_INFO_LOAD(info, key, key, PMIX_STRING);
    }
}

static size_t keys_count(const pmix_query_t *query)
{
    size_t count = 0;

    while (query->keys[count] != NULL) {
        count++;
    }
    return count;
}

static void query_answer(const pmix_query_t *query, pmix_info_t **ret, size_t *ret_count)
{
    const size_t count = keys_count(query);
    pmix_info_t *const info = PMIx_Info_create(count);
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        if (strncmp(query->keys[i], "host.", 5) == 0) {
            value_make(&info[at++], query->keys[i], query);
        }
    }
    *ret = info;
    *ret_count = at;
}

/* One query flat, several as the library gives them. */
static struct answer *answer_make(pmix_query_t *queries, size_t nqueries, pmix_info_cbfunc_t cbfunc,
                                  void *cbdata)
{
    struct answer *const answer = calloc(1, sizeof(*answer));

    *answer = (struct answer){ .cbfunc = cbfunc, .cbdata = cbdata, .status = PMIX_SUCCESS };
    if (nqueries == 1) {
        query_answer(queries, &answer->info, &answer->ninfo);
        return answer;
    }
    answer->info = PMIx_Info_create(nqueries);
    answer->ninfo = nqueries;
    for (size_t i = 0; i < nqueries; i++) {
        pmix_data_array_t *const array = PMIx_Data_array_create(0, PMIX_INFO);
        pmix_info_t *info;

        query_answer(&queries[i], &info, &array->size);
        array->array = info;
        PMIX_LOAD_KEY(answer->info[i].key, PMIX_QUERY_RESULTS);
        answer->info[i].value.type = PMIX_DATA_ARRAY;
        answer->info[i].value.data.darray = array;
    }
    return answer;
}

static pmix_status_t host_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const char *const first = queries[0].keys[0];
    pthread_t thread;

    calls++;
    CHECK(strcmp(proc->nspace, JOB_NSPACE) == 0 && proc->rank < 4);
    if (strcmp(first, "host.refused") == 0) {
        return PMIX_ERR_NO_PERMISSIONS;
    }
    if (strcmp(first, "host.nothing") == 0) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (strcmp(first, "host.never") == 0) {
        open_count++;
        job_token_put(1 + (int)proc->rank); /* it has been asked */
        return PMIX_SUCCESS;
    }
    struct answer *const answer = answer_make(queries, nqueries, cbfunc, cbdata);

    if (strcmp(first, "host.later") == 0) {
        CHECK(pthread_create(&thread, NULL, answer_later, answer) == 0);
        CHECK(pthread_detach(thread) == 0);
        return PMIX_SUCCESS;
    }
    if (strcmp(first, "host.fails") == 0) {
        answer->status = PMIX_ERR_NO_PERMISSIONS;
        PMIX_INFO_FREE(answer->info, answer->ninfo);
        answer->ninfo = 0;
    }
    const bool again = strcmp(first, "host.twice") == 0;

    answer_give(answer);
    if (again) {
        cbfunc(PMIX_ERR_NO_PERMISSIONS, NULL, 0, cbdata, NULL, NULL);
    }
    return PMIX_SUCCESS;
}

/* ---- the ranks ----------------------------------------------------------------------------- */

static pmix_proc_t me;

static pmix_status_t ask(const char *first, const char *second, pmix_info_t **info, size_t *ninfo)
{
    char *keys[] = { (char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL };
    pmix_query_t query = { .keys = keys };

    return PMIx_Query_info(&query, 1, info, ninfo);
}

/* The value of @key is @want; NULL: there is none, for the reason @why. */
static void check_one(const char *key, const char *want, pmix_status_t why)
{
    pmix_info_t *info;
    size_t ninfo;
    const pmix_status_t rc = ask(key, NULL, &info, &ninfo);

    if (want == NULL) {
        CHECK(rc == why && info == NULL && ninfo == 0);
        return;
    }
    CHECK_STATUS(rc, PMIX_SUCCESS);
    CHECK(ninfo == 1 && strcmp(info[0].key, key) == 0 && info[0].value.type == PMIX_STRING);
    CHECK(strcmp(info[0].value.data.string, want) == 0);
    PMIX_INFO_FREE(info, ninfo);
}

/* TQ72: what the library does not know, with who asks; the two are merged. */
static int rank_of_answers(int rank)
{
    char *keys[3][3] = { { (char *)"host.one", (char *)"no.such.key" },
                         { (char *)PMIX_JOB_SIZE },
                         { (char *)"host.two", (char *)PMIX_QUERY_NUM_GROUPS } };
    pmix_query_t queries[3] = { { .keys = keys[0] }, { .keys = keys[1] }, { .keys = keys[2] } };
    pmix_info_t *info;
    size_t ninfo;
    char who[64];

    rank_begin(&me);
    snprintf(who, sizeof(who), "%u.%u", (unsigned)getuid(), (unsigned)getgid());
    check_one("host.who", who, 0);
    check_one("host.twice", "host.twice", 0);
    check_one("host.again", "host.again", 0);
    check_one("host.refused", NULL, PMIX_ERR_NO_PERMISSIONS);
    check_one("host.fails", NULL, PMIX_ERR_NO_PERMISSIONS);
    check_one("host.nothing", NULL, PMIX_ERR_NOT_FOUND);
    check_one("no.such.key", NULL, PMIX_ERR_NOT_FOUND);
    check_one("host.pointer", NULL, PMIX_ERR_NOT_FOUND);
    check_one("host.empty", NULL, PMIX_ERR_NOT_FOUND);
    check_one("host.unasked", NULL, PMIX_ERR_NOT_FOUND);
    CHECK_STATUS(ask(PMIX_JOB_SIZE, "host.more", &info, &ninfo), PMIX_SUCCESS);
    CHECK(ninfo == 2 && info[0].value.data.uint32 == 1);
    CHECK(strcmp(info[1].value.data.string, "host.more") == 0);
    PMIX_INFO_FREE(info, ninfo);
    CHECK_STATUS(ask(PMIX_JOB_SIZE, "host.pointer", &info, &ninfo), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(ninfo == 1);
    PMIX_INFO_FREE(info, ninfo);

    CHECK_STATUS(PMIx_Query_info(queries, 3, &info, &ninfo), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(ninfo == 3);
    static const size_t sizes[] = { 1, 1, 2 };
    static const char *const firsts[] = { "host.one", PMIX_JOB_SIZE, "host.two" };
    for (size_t i = 0; i < 3; i++) {
        const pmix_data_array_t *const array = info[i].value.data.darray;
        const pmix_info_t *const its = array->array;

        CHECK(strcmp(info[i].key, PMIX_QUERY_RESULTS) == 0 && array->size == sizes[i]);
        CHECK(strcmp(its[0].key, firsts[i]) == 0);
        CHECK(i == 1 || strcmp(its[0].value.data.string, firsts[i]) == 0);
    }
    PMIX_INFO_FREE(info, ninfo);
    return rank_end();
}

/* TQ70, TQ71: what the host has said is kept for the process that has asked; with other qualifiers,
 * by another process, and for one that wants it fresh, it is asked again. */
static int rank_of_kept(int rank)
{
    char *keys[] = { (char *)"host.count", NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t qualifiers[2], *info;
    size_t ninfo;
    bool yes = true;
    static const char *const want[] = { "1", "1", "2", "2", "3", "3" };

    rank_begin(&me);
    if (rank == 1) {
        job_token_get(1); /* rank 0 has asked */
        check_one("host.count", "4", 0);
        rank_end();
        return 0;
    }
    PMIX_INFO_LOAD(&qualifiers[0], PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&qualifiers[1], PMIX_NSPACE, "some.job", PMIX_STRING);
    for (size_t i = 0; i < COUNT(want); i++) {
        query.qualifiers = i == 2 ? &qualifiers[0] : i > 3 ? &qualifiers[1] : NULL;
        query.nqual = query.qualifiers != NULL ? 1 : 0;
        CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_SUCCESS);
        CHECK(ninfo == 1 && strcmp(info[0].value.data.string, want[i]) == 0);
        PMIX_INFO_FREE(info, ninfo);
    }
    job_token_put(1);
    PMIX_INFO_DESTRUCT(&qualifiers[1]);
    return rank_end();
}

static int host_of_answers(struct job *job)
{
    CHECK(job_wait(job, 0) == 0);
    CHECK(calls == 13);
    return 0;
}

struct outcome {
    sem_t outcome;
    pmix_status_t status;
    size_t ninfo;
};

static void take_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct outcome *const outcome = cbdata;

    outcome->status = status;
    outcome->ninfo = ninfo;
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
    sem_post(&outcome->outcome);
}

#define MANY 1000

/* TQ74: while the host owes an answer to many keys, which came in bulk, the same process asks for
 * others and commits a large value, and so does another one. */
static int rank_of_slow(int rank)
{
    static char names[MANY][24], *keys[MANY + 1], bytes[1 << 20];
    pmix_query_t query = { .keys = keys };
    struct outcome outcome;
    pmix_value_t value;

    rank_begin(&me);
    sem_init(&outcome.outcome, 0, 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "host.later%.0d", i);
        keys[i] = names[i];
    }
    if (rank == 0) {
        CHECK_STATUS(PMIx_Query_info_nb(&query, 1, take_answer, &outcome), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    check_one("host.now", "host.now", 0);
    memset(bytes, 'x', sizeof(bytes) - 1);
    value.type = PMIX_STRING;
    value.data.string = bytes;
    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, "large", &value), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        CHECK(sem_trywait(&outcome.outcome) != 0);
        job_token_put(0);
        while (sem_wait(&outcome.outcome) != 0) {
        }
        CHECK(outcome.status == PMIX_SUCCESS && outcome.ninfo == MANY);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

/* The host never answers: who waits for it is killed or leaves, and the server ends. */
static int rank_of_never(int rank)
{
    struct outcome outcome;
    char *keys[] = { (char *)"host.never", NULL };
    pmix_query_t query = { .keys = keys };

    rank_begin(&me);
    sem_init(&outcome.outcome, 0, 0);
    CHECK_STATUS(PMIx_Query_info_nb(&query, 1, take_answer, &outcome), PMIX_SUCCESS);
    job_token_get(1 + rank);
    if (rank == 1) {
        _exit(7);
    }
    return rank_end();
}

static int host_of_never(struct job *job)
{
    (void)job_wait(job, 0);
    (void)job_wait(job, 1);
    CHECK(open_count == 2);
    return 0;
}

static const struct job_case cases[] = {
    { .name = "answers", .size = 1, .rank = rank_of_answers, .host = host_of_answers },
    { .name = "kept", .size = 2, .rank = rank_of_kept },
    { .name = "slow", .size = 2, .rank = rank_of_slow },
    { .name = "never",
      .size = 2,
      .rank = rank_of_never,
      .host = host_of_never,
      .host_judges = true },
};

int main(int argc, char **argv)
{
    job_module.query = host_query;
    return job_main(argc, argv, cases, COUNT(cases));
}
