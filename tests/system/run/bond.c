/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bond.c - spawns two of itself and connects with them; then one of those is killed.
 *
 *   bond stay   they are connected when that happens, and the parent waits for nothing else
 *   bond part   they have disconnected; the parent says when it has heard of it, and goes on: what
 *               it looks for and nobody publishes is waited for to the end of its time
 *   bond keep   they are connected, and the parent says the same
 *   bond apart  the same with a job that is spawned as a separate one
 *   bond tree   the parent spawns one, connects with it and waits; that one does as in stay
 *   bond cut    the same, but the parent has disconnected, and goes on */
#include <pmix.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static sem_t heard;

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        printf("rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
        exit(1);
    }
}

static void on_end(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    sem_post(&heard);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static bool is_chain(const char *how)
{
    return strcmp(how, "tree") == 0 || strcmp(how, "cut") == 0;
}

static void meet(const char *parent, const char *child, const char *how)
{
    pmix_proc_t all[2];

    PMIX_LOAD_PROCID(&all[0], parent, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&all[1], child, PMIX_RANK_WILDCARD);
    must(PMIx_Connect(all, 2, NULL, 0), "PMIx_Connect");
    if (strcmp(how, "part") == 0 || strcmp(how, "cut") == 0) {
        must(PMIx_Disconnect(all, 2, NULL, 0), "PMIx_Disconnect");
    }
}

static void look_up(void)
{
    const int wait = 0, seconds = 1;
    pmix_info_t info[2];
    pmix_pdata_t data;

    PMIX_INFO_LOAD(&info[0], PMIX_WAIT, &wait, PMIX_INT);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, "published by nobody");
    const pmix_status_t rc = PMIx_Lookup(&data, 1, info, 2);

    must(rc == PMIX_ERR_TIMEOUT ? PMIX_SUCCESS : rc, "PMIx_Lookup");
}

static void be_parent(char **argv)
{
    pmix_status_t code = PMIX_EVENT_JOB_END;
    const bool apart = strcmp(argv[1], "apart") == 0;
    pmix_nspace_t child;
    pmix_info_t info[2];
    pmix_app_t app;

    sem_init(&heard, 0, 0);
    must(PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL) < 0 ? PMIX_ERROR
                                                                                : PMIX_SUCCESS,
         "a handler");
    PMIX_INFO_LOAD(&info[0], PMIX_NOTIFY_COMPLETION, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SPAWN_CHILD_SEP, &apart, PMIX_BOOL);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.maxprocs = is_chain(argv[1]) ? 1 : 2;
    must(PMIx_Spawn(info, 2, &app, 1, child), "PMIx_Spawn");
    meet(me.nspace, child, argv[1]);
    while (strcmp(argv[1], "stay") == 0 || strcmp(argv[1], "tree") == 0) {
        pause();
    }
    sem_wait(&heard);
    if (strcmp(argv[1], "part") == 0) {
        look_up();
    }
    printf("the parent goes on\n");
}

__attribute__((noreturn)) static void be_child(const pmix_proc_t *parent, char **argv)
{
    static char stay[] = "stay";

    meet(parent->nspace, me.nspace, argv[1]);
    if (is_chain(argv[1])) {
        argv[1] = stay;
        be_parent(argv);
    }
    if (me.rank == 1) {
        kill(getpid(), SIGKILL);
    }
    for (;;) {
        pause();
    }
}

int main(int argc, char **argv)
{
    pmix_value_t *value;

    if (argc != 2) {
        return 2;
    }
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    if (PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &value) == PMIX_SUCCESS) {
        be_child(value->data.proc, argv);
    }
    be_parent(argv);
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
