/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_test.c - PMIx_Query_info and PMIx_Query_info_nb: what is asked, and the shape of what comes
 * back. */
#include <dlfcn.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "support/no_calls.h"
#include "support/sanitized.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEYS_MAX 8
#define FEW 2

static pmix_proc_t me;

/* How often this process has looked at the memory of a client. */
static atomic_uint looks;

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*next)(const char *, const char *);
    int pid;

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "fopen");
    }
    CHECK(strstr(path, "/smaps") == NULL); /* the kernel would walk over all pages */
    if (strstr(path, "/statm") != NULL && sscanf(path, "/proc/%d/", &pid) == 1) {
        atomic_fetch_add(&looks, 1);
    }
    return next(path, mode);
}

/* ---- asking -------------------------------------------------------------------------------- */

struct asked {
    char *keys[KEYS_MAX + 1];
    pmix_info_t qualifiers[4];
    pmix_query_t query;
    pmix_info_t *info;
    size_t ninfo;
};

static void ask_for(struct asked *asked, const char *key)
{
    size_t count = 0;

    while (asked->keys[count] != NULL) {
        count++;
    }
    CHECK(count < KEYS_MAX);
    asked->keys[count] = (char *)(uintptr_t)key;
    asked->query.keys = asked->keys;
}

static void qualify(struct asked *asked, const char *key, const void *data, pmix_data_type_t type)
{
    asked->query.qualifiers = asked->qualifiers;
    PMIX_INFO_LOAD(&asked->qualifiers[asked->query.nqual], key, data, type);
    asked->query.nqual++;
}

static pmix_status_t ask(struct asked *asked)
{
    return PMIx_Query_info(&asked->query, 1, &asked->info, &asked->ninfo);
}

static void asked_free(struct asked *asked)
{
    for (size_t i = 0; i < asked->query.nqual; i++) {
        PMIX_INFO_DESTRUCT(&asked->qualifiers[i]);
    }
    if (asked->info != NULL) {
        PMIX_INFO_FREE(asked->info, asked->ninfo);
    }
    memset(asked, 0, sizeof(*asked));
}

/* The one value of @key, about @what if that is not NULL. */
static pmix_value_t *ask_one(struct asked *asked, const char *key, const char *qualifier,
                             const char *what)
{
    ask_for(asked, key);
    if (qualifier != NULL) {
        qualify(asked, qualifier, what, PMIX_STRING);
    }
    CHECK_STATUS(ask(asked), PMIX_SUCCESS);
    CHECK(asked->ninfo == 1 && strcmp(asked->info[0].key, key) == 0);
    return &asked->info[0].value;
}

/* ---- what is said of bad questions --------------------------------------------------------- */

static pmix_status_t ask_qualified(const char *first, const void *data, pmix_data_type_t type,
                                   const char *second, const void *more, pmix_data_type_t its_type)
{
    struct asked asked = { .info = NULL };
    pmix_status_t rc;

    ask_for(&asked, PMIX_JOB_SIZE);
    qualify(&asked, first, data, type);
    if (second != NULL) {
        qualify(&asked, second, more, its_type);
    }
    rc = ask(&asked);
    CHECK(rc == PMIX_SUCCESS ? asked.ninfo == 1 : asked.info == NULL && asked.ninfo == 0);
    asked_free(&asked);
    return rc;
}

static void never(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                  pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    CHECK(!"a callback of a call that has failed");
}

/* TQ56, TQ57, TQ58, TQ75. */
static int rank_of_qualifiers(int rank)
{
    static char *many[10001];
    pmix_query_t query = { .keys = many };
    pmix_rank_t zero = 0;
    pmix_info_t *info;
    size_t ninfo;
    bool yes = true;

    rank_begin(&me);
    CHECK_STATUS(ask_qualified(PMIX_PROCID, &me, PMIX_PROC, PMIX_NSPACE, me.nspace, PMIX_STRING),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask_qualified(PMIX_PROCID, &me, PMIX_PROC, PMIX_RANK, &zero, PMIX_PROC_RANK),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask_qualified(PMIX_RANK, &zero, PMIX_PROC_RANK, NULL, NULL, 0),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask_qualified(PMIX_PROCID, "none", PMIX_STRING, NULL, NULL, 0),
                 PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask_qualified(PMIX_NSPACE, &zero, PMIX_UINT32, NULL, NULL, 0), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(ask_qualified(PMIX_NSPACE, me.nspace, PMIX_STRING, PMIX_GROUP_ID, "no such group",
                               PMIX_STRING),
                 PMIX_SUCCESS);
    CHECK_STATUS(ask_qualified("no.such.qualifier", &yes, PMIX_BOOL, NULL, NULL, 0), PMIX_SUCCESS);
    /* Those of a Get about memory do not matter: an answer is the caller's, who frees it. */
    CHECK_STATUS(ask_qualified(PMIX_GET_STATIC_VALUES, &yes, PMIX_BOOL, NULL, NULL, 0),
                 PMIX_SUCCESS);
    CHECK_STATUS(ask_qualified(PMIX_GET_POINTER_VALUES, &yes, PMIX_BOOL, NULL, NULL, 0),
                 PMIX_SUCCESS);

    CHECK_STATUS(PMIx_Query_info(NULL, 0, &info, &ninfo), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_ERR_BAD_PARAM); /* no keys */
    query.keys = NULL;
    CHECK_STATUS(PMIx_Query_info_nb(&query, 1, never, NULL), PMIX_ERR_BAD_PARAM);
    query.keys = many;
    for (size_t i = 0; i + 1 < COUNT(many); i++) {
        many[i] = (char *)"some.key";
    }
    CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_ERR_OUT_OF_RESOURCE);
    CHECK_STATUS(PMIx_Query_info_nb(&query, 1, never, NULL), PMIX_ERR_OUT_OF_RESOURCE);
    many[4096] = NULL; /* as many as may be, in one message */
    CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_ERR_NOT_FOUND);
    many[4095] = (char *)PMIX_QUERY_NAMESPACES;
    CHECK_STATUS(PMIx_Query_info(&query, 1, &info, &ninfo), PMIX_ERR_PARTIAL_SUCCESS);
    PMIX_INFO_FREE(info, ninfo);
    return rank_end();
}

