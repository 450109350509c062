/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign_pmix.c - what a rank may ask of its server, whichever PMIx library it and its peers carry.
 *
 * Each scenario is one word; rank 0 says "SCENARIO: ok" when all ranks have come through.
 *
 *     data     put, commit, fence, get: scopes, long values, values that come later, all of a rank
 *     events   registered codes, the default handler, late handlers, what is no longer registered
 *     calls    publish, query, log, credential, groups, connect, spawn, resolve
 *     again    init, finalize, init */
#include <pmix.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE (-3301)
#define OTHER (-3302)
#define LONG_CHARS 100000
#define BLOB_BYTES (10u << 20)
#define MANY 300

static pmix_proc_t me;
static uint32_t size;

#define CHECK(fact)                                                               \
    do {                                                                          \
        if (!(fact)) {                                                            \
            printf("rank %u, line %d: not true: %s\n", me.rank, __LINE__, #fact); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)
#define MUST(call)                                                              \
    do {                                                                        \
        const pmix_status_t rc_ = (call);                                       \
        if (rc_ != PMIX_SUCCESS && rc_ != PMIX_OPERATION_SUCCEEDED) {           \
            printf("rank %u, line %d: %s: %s (%d)\n", me.rank, __LINE__, #call, \
                   PMIx_Error_string(rc_), rc_);                                \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static pmix_value_t *get(pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    MUST(PMIx_Get(&proc, key, NULL, 0, &value));
    return value;
}

static void put_text(pmix_scope_t scope, const char *key, char *text)
{
    pmix_value_t value = { .type = PMIX_STRING };

    value.data.string = text;
    MUST(PMIx_Put(scope, key, &value));
}

static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    MUST(PMIx_Fence(NULL, 0, &info, 1));
}

static void begin(void)
{
    MUST(PMIx_Init(&me, NULL, 0));
    size = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)->data.uint32;
    CHECK(size >= 2);
}

static void end(void)
{
    fence(false);
    MUST(PMIx_Finalize(NULL, 0));
}

/* ---- data ------------------------------------------------------------------------------------ */

static char *long_text(pmix_rank_t rank)
{
    char *const text = malloc(LONG_CHARS + 1);

    memset(text, 'a' + (int)(rank % 26), LONG_CHARS);
    text[LONG_CHARS] = '\0';
    return text;
}

static void put_all(void)
{
    pmix_value_t value = { .type = PMIX_UINT32 };
    pmix_info_t infos[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = infos };
    char name[32];

    value.data.uint32 = 100 + me.rank;
    MUST(PMIx_Put(PMIX_GLOBAL, "number", &value));
    put_text(PMIX_LOCAL, "local", "here");
    put_text(PMIX_REMOTE, "remote", "there");
    put_text(PMIX_GLOBAL, "long", long_text(me.rank));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.size = BLOB_BYTES;
    value.data.bo.bytes = calloc(1, BLOB_BYTES);
    value.data.bo.bytes[BLOB_BYTES - 1] = (char)me.rank;
    MUST(PMIx_Put(PMIX_GLOBAL, "blob", &value));
    PMIX_INFO_LOAD(&infos[0], "first", "one", PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], "second", &me, PMIX_PROC);
    value.type = PMIX_DATA_ARRAY;
    value.data.darray = &array;
    MUST(PMIx_Put(PMIX_GLOBAL, "array", &value));
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many.%d", i);
        put_text(PMIX_GLOBAL, name, name);
    }
}

static void check_peer(pmix_rank_t rank)
{
    char *const text = long_text(rank);
    pmix_value_t *value;
    const pmix_info_t *infos;

    CHECK(get(rank, "number")->data.uint32 == 100 + rank);
    CHECK(strcmp(get(rank, "local")->data.string, "here") == 0);
    CHECK(strcmp(get(rank, "long")->data.string, text) == 0);
    CHECK(strcmp(get(rank, "many.299")->data.string, "many.299") == 0);
    value = get(rank, "blob");
    CHECK(value->type == PMIX_BYTE_OBJECT && value->data.bo.size == BLOB_BYTES);
    CHECK(value->data.bo.bytes[BLOB_BYTES - 1] == (char)rank);
    value = get(rank, "array");
    CHECK(value->type == PMIX_DATA_ARRAY && value->data.darray->type == PMIX_INFO &&
          value->data.darray->size == 2);
    infos = value->data.darray->array;
    CHECK(strcmp(infos[0].value.data.string, "one") == 0);
    CHECK(infos[1].value.type == PMIX_PROC && infos[1].value.data.proc->rank == rank);
    free(text);
}

/* What the host says. */
static void check_job(void)
{
    char peers[64] = "0";

    for (pmix_rank_t rank = 1; rank < size; rank++) {
        snprintf(peers + strlen(peers), sizeof(peers) - strlen(peers), ",%u", rank);
    }
    CHECK(strcmp(get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS)->data.string, peers) == 0);
    CHECK(get(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE)->data.uint32 == size);
    CHECK(get(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE)->data.uint32 >= size);
    CHECK(get(PMIX_RANK_WILDCARD, PMIX_NUM_NODES)->data.uint32 == 1);
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        CHECK(get(rank, PMIX_LOCAL_RANK)->data.uint16 == rank);
        CHECK(get(rank, PMIX_HOSTNAME)->type == PMIX_STRING);
        CHECK(get(rank, PMIX_APPNUM)->type == PMIX_UINT32);
    }
}

