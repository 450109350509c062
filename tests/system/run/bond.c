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
 *   bond cut    the same, but the parent has disconnected, and goes on
 *   bond lost   as stay, but the killed one has been started by a shell, which lives on
 *   bond ctrl   as stay, but nobody is killed: one of them asks for the end of their job
 *   bond late   the same, but their job has a time limit
 *   bond two    the parent connects with the first ranks of two jobs, which die while their jobs go
 *               on; then it asks for the end of the first job, and waits */
#include <pmix.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static sem_t received;

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
    sem_post(&received);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static bool is_chain(const char *how)
{
    return strcmp(how, "tree") == 0 || strcmp(how, "cut") == 0;
}

/* Its parent goes with it, and does not go on. */
static bool waits(const char *how)
{
    static const char *const hows[] = { "stay", "tree", "lost", "ctrl", "late" };
    bool is = false;

    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
        is = is || strcmp(how, hows[i]) == 0;
    }
    return is;
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

static void ask_for_end(const char *nspace)
{
    pmix_info_t info;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_TERMINATE, NULL, PMIX_BOOL);
    must(PMIx_Job_control(&all, 1, &info, 1, NULL, NULL), "PMIx_Job_control");
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

static void spawn(char **argv, const pmix_info_t info[], size_t ninfo, pmix_nspace_t child)
{
    static char *by_shell[] = { "sh", "-c", "\"$0\" lost & wait; exec sleep 1000", NULL, NULL };
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    if (strcmp(argv[1], "lost") == 0) {
        by_shell[3] = argv[0];
        app.cmd = by_shell[0];
        app.argv = by_shell;
    }
    app.maxprocs = is_chain(argv[1]) ? 1 : 2;
    must(PMIx_Spawn(info, ninfo, &app, 1, child), "PMIx_Spawn");
}

__attribute__((noreturn)) static void be_parent_of_two(char **argv)
{
    pmix_status_t code = PMIX_EVENT_PROC_TERMINATED;
    pmix_nspace_t children[2];
    pmix_info_t info[2];
    pmix_proc_t some[2];

    sem_init(&received, 0, 0);
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL);
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_RECOVERABLE, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, NULL, PMIX_BOOL);
    PMIX_LOAD_PROCID(&some[0], me.nspace, PMIX_RANK_WILDCARD);
    for (int i = 0; i < 2; i++) {
        spawn(argv, info, 2, children[i]);
        PMIX_LOAD_PROCID(&some[1], children[i], 0);
        must(PMIx_Connect(some, 2, NULL, 0), "PMIx_Connect");
        sem_wait(&received);
    }
    ask_for_end(children[0]);
    for (;;) {
        pause();
    }
}

static void be_parent(char **argv)
{
    pmix_status_t code = PMIX_EVENT_JOB_END;
    const int seconds = 4;
    const bool apart = strcmp(argv[1], "apart") == 0;
    pmix_nspace_t child;
    pmix_info_t info[3];

    sem_init(&received, 0, 0);
    must(PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL) < 0 ? PMIX_ERROR
                                                                                : PMIX_SUCCESS,
         "a handler");
    PMIX_INFO_LOAD(&info[0], PMIX_NOTIFY_COMPLETION, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_SPAWN_CHILD_SEP, &apart, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_TIMEOUT, &seconds, PMIX_INT);
    spawn(argv, info, strcmp(argv[1], "late") == 0 ? 3 : 2, child);
    meet(me.nspace, child, argv[1]);
    while (waits(argv[1])) {
        pause();
    }
    sem_wait(&received);
    if (strcmp(argv[1], "part") == 0) {
        look_up();
    }
    printf("the parent goes on\n");
}

__attribute__((noreturn)) static void be_child(const pmix_proc_t *parent, char **argv)
{
    static char stay[] = "stay";
    const bool dies = strcmp(argv[1], "ctrl") != 0 && strcmp(argv[1], "late") != 0;

    if (strcmp(argv[1], "two") == 0 && me.rank == 0) {
        pmix_proc_t some[2];

        PMIX_LOAD_PROCID(&some[0], parent->nspace, PMIX_RANK_WILDCARD);
        PMIX_LOAD_PROCID(&some[1], me.nspace, 0);
        must(PMIx_Connect(some, 2, NULL, 0), "PMIx_Connect");
        kill(getpid(), SIGKILL);
    } else if (strcmp(argv[1], "two") != 0) {
        meet(parent->nspace, me.nspace, argv[1]);
    }
    if (is_chain(argv[1])) {
        argv[1] = stay;
        be_parent(argv);
    }
    if (strcmp(argv[1], "ctrl") == 0 && me.rank == 0) {
        ask_for_end(me.nspace);
    }
    if (me.rank == 1 && dies && strcmp(argv[1], "two") != 0) {
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
    if (strcmp(argv[1], "two") == 0) {
        be_parent_of_two(argv);
    }
    be_parent(argv);
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