/* ---- the shape of the answers -------------------------------------------------------------- */

/* TQ51, TQ52, TQ53, TQ55: one query. */
static void check_flat(void)
{
    struct asked asked = { .info = NULL };

    ask_for(&asked, PMIX_JOB_SIZE);
    ask_for(&asked, "no.such.key");
    ask_for(&asked, PMIX_QUERY_NUM_GROUPS);
    ask_for(&asked, PMIX_JOB_SIZE);
    CHECK_STATUS(ask(&asked), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(asked.ninfo == 3);
    CHECK(strcmp(asked.info[0].key, PMIX_JOB_SIZE) == 0);
    CHECK(asked.info[0].value.data.uint32 == FEW);
    CHECK(strcmp(asked.info[1].key, PMIX_QUERY_NUM_GROUPS) == 0);
    CHECK(strcmp(asked.info[2].key, PMIX_JOB_SIZE) == 0);
    CHECK(asked.info[2].value.data.uint32 == FEW);
    asked_free(&asked);

    ask_for(&asked, "no.such.key");
    ask_for(&asked, "another.one");
    asked.ninfo = 7;
    CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_FOUND);
    CHECK(asked.info == NULL && asked.ninfo == 0);
    asked_free(&asked);
}

/* Result @i has @count infos.  Return: the first of them. */
static pmix_info_t *check_result(const struct asked *asked, size_t i, size_t count)
{
    const pmix_info_t *const result = &asked->info[i];

    CHECK(strcmp(result->key, PMIX_QUERY_RESULTS) == 0);
    CHECK(result->value.type == PMIX_DATA_ARRAY);
    CHECK(result->value.data.darray->type == PMIX_INFO);
    CHECK(result->value.data.darray->size == count);
    return result->value.data.darray->array;
}