static void check_missing(void)
{
    pmix_info_t infos[2];
    pmix_value_t *value;
    pmix_proc_t proc;
    const bool yes = true;
    const int seconds = 1;

    PMIX_LOAD_PROCID(&proc, me.nspace, (me.rank + 1) % size);
    PMIX_INFO_LOAD(&infos[0], PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    CHECK(PMIx_Get(&proc, "nobody.has.it", infos, 1, &value) != PMIX_SUCCESS);
    PMIX_INFO_LOAD(&infos[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
    CHECK(PMIx_Get(&proc, "remote", infos, 1, &value) != PMIX_SUCCESS); /* it is for other nodes */
    PMIX_LOAD_PROCID(&proc, "no.such.job", 0);
    PMIX_INFO_LOAD(&infos[0], PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    CHECK(PMIx_Get(&proc, "number", infos, 1, &value) != PMIX_SUCCESS);
}

/* A Get of a value that its rank puts afterwards. */
static void check_later(void)
{
    const pmix_rank_t left = (me.rank + size - 1) % size;
    char text[32];

    if (me.rank == 0) {
        usleep(100000); /* so that the others ask first; if they do not, it holds as well */
    }
    if (me.rank != 0) {
        snprintf(text, sizeof(text), "after %u", left);
        CHECK(strcmp(get(left, "later")->data.string, text) == 0);
    }
    snprintf(text, sizeof(text), "after %u", me.rank);
    put_text(PMIX_GLOBAL, "later", text);
    MUST(PMIx_Commit());
    if (me.rank == 0) {
        snprintf(text, sizeof(text), "after %u", left);
        CHECK(strcmp(get(left, "later")->data.string, text) == 0);
    }
}

/* Where a value is stored is no business of the server. */
static void check_places(void)
{
    pmix_value_t stored, *value = &stored;
    pmix_info_t info;
    pmix_proc_t proc;
    const bool yes = true;

    PMIX_LOAD_PROCID(&proc, me.nspace, (me.rank + 1) % size);
    PMIX_INFO_LOAD(&info, PMIX_GET_STATIC_VALUES, &yes, PMIX_BOOL);
    MUST(PMIx_Get(&proc, "number", &info, 1, &value));
    CHECK(value->data.uint32 == 100 + proc.rank);
}

/* A library that keeps the values it has got gets a changed one together with the next value of its
 * rank that it asks for. */
static void check_changed(void)
{
    const pmix_rank_t left = (me.rank + size - 1) % size;

    put_text(PMIX_GLOBAL, "changes", "before");
    MUST(PMIx_Commit());
    fence(true);
    CHECK(strcmp(get(left, "changes")->data.string, "before") == 0);
    fence(false);
    put_text(PMIX_GLOBAL, "changes", "after");
    put_text(PMIX_GLOBAL, "added", "new");
    MUST(PMIx_Commit());
    fence(true);
    CHECK(strcmp(get(left, "added")->data.string, "new") == 0);
    CHECK(strcmp(get(left, "changes")->data.string, "after") == 0);
}

static void data(void)
{
    begin();
    check_changed();
    check_later();
    put_all();
    MUST(PMIx_Commit());
    fence(true);
    check_places();
    for (pmix_rank_t rank = 0; rank < size; rank++) {
        if (rank != me.rank) {
            check_peer(rank);
        }
    }
    check_job();
    check_missing();
    end();
}

/* ---- events ---------------------------------------------------------------------------------- */

static atomic_int code_count, default_count, late_count;
static char received[64];

static void reply(pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_code(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t results[], size_t nresults,
                    pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, "test.text") == 0) {
            snprintf(received, sizeof(received), "%s of %u", info[i].value.data.string,
                     source->rank);
        }
    }
    atomic_fetch_add(status == CODE ? &code_count : &late_count, 1);
    reply(cbfunc, cbdata);
}

static void on_any(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (status == CODE || status == OTHER) {
        atomic_fetch_add(&default_count, 1);
    }
    reply(cbfunc, cbdata);
}

static atomic_long registered;

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    (void)cbdata;
    atomic_store(&registered, status == PMIX_SUCCESS ? (long)id + 1 : -1);
}

static size_t handler_add(pmix_status_t code, pmix_notification_fn_t handler)
{
    atomic_store(&registered, 0);
    PMIx_Register_event_handler(code == 0 ? NULL : &code, code == 0 ? 0 : 1, NULL, 0, handler,
                                on_registered, NULL);
    while (atomic_load(&registered) == 0) {
        usleep(1000);
    }
    CHECK(atomic_load(&registered) > 0);
    return (size_t)atomic_load(&registered) - 1;
}

static atomic_int notified;

static void on_notified(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    atomic_store(&notified, status == PMIX_SUCCESS ? 1 : -1);
}

static void notify(pmix_status_t code)
{
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, "test.text", "hello", PMIX_STRING);
    atomic_store(&notified, 0);
    rc = PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, &info, 1, on_notified, NULL);
    while (rc == PMIX_SUCCESS && atomic_load(&notified) == 0) {
        usleep(1000);
    }
    CHECK(rc == PMIX_OPERATION_SUCCEEDED || atomic_load(&notified) == 1);
}

