/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* likempich.c - the calls that an MPICH makes which was built with PMIx, with the same arguments:
 * when it starts, for names, for a spawn, and at its end.
 *
 *   likempich [PROGRAM]   rank 0 spawns one PROGRAM
 *
 * Each rank says "rank R of N: ok", or what is wrong. */
#include <pmix.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t me;
static uint32_t size;

#define MUST(holds, ...)                                                 \
    do {                                                                 \
        if (!(holds)) {                                                  \
            printf("rank %u, line %d: %s: ", me.rank, __LINE__, #holds); \
            printf(" " __VA_ARGS__);                                     \
            printf("\n");                                                \
            fflush(stdout);                                              \
            exit(1);                                                     \
        }                                                                \
    } while (0)

#define GOOD(call)                                               \
    do {                                                         \
        const pmix_status_t rc_ = (call);                        \
        MUST(rc_ == PMIX_SUCCESS, "%s", PMIx_Error_string(rc_)); \
    } while (0)

/* A process of the own job: a namespace that nobody has filled in. */
static pmix_proc_t peer(pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIX_PROC_CONSTRUCT(&proc);
    proc.rank = rank;
    return proc;
}

static pmix_proc_t own(pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, me.nspace, rank);
    return proc;
}

static pmix_value_t *get(pmix_proc_t proc, const char *key, bool at_once)
{
    pmix_value_t *value = NULL;
    pmix_info_t info;

    PMIX_INFO_CONSTRUCT(&info);
    PMIx_Info_load(&info, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    const pmix_status_t rc = PMIx_Get(&proc, key, at_once ? &info : NULL, at_once, &value);

    MUST(rc == PMIX_SUCCESS, "%s: %s", key, PMIx_Error_string(rc));
    PMIX_INFO_DESTRUCT(&info);
    return value;
}

static void get_text(pmix_proc_t proc, const char *key, const char *want)
{
    pmix_value_t *value = get(proc, key, false);

    MUST(value->type == PMIX_STRING && strcmp(value->data.string, want) == 0, "%s", key);
    PMIX_VALUE_RELEASE(value);
}

static void absent(pmix_proc_t proc, const char *key)
{
    pmix_value_t *value = NULL;
    const pmix_status_t rc = PMIx_Get(&proc, key, NULL, 0, &value);

    MUST(rc == PMIX_ERR_NOT_FOUND, "%s: %s", key, PMIx_Error_string(rc));
}

static void put(const char *key, const char *text)
{
    pmix_value_t value;

    PMIX_VALUE_CONSTRUCT(&value);
    GOOD(PMIx_Value_load(&value, text, PMIX_STRING));
    GOOD(PMIx_Put(PMIX_GLOBAL, key, &value));
    PMIX_VALUE_DESTRUCT(&value);
    GOOD(PMIx_Commit());
}

/* ---- the start ------------------------------------------------------------------------------- */

static void who_are_we(void)
{
    pmix_value_t *value = get(own(PMIX_RANK_WILDCARD), PMIX_JOB_SIZE, false);
    char want[64];

    MUST(value->type == PMIX_UINT32);
    size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    absent(me, PMIX_PARENT_ID);
    value = get(me, PMIX_APPNUM, false);
    MUST(value->type == PMIX_UINT32 && value->data.uint32 == 0);
    PMIX_VALUE_RELEASE(value);
    value = get(own(PMIX_RANK_WILDCARD), PMIX_UNIV_SIZE, false);
    MUST(value->type == PMIX_UINT32 && value->data.uint32 >= size);
    PMIX_VALUE_RELEASE(value);
    absent(own(0), PMIX_FABRIC_COORDINATES);
    snprintf(want, sizeof(want), "(vector,(0,1,%u))", size);
    value = get(own(PMIX_RANK_WILDCARD), PMIX_ANL_MAP, true);
    MUST(value->type == PMIX_STRING && strcmp(value->data.string, want) == 0, "%s",
         value->data.string);
    PMIX_VALUE_RELEASE(value);
}

static void who_is_where(void)
{
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t count = 0;

    GOOD(PMIx_Resolve_nodes(me.nspace, &nodes));
    GOOD(PMIx_Resolve_peers(nodes, me.nspace, &procs, &count));
    MUST(count == size);
    PMIX_PROC_FREE(procs, count);
    free(nodes);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void fence(const pmix_proc_t procs[], size_t count, bool collects)
{
    pmix_info_t info;

    PMIX_INFO_CONSTRUCT(&info);
    PMIx_Info_load(&info, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    GOOD(PMIx_Fence(procs, count, collects ? &info : NULL, collects));
    PMIX_INFO_DESTRUCT(&info);
}

static void exchange(void)
{
    const pmix_proc_t all = own(PMIX_RANK_WILDCARD);
    pmix_proc_t *const list = calloc(size, sizeof(*list));
    char key[64];

    MUST(list != NULL);
    for (uint32_t i = 0; i < size; i++) {
        list[i] = own(i);
    }
    snprintf(key, sizeof(key), "-allgather-shm-1-%u-0", me.rank);
    put(key, "a card");
    if (me.rank == 0) {
        put("-bcast-1-0", "of the root");
    }
    fence(&all, 1, true);
    for (uint32_t i = 0; i < size; i++) {
        snprintf(key, sizeof(key), "-allgather-shm-1-%u-0", i);
        get_text(peer(i), key, "a card");
        get_text(peer(PMIX_RANK_WILDCARD), key, "a card");
    }
    get_text(peer(PMIX_RANK_WILDCARD), "-bcast-1-0", "of the root");
    fence(&all, 1, false);
    fence(list, size, true);
    free(list);
}

/* The others of a node wait for each other while they do something else. */
static _Atomic int polled;
static void fence_done(pmix_status_t status, void *arg)
{
    polled = status == PMIX_SUCCESS ? 1 : -1;
}

static void exchange_polled(void)
{
    pmix_proc_t *const list = calloc(size, sizeof(*list));

    MUST(list != NULL);
    for (uint32_t i = 0; i < size; i++) {
        list[i] = own(i);
    }
    GOOD(PMIx_Fence_nb(list, size, NULL, 0, fence_done, NULL));
    while (polled == 0) {
        sched_yield();
    }
    MUST(polled == 1);
    free(list);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void on_set(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void sets(void)
{
    pmix_status_t code = PMIX_PROCESS_SET_DEFINE;
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_set, NULL, NULL);

    MUST(id >= 0, "%s", PMIx_Error_string(id));
    GOOD(PMIx_Deregister_event_handler((size_t)id, NULL, NULL));
}

static void names(void)
{
    char *keys[] = { (char[]){ "a service" }, NULL };
    pmix_pdata_t data;
    pmix_info_t info;

    PMIX_INFO_CONSTRUCT(&info);
    PMIx_Info_load(&info, keys[0], "a port", PMIX_STRING);
    GOOD(PMIx_Publish(&info, 1));
    PMIX_INFO_DESTRUCT(&info);
    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof(data.key), "%s", keys[0]);
    GOOD(PMIx_Lookup(&data, 1, NULL, 0));
    MUST(strcmp(data.value.data.string, "a port") == 0);
    PMIX_PDATA_DESTRUCT(&data);
    GOOD(PMIx_Unpublish(keys, NULL, 0));
}

static void spawn(char *program)
{
    pmix_nspace_t nspace = "";
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(program);
    app.maxprocs = 1;
    app.ninfo = 1;
    PMIX_INFO_CREATE(app.info, app.ninfo);
    PMIx_Info_load(&app.info[0], PMIX_WDIR, "/", PMIX_STRING);
    PMIx_Setenv("PARENT_ROOT_PORT_NAME", "the port\n", true, &app.env);
    GOOD(PMIx_Spawn(NULL, 0, &app, 1, nspace));
    MUST(nspace[0] != '\0');
    PMIX_APP_DESTRUCT(&app);
}

int main(int argc, char **argv)
{
    GOOD(PMIx_Init(&me, NULL, 0));
    who_are_we();
    who_is_where();
    exchange();
    exchange_polled();
    sets();
    if (me.rank == 0) {
        names();
        if (argc > 1) {
            spawn(argv[1]);
        }
    }
    printf("rank %u of %u: ok\n", me.rank, size);
    fflush(stdout);
    GOOD(PMIx_Finalize(NULL, 0));
    return 0;
}