/* TQ53, TQ54: several queries. */
static void check_several(void)
{
    char *keys[3][3] = { { (char *)PMIX_JOB_SIZE },
                         { (char *)"no.such.key" },
                         { (char *)PMIX_RANK, (char *)PMIX_JOB_SIZE } };
    pmix_query_t queries[3] = { { .keys = keys[0] }, { .keys = keys[1] }, { .keys = keys[2] } };
    struct asked asked = { .info = NULL };
    pmix_proc_t other = me;

    other.rank = 1 - me.rank;
    qualify(&asked, PMIX_PROCID, &other, PMIX_PROC);
    queries[2].qualifiers = asked.qualifiers;
    queries[2].nqual = 1;
    keys[2][1] = NULL;
    keys[2][0] = (char *)PMIX_LOCAL_RANK;
    CHECK_STATUS(PMIx_Query_info(queries, 3, &asked.info, &asked.ninfo), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(asked.ninfo == 3);

    pmix_info_t *info = check_result(&asked, 0, 1);
    CHECK(strcmp(info[0].key, PMIX_JOB_SIZE) == 0 && info[0].value.data.uint32 == FEW);
    (void)check_result(&asked, 1, 0);
    info = check_result(&asked, 2, 2);
    CHECK(strcmp(info[0].key, PMIX_QUERY_QUALIFIERS) == 0);
    const pmix_info_t *const said = info[0].value.data.darray->array;
    CHECK(info[0].value.data.darray->size == 1 && strcmp(said->key, PMIX_PROCID) == 0);
    CHECK(said->value.data.proc->rank == other.rank);
    CHECK(strcmp(info[1].key, PMIX_LOCAL_RANK) == 0);
    CHECK(info[1].value.data.uint16 == other.rank);
    asked_free(&asked);
}

struct outcome {
    sem_t outcome;
    pmix_status_t status;
    size_t ninfo;
    uint32_t size;
};

static void take_answer(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct outcome *const outcome = cbdata;

    outcome->status = status;
    outcome->ninfo = ninfo;
    outcome->size = ninfo > 0 ? info[0].value.data.uint32 : 0;
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
    sem_post(&outcome->outcome);
}

static void ask_nb(struct outcome *outcome, struct asked *asked)
{
    sem_init(&outcome->outcome, 0, 0);
    CHECK_STATUS(PMIx_Query_info_nb(&asked->query, 1, take_answer, outcome), PMIX_SUCCESS);
    job_sem_wait(&outcome->outcome);
}

/* TQ76: it says what the blocking form says. */
static void check_nb(void)
{
    struct asked asked = { .info = NULL };
    struct outcome outcome;

    ask_for(&asked, PMIX_JOB_SIZE);
    ask_nb(&outcome, &asked);
    CHECK(outcome.status == PMIX_SUCCESS && outcome.ninfo == 1 && outcome.size == FEW);
    ask_for(&asked, "no.such.key");
    ask_nb(&outcome, &asked);
    CHECK(outcome.status == PMIX_ERR_PARTIAL_SUCCESS && outcome.ninfo == 1 && outcome.size == FEW);
    asked_free(&asked);
    ask_for(&asked, "no.such.key");
    ask_nb(&outcome, &asked);
    CHECK(outcome.status == PMIX_ERR_NOT_FOUND && outcome.ninfo == 0);
    asked_free(&asked);
}

static int rank_of_shape(int rank)
{
    rank_begin(&me);
    check_flat();
    check_several();
    check_nb();
    rank_fence();
    return rank_end();
}

/* ---- too much for one call ------------------------------------------------------------------ */

#define AGAIN 4096

/* The memory of the server and of this process is read once, however often a call names it. */
static void check_memory_again(struct asked *asked)
{
    const unsigned before = looks;

    for (size_t i = 0; i < AGAIN; i++) {
        asked->query.keys[i] = (char *)PMIX_QUERY_MEMORY_USAGE;
    }
    CHECK_STATUS(ask(asked), PMIX_SUCCESS);
    CHECK(asked->ninfo == AGAIN && looks == before + 1);
    for (size_t i = 0; i < AGAIN; i++) {
        const pmix_info_t *const first = asked->info[0].value.data.darray->array;
        const pmix_info_t *const infos = asked->info[i].value.data.darray->array;

        for (size_t part = 0; part < 2; part++) {
            CHECK(infos[part].value.type == PMIX_FLOAT);
            CHECK(memcmp(&infos[part].value.data.fval, &first[part].value.data.fval,
                         sizeof(float)) == 0);
        }
    }
    PMIX_INFO_FREE(asked->info, asked->ninfo);
}

/* What one message makes the server do is bounded, however often it names a key. */
static int rank_of_bounds(int rank)
{
    static char *keys[AGAIN + 1];
    struct asked asked = { .query.keys = keys };

    rank_begin(&me);
    for (size_t i = 0; i < AGAIN; i++) {
        keys[i] = (char *)PMIX_DAEMON_MEMORY;
    }
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    CHECK(asked.ninfo == AGAIN);
    for (size_t i = 1; i < AGAIN; i++) {
        CHECK(memcmp(&asked.info[i].value.data.fval, &asked.info[0].value.data.fval,
                     sizeof(float)) == 0);
    }
    PMIX_INFO_FREE(asked.info, asked.ninfo);
    check_memory_again(&asked);
    for (size_t i = 0; i < AGAIN; i++) {
        keys[i] = (char *)PMIX_QUERY_NAMESPACES;
    }
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    CHECK(asked.ninfo == AGAIN);
    asked_free(&asked);
    return rank_end();
}

/* ---- before PMIx_Init ---------------------------------------------------------------------- */

/* TQ59, TQ60. */
static int rank_of_early(int rank)
{
    struct asked asked = { .info = NULL };
    struct outcome outcome;

    ask_for(&asked, PMIX_QUERY_STABLE_ABI_VERSION);
    ask_for(&asked, PMIX_QUERY_PROVISIONAL_ABI_VERSION);
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    CHECK(asked.ninfo == 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK(asked.info[i].value.type == PMIX_STRING);
        CHECK(strcmp(asked.info[i].value.data.string, "4.2") == 0);
    }
    PMIX_INFO_FREE(asked.info, asked.ninfo);
    ask_nb(&outcome, &asked);
    CHECK(outcome.status == PMIX_SUCCESS && outcome.ninfo == 2);
    ask_for(&asked, PMIX_JOB_SIZE);
    CHECK_STATUS(ask(&asked), PMIX_ERR_INIT);
    CHECK_STATUS(PMIx_Query_info_nb(&asked.query, 1, never, NULL), PMIX_ERR_INIT);
    rank_begin(&me);
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    CHECK(asked.ninfo == 3);
    asked_free(&asked);
    return rank_end();
}

/* ---- sets and groups ----------------------------------------------------------------------- */

#define RANKS 3

static void check_count(const char *key, size_t want)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *const value = ask_one(&asked, key, NULL, NULL);

    CHECK(value->type == PMIX_SIZE && value->data.size == want);
    asked_free(&asked);
}

static void check_uint32(const char *key, uint32_t want)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *const value = ask_one(&asked, key, NULL, NULL);

    CHECK(value->type == PMIX_UINT32 && value->data.uint32 == want);
    asked_free(&asked);
}

static void check_members(const char *key, const char *qualifier, const char *name,
                          const pmix_rank_t *ranks, size_t count)
{
    struct asked asked = { .info = NULL };

    if (count == 0) {
        ask_for(&asked, key);
        qualify(&asked, qualifier, name, PMIX_STRING);
        CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_FOUND);
        asked_free(&asked);
        return;
    }
    const pmix_value_t *const value = ask_one(&asked, key, qualifier, name);
    const pmix_proc_t *const procs = value->data.darray->array;

    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_PROC);
    CHECK(value->data.darray->size == count);
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(procs[i].nspace, JOB_NSPACE) == 0 && procs[i].rank == ranks[i]);
    }
    asked_free(&asked);
}

static void check_set_names(const char *want)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *const value = ask_one(&asked, PMIX_QUERY_PSET_NAMES, NULL, NULL);

    CHECK(value->type == PMIX_STRING && strcmp(value->data.string, want) == 0);
    asked_free(&asked);
}

static void check_group_names(const char *const *want, size_t count)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *const value = ask_one(&asked, PMIX_QUERY_GROUP_NAMES, NULL, NULL);
    char *const *const names = value->data.darray->array;

    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->size == count);
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(names[i], want[i]) == 0);
    }
    asked_free(&asked);
}