/* Bounded by the time limit of the job. */
static void await(atomic_int *count, int want)
{
    while (atomic_load(count) < want) {
        usleep(1000);
    }
    CHECK(atomic_load(count) == want);
}

static void events(void)
{
    size_t id;

    begin();
    id = handler_add(CODE, on_code);
    handler_add(0, on_any);
    fence(false);
    if (me.rank == 0) {
        notify(CODE);
    }
    await(&code_count, 1);
    CHECK(strcmp(received, "hello of 0") == 0);
    CHECK(atomic_load(&default_count) == 0);
    fence(false);
    if (me.rank == 1) {
        notify(OTHER);
    }
    await(&default_count, 1);
    fence(false);
    handler_add(OTHER, on_code); /* it comes late */
    if (me.rank == 0) {
        await(&late_count, 1);
    }
    MUST(PMIx_Deregister_event_handler(id, NULL, NULL));
    fence(false);
    if (me.rank == 0) {
        notify(CODE);
    }
    await(&default_count, 2);
    CHECK(atomic_load(&code_count) == 1);
    end();
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void publish(void)
{
    pmix_info_t info;
    pmix_pdata_t found;

    if (me.rank == 0) {
        PMIX_INFO_LOAD(&info, "test.service", "port 7", PMIX_STRING);
        MUST(PMIx_Publish(&info, 1));
    }
    fence(false);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, "test.service");
    MUST(PMIx_Lookup(&found, 1, NULL, 0));
    CHECK(strcmp(found.value.data.string, "port 7") == 0 && found.proc.rank == 0);
    fence(false);
    if (me.rank == 0) {
        MUST(PMIx_Unpublish(NULL, NULL, 0));
    }
    fence(false);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, "test.service");
    CHECK(PMIx_Lookup(&found, 1, NULL, 0) == PMIX_ERR_NOT_FOUND);
}