/* TQ67, by the infos that Open MPI 5 asks with. */
static int rank_of_sets(int rank)
{
    static const pmix_rank_t low[] = { 0, 1 }, all[] = { 0, 1, 2 };
    struct asked asked = { .info = NULL };
    bool yes = true;

    rank_begin(&me);
    if (rank == 0) {
        check_count(PMIX_QUERY_NUM_PSETS, 0);
        check_set_names("");
    }
    rank_fence();
    job_token_put(0);
    job_token_get(1);
    check_count(PMIX_QUERY_NUM_PSETS, 2);
    check_set_names("low,all");
    ask_for(&asked, PMIX_QUERY_NUM_PSETS);
    qualify(&asked, PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    CHECK(asked.ninfo == 1 && asked.info[0].value.data.size == 2);
    asked_free(&asked);
    check_members(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, "low", low, 2);
    check_members(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, "all", all, RANKS);
    check_members(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, "none", NULL, 0);
    job_token_put(2);
    job_token_get(3);
    check_count(PMIX_QUERY_NUM_PSETS, 1);
    check_set_names("all");
    check_members(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, "low", NULL, 0);
    return rank_end();
}

static void tokens(int in, int out)
{
    for (int i = 0; i < RANKS; i++) {
        job_token_get(in);
    }
    if (out == 1) {
        pmix_proc_t procs[2];

        PMIx_Load_procid(&procs[0], JOB_NSPACE, 0);
        PMIx_Load_procid(&procs[1], JOB_NSPACE, 1);
        CHECK_STATUS(PMIx_server_define_process_set(procs, 2, "low"), PMIX_SUCCESS);
        procs[0].rank = PMIX_RANK_WILDCARD;
        CHECK_STATUS(PMIx_server_define_process_set(procs, 1, "all"), PMIX_SUCCESS);
    } else {
        char low[] = "low";

        CHECK_STATUS(PMIx_server_delete_process_set(low), PMIX_SUCCESS);
    }
    for (int i = 0; i < RANKS; i++) {
        job_token_put(out);
    }
}

static int host_of_sets(struct job *job)
{
    tokens(0, 1);
    tokens(2, 3);
    return 0;
}

/* GR50, TQ68: before a group, while it is there, when one has left it, and after it. */
static int rank_of_groups(int rank)
{
    static const pmix_rank_t first[] = { 2, 0, 1 }, later[] = { 2, 1 };
    static const char *const names[] = { "g1", "g2" };
    pmix_proc_t procs[RANKS];
    struct asked asked = { .info = NULL };

    rank_begin(&me);
    check_count(PMIX_QUERY_NUM_GROUPS, 0);
    check_group_names(NULL, 0);
    check_members(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, "g1", NULL, 0);
    ask_for(&asked, PMIX_QUERY_GROUP_MEMBERSHIP); /* of which? */
    CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_FOUND);
    asked_free(&asked);
    rank_fence();
    for (int i = 0; i < RANKS; i++) {
        PMIx_Load_procid(&procs[i], JOB_NSPACE, first[i]);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(PMIx_Group_construct(names[i], procs, RANKS, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    }
    check_count(PMIX_QUERY_NUM_GROUPS, 2);
    check_group_names(names, 2);
    check_members(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, "g1", first, RANKS);
    check_members(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, "g1", NULL, 0);
    rank_fence();
    if (rank == 0) {
        CHECK_STATUS(PMIx_Group_leave("g1", NULL, 0), PMIX_SUCCESS);
    }
    rank_fence();
    check_members(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, "g1", later, 2);
    check_members(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, "g2", first, RANKS);
    rank_fence();
    if (rank != 0) {
        CHECK_STATUS(PMIx_Group_destruct("g1", NULL, 0), PMIX_SUCCESS);
    }
    rank_fence();
    check_count(PMIX_QUERY_NUM_GROUPS, 1);
    check_group_names(&names[1], 1);
    check_members(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, "g1", NULL, 0);
    rank_fence();
    return rank_end();
}

/* ---- what the server knows ----------------------------------------------------------------- */

static void check_text(const char *key, const char *want)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *const value = ask_one(&asked, key, NULL, NULL);

    CHECK(value->type == PMIX_STRING && strcmp(value->data.string, want) == 0);
    asked_free(&asked);
}

/* TQ61; TQ73: there is no entry of the host to be asked. */
static int rank_of_server(int rank)
{
    struct asked asked = { .info = NULL };

    rank_begin(&me);
    if (rank == 0) {
        check_text(PMIX_QUERY_NAMESPACES, JOB_NSPACE);
    }
    rank_fence();
    job_token_put(0);
    job_token_get(1);
    check_text(PMIX_QUERY_NAMESPACES, JOB_NSPACE ",other.job");
    ask_for(&asked, PMIX_QUERY_QUEUE_LIST);
    CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_SUPPORTED);
    CHECK(asked.info == NULL && asked.ninfo == 0);
    ask_for(&asked, PMIX_QUERY_NAMESPACES);
    CHECK_STATUS(ask(&asked), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(asked.ninfo == 1);
    asked_free(&asked);
    return rank_end();
}

/* The host asks its own server. */
static int host_of_server(struct job *job)
{
    struct asked asked = { .info = NULL };
    struct outcome outcome;

    for (int i = 0; i < FEW; i++) {
        job_token_get(0);
    }
    CHECK_STATUS(PMIx_server_register_nspace("other.job", 0, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    check_text(PMIX_QUERY_NAMESPACES, JOB_NSPACE ",other.job");
    check_count(PMIX_QUERY_NUM_PSETS, 0);
    (void)ask_one(&asked, PMIX_JOB_SIZE, PMIX_NSPACE, JOB_NSPACE);
    CHECK(asked.info[0].value.data.uint32 == FEW);
    ask_for(&asked, "no.such.key");
    ask_nb(&outcome, &asked);
    CHECK(outcome.status == PMIX_ERR_PARTIAL_SUCCESS && outcome.ninfo == 1 && outcome.size == FEW);
    asked_free(&asked);
    for (int i = 0; i < FEW; i++) {
        job_token_put(1);
    }
    for (int i = 0; i < FEW; i++) {
        CHECK(job_wait(job, i) == 0);
    }
    PMIx_server_deregister_nspace("other.job", NULL, NULL);
    return 0;
}

/* ---- what a query costs ---------------------------------------------------------------------- */

static void ask_all(void)
{
    check_count(PMIX_QUERY_NUM_PSETS, 1);
    check_set_names("one");
    check_count(PMIX_QUERY_NUM_GROUPS, 0);
    check_uint32(PMIX_JOB_SIZE, 1);
}

static int ask_quietly(void *arg)
{
    for (int i = 0; i < 100; i++) {
        ask_all();
    }
    return 0;
}

/* What has been mapped costs no system call, and so no message. */
static int rank_of_quiet(int rank)
{
    rank_begin(&me);
    job_token_get(0);
    ask_all();
    if (!SANITIZED) { /* which make calls of their own */
        CHECK(no_calls_run(ask_quietly, NULL) == 0);
    }
    return rank_end();
}

static int host_of_quiet(struct job *job)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, JOB_NSPACE, 0);
    CHECK_STATUS(PMIx_server_define_process_set(&proc, 1, "one"), PMIX_SUCCESS);
    job_token_put(0);
    return 0;
}

/* ---- jobs and their processes -------------------------------------------------------------- */

#define OTHER "other.job"
#define OTHER_SIZE 3

static void load_array(pmix_info_t *info, const char *key, pmix_info_t *infos, size_t count)
{
    pmix_data_array_t array = { .type = PMIX_INFO, .size = count, .array = infos };

    PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
    for (size_t i = 0; i < count; i++) {
        PMIX_INFO_DESTRUCT(&infos[i]);
    }
}

/* Ranks 0 and 1 are on n1, rank 2 on n2; rank 1 has ended. */
static void register_other(void)
{
    const uint32_t size = OTHER_SIZE;
    const pmix_proc_state_t state = PMIX_PROC_STATE_TERM_NON_ZERO;
    const pmix_rank_t one = 1, two = 2;
    const int code = 3, negative = -5;
    pmix_info_t infos[7], its[3], app[2];
    const uint32_t app_number = 0;

    PMIX_INFO_LOAD(&infos[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_NODE_MAP, "n1,n2", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_PROC_MAP, "0-1;2", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[3], PMIX_CMD_LINE, "./solve --fast", PMIX_STRING);
    PMIX_INFO_LOAD(&its[0], PMIX_RANK, &one, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&its[1], PMIX_EXIT_CODE, &code, PMIX_INT);
    PMIX_INFO_LOAD(&its[2], PMIX_PROC_STATE_STATUS, &state, PMIX_PROC_STATE);
    load_array(&infos[4], PMIX_PROC_INFO_ARRAY, its, 3);
    PMIX_INFO_LOAD(&app[0], PMIX_APPNUM, &app_number, PMIX_UINT32);
    PMIX_INFO_LOAD(&app[1], PMIX_APP_ARGV, "./solve --fast", PMIX_STRING);
    load_array(&infos[5], PMIX_APP_INFO_ARRAY, app, 2);
    PMIX_INFO_LOAD(&its[0], PMIX_RANK, &two, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&its[1], PMIX_EXIT_CODE, &negative, PMIX_INT);
    load_array(&infos[6], PMIX_PROC_INFO_ARRAY, its, 2);
    CHECK_STATUS(PMIx_server_register_nspace(OTHER, 0, infos, COUNT(infos), NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (size_t i = 0; i < COUNT(infos); i++) {
        PMIX_INFO_DESTRUCT(&infos[i]);
    }
}

static const pmix_data_array_t *table_of(struct asked *asked, const char *key, const char *nspace,
                                         size_t count)
{
    const pmix_value_t *const value = ask_one(asked, key, PMIX_NSPACE, nspace);

    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_PROC_INFO);
    CHECK(value->data.darray->size == count);
    return value->data.darray;
}

/* TQ64, TQ65, TQ82. */
static void check_tables(void)
{
    static const int exit_codes[OTHER_SIZE] = { 0, 3, -5 };
    struct asked asked = { .info = NULL };
    const pmix_proc_info_t *procs =
        table_of(&asked, PMIX_QUERY_PROC_TABLE, OTHER, OTHER_SIZE)->array;

    for (pmix_rank_t i = 0; i < OTHER_SIZE; i++) {
        CHECK(procs[i].proc.rank == i && strcmp(procs[i].proc.nspace, OTHER) == 0);
        CHECK(strcmp(procs[i].hostname, i < 2 ? "n1" : "n2") == 0);
        CHECK(strcmp(procs[i].executable_name, "./solve") == 0);
        CHECK(procs[i].exit_code == exit_codes[i]);
        CHECK(procs[i].state == (i == 1 ? PMIX_PROC_STATE_TERM_NON_ZERO : PMIX_PROC_STATE_UNDEF));
    }
    CHECK(strcmp(PMIx_Proc_state_string(procs[1].state), "PMIX_PROC_STATE_TERM_NON_ZERO") == 0);
    asked_free(&asked);
    (void)table_of(&asked, PMIX_QUERY_LOCAL_PROC_TABLE, OTHER, 0);
    asked_free(&asked);
    procs = table_of(&asked, PMIX_QUERY_LOCAL_PROC_TABLE, JOB_NSPACE, FEW)->array;
    for (pmix_rank_t i = 0; i < FEW; i++) {
        CHECK(procs[i].proc.rank == i && procs[i].state == PMIX_PROC_STATE_CONNECTED);
        CHECK(procs[i].pid > 0 && (i != me.rank || procs[i].pid == getpid()));
    }
    asked_free(&asked);
    ask_for(&asked, PMIX_QUERY_PROC_TABLE);
    CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_FOUND); /* of which? */
    asked_free(&asked);
}

/* TQ62, TQ63. */
static void check_jobs(void)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *value = ask_one(&asked, PMIX_QUERY_NAMESPACE_INFO, NULL, NULL);
    const pmix_info_t *const all = value->data.darray->array;

    CHECK(value->data.darray->type == PMIX_INFO && value->data.darray->size == 2);
    const pmix_info_t *const own = all[0].value.data.darray->array;
    const pmix_info_t *const other = all[1].value.data.darray->array;
    CHECK(strcmp(own[0].key, PMIX_NSPACE) == 0);
    CHECK(strcmp(own[0].value.data.string, JOB_NSPACE) == 0);
    CHECK(strcmp(other[0].value.data.string, OTHER) == 0);
    CHECK(strcmp(other[1].key, PMIX_CMD_LINE) == 0);
    CHECK(strcmp(other[1].value.data.string, "./solve --fast") == 0);
    asked_free(&asked);

    for (size_t i = 0; i < 3; i++) { /* one answer for all */
        ask_for(&asked, i == 1 ? PMIX_QUERY_JOB_STATUS : PMIX_QUERY_NAMESPACE_INFO);
    }
    CHECK_STATUS(ask(&asked), PMIX_ERR_PARTIAL_SUCCESS);
    CHECK(asked.ninfo == 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK(PMIX_CHECK_KEY(&asked.info[i], PMIX_QUERY_NAMESPACE_INFO));
        CHECK(asked.info[i].value.data.darray->size == 2);
    }
    asked_free(&asked);

    value = ask_one(&asked, PMIX_QUERY_JOB_STATUS, PMIX_NSPACE, JOB_NSPACE);
    CHECK(value->type == PMIX_STATUS && value->data.status == PMIX_EVENT_JOB_START);
    asked_free(&asked);
    ask_for(&asked, PMIX_QUERY_JOB_STATUS);
    CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_FOUND);
    asked_free(&asked);
}

static void check_peers(struct asked *asked, const pmix_rank_t *ranks, size_t count)
{
    CHECK_STATUS(ask(asked), PMIX_SUCCESS);
    const pmix_data_array_t *const array = asked->info[0].value.data.darray;
    const pmix_proc_t *const procs = array->array;

    CHECK(asked->ninfo == 1 && array->type == PMIX_PROC && array->size == count);
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(procs[i].nspace, OTHER) == 0 && procs[i].rank == ranks[i]);
    }
    asked_free(asked);
}

/* TQ66: one query about two nodes, as RFC0010 shows it; two queries give two results. */
static void check_nodes(void)
{
    static const pmix_rank_t first[] = { 0, 1 }, both[] = { 0, 1, 2 };
    struct asked asked = { .info = NULL }, second = { .info = NULL };
    const uint32_t nodes[] = { 0, 1 };

    ask_for(&asked, PMIX_LOCAL_PROCS);
    qualify(&asked, PMIX_NSPACE, OTHER, PMIX_STRING);
    qualify(&asked, PMIX_HOSTNAME, "n1", PMIX_STRING);
    check_peers(&asked, first, 2);
    ask_for(&asked, PMIX_QUERY_RESOLVE_PEERS);
    qualify(&asked, PMIX_NSPACE, OTHER, PMIX_STRING);
    qualify(&asked, PMIX_NODEID, &nodes[0], PMIX_UINT32);
    qualify(&asked, PMIX_NODEID, &nodes[1], PMIX_UINT32);
    check_peers(&asked, both, 3);

    ask_for(&asked, PMIX_LOCAL_PROCS);
    qualify(&asked, PMIX_HOSTNAME, "n1", PMIX_STRING);
    ask_for(&second, PMIX_LOCAL_PROCS);
    qualify(&second, PMIX_HOSTNAME, "n2", PMIX_STRING);
    pmix_query_t queries[2] = { asked.query, second.query };
    CHECK_STATUS(PMIx_Query_info(queries, 2, &asked.info, &asked.ninfo), PMIX_SUCCESS);
    CHECK(check_result(&asked, 0, 2)[1].value.data.darray->size == 2);
    CHECK(check_result(&asked, 1, 2)[1].value.data.darray->size == 1);
    asked_free(&asked);
    asked_free(&second);

    const pmix_value_t *const value = ask_one(&asked, PMIX_QUERY_RESOLVE_NODE, PMIX_NSPACE, OTHER);
    CHECK(strcmp(value->data.string, "n1,n2") == 0);
    asked_free(&asked);
}