static void ask(void)
{
    char *keys[] = { PMIX_QUERY_NAMESPACES, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *results = NULL, info;
    pmix_byte_object_t credential;
    size_t count = 0;

    MUST(PMIx_Query_info(&query, 1, &results, &count));
    CHECK(count == 1 && strstr(results[0].value.data.string, me.nspace) != NULL);
    if (me.rank == 0) {
        PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, "a line of the log\n", PMIX_STRING);
        MUST(PMIx_Log(&info, 1, NULL, 0));
    }
    MUST(PMIx_Get_credential(NULL, 0, &credential));
    MUST(PMIx_Validate_credential(&credential, NULL, 0, &results, &count));
}

static void groups(void)
{
    pmix_proc_t all;
    pmix_info_t info, *results = NULL;
    size_t count = 0;
    bool yes = true, has_id = false;

    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    MUST(PMIx_Group_construct("test.group", &all, 1, &info, 1, &results, &count));
    for (size_t i = 0; i < count; i++) {
        has_id = has_id || strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID) == 0;
    }
    CHECK(has_id);
    MUST(PMIx_Group_destruct("test.group", NULL, 0));
    MUST(PMIx_Connect(&all, 1, NULL, 0));
    MUST(PMIx_Disconnect(&all, 1, NULL, 0));
}

/* The new job waits for a file, so that it is there while it is asked about. */
static void spawn(void)
{
    char *argv[] = { "sh", "-c", "until [ -e spawn.done ]; do sleep 0.02; done", NULL };
    char nspace[PMIX_MAX_NSLEN + 1];
    pmix_app_t app = { .cmd = "sh", .argv = argv, .maxprocs = 2 };
    pmix_proc_t proc;
    pmix_value_t *value;
    FILE *file;

    unlink("spawn.done");
    MUST(PMIx_Spawn(NULL, 0, &app, 1, nspace));
    CHECK(strcmp(nspace, me.nspace) != 0);
    PMIX_LOAD_PROCID(&proc, nspace, PMIX_RANK_WILDCARD);
    MUST(PMIx_Get(&proc, PMIX_JOB_SIZE, NULL, 0, &value));
    CHECK(value->data.uint32 == 2);
    file = fopen("spawn.done", "w");
    CHECK(file != NULL);
    fclose(file);
}

static void calls(void)
{
    pmix_proc_t *procs;
    size_t count;
    char *nodes;

    begin();
    publish();
    ask();
    groups();
    if (me.rank == 0) {
        spawn();
    }
    MUST(PMIx_Resolve_peers(NULL, me.nspace, &procs, &count));
    CHECK(count == size);
    MUST(PMIx_Resolve_nodes(me.nspace, &nodes));
    CHECK(strcmp(nodes, get(0, PMIX_HOSTNAME)->data.string) == 0);
    end();
}

static void again(void)
{
    begin();
    fence(false);
    MUST(PMIx_Finalize(NULL, 0));
    begin();
    put_text(PMIX_GLOBAL, "second", "life");
    MUST(PMIx_Commit());
    fence(true);
    CHECK(strcmp(get((me.rank + 1) % size, "second")->data.string, "life") == 0);
    end();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        { "data", data }, { "events", events }, { "calls", calls }, { "again", again }
    };

    for (size_t i = 0; argc == 2 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            if (me.rank == 0) {
                printf("%s: ok\n", argv[1]);
            }
            return 0;
        }
    }
    return 2;
}