/* The memory that rank @of uses, or all clients do when @of is a wildcard.  Return: the average. */
static float memory_of(pmix_rank_t of, float *ret_min, float *ret_max)
{
    struct asked asked = { .info = NULL };
    const bool yes = true;

    ask_for(&asked, PMIX_QUERY_MEMORY_USAGE);
    qualify(&asked, PMIX_QUERY_REPORT_AVG, &yes, PMIX_BOOL);
    qualify(&asked, PMIX_QUERY_REPORT_MINMAX, &yes, PMIX_BOOL);
    qualify(&asked, PMIX_NSPACE, JOB_NSPACE, PMIX_STRING);
    qualify(&asked, PMIX_RANK, &of, PMIX_PROC_RANK);
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    const pmix_value_t *const value = &asked.info[0].value;
    const pmix_info_t *const all = value->data.darray->array;
    CHECK(asked.ninfo == 1 && value->data.darray->type == PMIX_INFO);
    CHECK(value->data.darray->size == 3);
    CHECK(strcmp(all[0].key, PMIX_DAEMON_MEMORY) == 0 && all[0].value.data.fval > 0.1f);
    CHECK(strcmp(all[1].key, PMIX_CLIENT_AVG_MEMORY) == 0);
    CHECK(strcmp(all[2].key, PMIX_QUERY_REPORT_MINMAX) == 0);
    const float average = all[1].value.data.fval;
    const pmix_data_array_t *const both = all[2].value.data.darray;
    CHECK(all[1].value.type == PMIX_FLOAT && both->type == PMIX_FLOAT && both->size == 2);
    *ret_min = ((const float *)both->array)[0];
    *ret_max = ((const float *)both->array)[1];
    asked_free(&asked);
    return average;
}

/* TQ81: averages alone; with the smallest and the largest; of some, and of nobody. */
static void check_memory(void)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *value = ask_one(&asked, PMIX_QUERY_MEMORY_USAGE, NULL, NULL);
    float average, min, max;

    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->size == 2);
    asked_free(&asked);
    average = memory_of(PMIX_RANK_WILDCARD, &min, &max);
    CHECK(0.1f < min && min <= average && average <= max && max < 1e6f);
    average = memory_of(me.rank, &min, &max);
    CHECK(min == average && average == max);
    ask_for(&asked, PMIX_QUERY_MEMORY_USAGE);
    qualify(&asked, PMIX_NSPACE, OTHER, PMIX_STRING);
    CHECK_STATUS(ask(&asked), PMIX_ERR_NOT_FOUND);
    asked_free(&asked);
}

/* TQ80, TQ81. */
static void check_this_server(void)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *value = ask_one(&asked, PMIX_SERVER_URI, NULL, NULL);

    CHECK(value->type == PMIX_STRING && strstr(value->data.string, ";unix:") != NULL);
    asked_free(&asked);
    if (access("/proc/self/statm", R_OK) == 0) {
        value = ask_one(&asked, PMIX_DAEMON_MEMORY, NULL, NULL);
        CHECK(value->type == PMIX_FLOAT && value->data.fval > 0.1f && value->data.fval < 1e6f);
        asked_free(&asked);
        value = ask_one(&asked, PMIX_CLIENT_AVG_MEMORY, NULL, NULL);
        CHECK(value->type == PMIX_FLOAT && value->data.fval > 0.1f && value->data.fval < 1e6f);
        asked_free(&asked);
        check_memory();
        CHECK(looks > 0);
    }
    check_text(PMIX_QUERY_SPAWN_SUPPORT, "PMIX_WDIR,host.own");
    check_text(PMIX_QUERY_DEBUG_SUPPORT, "");
}

/* ---- what is supported ----------------------------------------------------------------------- */

/* The info of @key among those that are an answer. */
static const pmix_value_t *part_of(const pmix_value_t *value, const char *key)
{
    const pmix_data_array_t *const array = value->data.darray;
    const pmix_info_t *const all = array->array;

    CHECK(value->type == PMIX_DATA_ARRAY && array->type == PMIX_INFO);
    for (size_t i = 0; i < array->size; i++) {
        if (strcmp(all[i].key, key) == 0) {
            return &all[i].value;
        }
    }
    return NULL;
}

static bool has_attribute(const pmix_value_t *attributes, const char *name, const char *key)
{
    const pmix_data_array_t *const array = attributes->data.darray;
    const pmix_regattr_t *const all = array->array;

    CHECK(array->type == PMIX_REGATTR);
    for (size_t i = 0; i < array->size; i++) {
        if (strcmp(all[i].name, name) == 0) {
            return strcmp(all[i].string, key) == 0;
        }
    }
    return false;
}

/* TQ69; in shared memory there is what this library does, the server answers the rest. */
static void check_support(void)
{
    struct asked asked = { .info = NULL };
    const pmix_value_t *value, *part;
    bool yes = true;

    ask_for(&asked, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    qualify(&asked, PMIX_CLIENT_FUNCTIONS, &yes, PMIX_BOOL);
    qualify(&asked, PMIX_CLIENT_ATTRIBUTES, "PMIx_Fence,PMIx_Get", PMIX_STRING);
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    value = &asked.info[0].value;
    part = part_of(value, PMIX_CLIENT_FUNCTIONS);
    CHECK(strstr(part->data.string, "PMIx_Group_construct,") != NULL);
    CHECK(strstr(part->data.string, "PMIx_server_") == NULL);
    part = part_of(value, PMIX_CLIENT_ATTRIBUTES);
    CHECK(part->data.darray->size == 2);
    CHECK(has_attribute(part_of(part, "PMIx_Fence"), "PMIX_COLLECT_DATA", PMIX_COLLECT_DATA));
    CHECK(!has_attribute(part_of(part, "PMIx_Fence"), "PMIX_DATA_SCOPE", PMIX_DATA_SCOPE));
    CHECK(has_attribute(part_of(part, "PMIx_Get"), "PMIX_DATA_SCOPE", PMIX_DATA_SCOPE));
    asked_free(&asked);

    ask_for(&asked, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    qualify(&asked, PMIX_SERVER_FUNCTIONS, &yes, PMIX_BOOL);
    qualify(&asked, PMIX_TOOL_FUNCTIONS, &yes, PMIX_BOOL);
    qualify(&asked, PMIX_HOST_FUNCTIONS, &yes, PMIX_BOOL);
    qualify(&asked, PMIX_HOST_ATTRIBUTES, "all", PMIX_STRING);
    CHECK_STATUS(ask(&asked), PMIX_SUCCESS);
    value = &asked.info[0].value;
    part = part_of(value, PMIX_SERVER_FUNCTIONS);
    CHECK(strstr(part->data.string, "PMIx_server_register_nspace") != NULL);
    CHECK(strstr(part->data.string, "PMIx_Get") == NULL);
    CHECK(strstr(part_of(value, PMIX_TOOL_FUNCTIONS)->data.string, "PMIx_Get") != NULL);
    CHECK(strcmp(part_of(value, PMIX_HOST_FUNCTIONS)->data.string, "spawn,query") == 0);
    part = part_of(part_of(value, PMIX_HOST_ATTRIBUTES), "spawn");
    CHECK(has_attribute(part, "PMIX_WDIR", PMIX_WDIR) && part->data.darray->size == 2);
    CHECK(has_attribute(part, "host.own", "host.own"));
    asked_free(&asked);

    value = ask_one(&asked, PMIX_QUERY_SUPPORTED_KEYS, NULL, NULL);
    CHECK(strstr(value->data.string, PMIX_QUERY_PROC_TABLE) != NULL);
    CHECK(strstr(value->data.string, PMIX_QUERY_RESOLVE_PEERS) != NULL);
    CHECK(strstr(value->data.string, PMIX_QUERY_QUEUE_LIST) == NULL);
    asked_free(&asked);

    value = ask_one(&asked, PMIX_QUERY_ATTRIBUTE_SUPPORT, NULL, NULL);
    CHECK(value->data.darray->size == 4);
    asked_free(&asked);
}

static void register_support(void)
{
    char spawn[] = "spawn", query[] = "query", empty[] = "";
    char wdir[] = "PMIX_WDIR", own[] = "host.own";
    char *attributes[] = { wdir, own, NULL };

    CHECK_STATUS(PMIx_Register_attributes(spawn, attributes), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Register_attributes(query, &attributes[1]), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Register_attributes(spawn, attributes), PMIX_ERR_REPEAT_ATTR_REGISTRATION);
    CHECK_STATUS(PMIx_Register_attributes(empty, attributes), PMIX_ERR_BAD_PARAM);
    CHECK_STATUS(PMIx_Register_attributes(query, NULL), PMIX_ERR_BAD_PARAM);
}

static int rank_of_jobs(int rank)
{
    rank_begin(&me);
    rank_fence();
    job_token_put(0);
    job_token_get(1);
    check_tables();
    check_jobs();
    check_nodes();
    check_this_server();
    check_support();
    rank_fence();
    return rank_end();
}

static int host_of_jobs(struct job *job)
{
    for (int i = 0; i < FEW; i++) {
        job_token_get(0);
    }
    register_other();
    register_support();
    for (int i = 0; i < FEW; i++) {
        job_token_put(1);
    }
    for (int i = 0; i < FEW; i++) {
        CHECK(job_wait(job, i) == 0);
    }
    PMIx_server_deregister_nspace(OTHER, NULL, NULL);
    CHECK(looks == 0); /* the kernel may make who looks wait */
    return 0;
}

/* ---- processes that have ended --------------------------------------------------------------- */

/* Rank 1 finalizes, rank 2 does not, and rank 0 asks when the host has taken them away. */
static int rank_of_ends(int rank)
{
    static const pmix_proc_state_t want[] = { PMIX_PROC_STATE_CONNECTED, PMIX_PROC_STATE_TERMINATED,
                                              PMIX_PROC_STATE_TERM_WO_SYNC };
    struct asked asked = { .info = NULL };

    rank_begin(&me);
    rank_fence();
    if (rank == 2) {
        _exit(0);
    }
    if (rank == 0) {
        job_token_get(0);
        const pmix_data_array_t *const table = table_of(&asked, PMIX_QUERY_PROC_TABLE, JOB_NSPACE,
                                                        RANKS);
        const pmix_proc_info_t *const procs = table->array;

        for (int i = 0; i < RANKS; i++) {
            CHECK(procs[i].state == want[i]);
        }
        asked_free(&asked);
    }
    return rank_end();
}

static void never_mind(pmix_status_t status, void *cbdata)
{
    sem_post(cbdata);
}

static int host_of_ends(struct job *job)
{
    pmix_proc_t proc;
    sem_t done;

    sem_init(&done, 0, 0);
    for (int i = 1; i < RANKS; i++) {
        (void)job_wait(job, i);
        PMIx_Load_procid(&proc, JOB_NSPACE, (pmix_rank_t)i);
        PMIx_server_deregister_client(&proc, never_mind, &done);
        job_sem_wait(&done);
    }
    job_token_put(0);
    CHECK(job_wait(job, 0) == 0);
    return 0;
}

static const struct job_case cases[] = {
    { .name = "qualifiers", .size = 1, .rank = rank_of_qualifiers },
    { .name = "shape", .size = FEW, .rank = rank_of_shape },
    { .name = "bounds", .size = 1, .rank = rank_of_bounds },
    { .name = "early", .size = 1, .rank = rank_of_early },
    { .name = "sets", .size = RANKS, .rank = rank_of_sets, .host = host_of_sets },
    { .name = "groups", .size = RANKS, .rank = rank_of_groups },
    { .name = "quiet", .size = 1, .rank = rank_of_quiet, .host = host_of_quiet },
    { .name = "jobs", .size = FEW, .rank = rank_of_jobs, .host = host_of_jobs },
    { .name = "ends",
      .size = RANKS,
      .rank = rank_of_ends,
      .host = host_of_ends,
      .host_judges = true },
    { .name = "server", .size = FEW, .rank = rank_of_server, .host = host_of_server },
};

JOB_MAIN(cases)
