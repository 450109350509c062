/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* minihost.c - the smallest host there can be: registers one job and starts its ranks.
 *
 * usage: minihost N PROGRAM [ARGS]
 *
 * It uses the public server API alone, and of that what OpenPMIx 4.2 has too, with which it runs as
 * well; it knows nothing of `shmix run`, and gives only what a host has to give, a scheduler of
 * NODES nodes, and a fabric.  MINIHOST_KEY names a key of its own for the job's data.  It prints
 * what the library told it (connected, finalized, lost, abort) on stderr when MINIHOST_VERBOSE is
 * set.  Exit status: the first non-zero of the ranks, 128 + signal. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

static pmix_nspace_t job; /* minihost.PID: a command sees those of other tests, too */
#define RANKS_MAX 1024

static unsigned connected, finalized, lost;

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    __atomic_add_fetch(&connected, 1, __ATOMIC_RELAXED);
    return PMIX_SUCCESS;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    __atomic_add_fetch(&finalized, 1, __ATOMIC_RELAXED);
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, cbdata);
    }
    return PMIX_SUCCESS;
}

#define NODES 8u

/* There is one allocation.  Return: how many nodes are meant, 0: it is not said. */
static uint64_t nodes_of(const pmix_info_t info[], size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, PMIX_ALLOC_NUM_NODES) == 0) {
            return info[i].value.data.uint64;
        }
    }
    return 0;
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    static uint64_t allocated;
    const uint64_t nodes = nodes_of(info, ninfo);
    const bool is_new = directive == PMIX_ALLOC_NEW;
    pmix_info_t results[2];

    if (directive == PMIX_ALLOC_RELEASE) {
        allocated = 0;
        return PMIX_OPERATION_SUCCEEDED;
    }
    if (nodes > NODES - allocated) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    allocated += nodes;
    PMIX_INFO_LOAD(&results[0], PMIX_ALLOC_NUM_NODES, &allocated, PMIX_UINT64);
    PMIX_INFO_LOAD(&results[1], PMIX_ALLOC_ID, "mini.1", PMIX_STRING);
    cbfunc(PMIX_SUCCESS, results, is_new ? 2 : 1, cbdata, NULL, NULL);
    PMIx_Value_destruct(&results[1].value);
    return PMIX_SUCCESS;
}

/* The vendor of fabric 0 is "mini", and "mini again" when the host is asked once more. */
static pmix_status_t on_fabric(const pmix_proc_t *client, pmix_fabric_operation_t operation,
                               const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                               void *cbdata)
{
    const char *const vendor = operation == PMIX_FABRIC_UPDATE_INFO ? "mini again" : "mini";
    const size_t index = 0;
    pmix_info_t results[2];

    PMIX_INFO_LOAD(&results[0], PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    PMIX_INFO_LOAD(&results[1], PMIX_FABRIC_VENDOR, vendor, PMIX_STRING);
    cbfunc(PMIX_SUCCESS, results, 2, cbdata, NULL, NULL);
    PMIx_Value_destruct(&results[1].value);
    return PMIX_SUCCESS;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    if (status == PMIX_ERR_LOST_CONNECTION) {
        __atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
    }
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "minihost: %s: %d\n", what, rc);
        exit(99);
    }
}

static void job_register(unsigned n)
{
    pmix_info_t info[4];
    char *nodes, *ranks, *list = calloc(n, 8);
    const char *const key = getenv("MINIHOST_KEY");
    size_t count = 0;

    for (unsigned i = 0; i < n; i++) {
        sprintf(list + strlen(list), "%s%u", i == 0 ? "" : ",", i);
    }
    must(PMIx_generate_regex("localhost", &nodes), "generate_regex");
    must(PMIx_generate_ppn(list, &ranks), "generate_ppn");
    if (key != NULL) {
        PMIX_INFO_LOAD(&info[count++], key, &n, PMIX_UINT32);
    }
    PMIX_INFO_LOAD(&info[count++], PMIX_JOB_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[count++], PMIX_NODE_MAP, nodes, PMIX_STRING);
    PMIX_INFO_LOAD(&info[count++], PMIX_PROC_MAP, ranks, PMIX_STRING);
    must(PMIx_server_register_nspace(job, (int)n, info, count, NULL, NULL), "register_nspace");
    for (size_t i = 0; i < count; i++) {
        PMIx_Value_destruct(&info[i].value);
    }
    free(nodes);
    free(ranks);
    free(list);
}

static pid_t rank_start(unsigned rank, char **argv)
{
    extern char **environ;
    pmix_proc_t proc = { .rank = rank };
    char **env = NULL;

    memcpy(proc.nspace, job, sizeof(proc.nspace));
    must(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
         "register_client");
    const pid_t pid = fork();

    if (pid == 0) {
        /* As Slurm does: in the forked child, with an empty environment. */
        must(PMIx_server_setup_fork(&proc, &env), "setup_fork");
        for (char **at = env; *at != NULL; at++) {
            putenv(*at);
        }
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    return pid;
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = { .client_connected = on_connected,
                                    .client_finalized = on_finalized,
                                    .allocate = on_allocate,
                                    .fabric = on_fabric };
    static pid_t pids[RANKS_MAX];
    unsigned n = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    int exit_status = 0;

    if (n == 0 || n > RANKS_MAX) {
        fprintf(stderr, "usage: minihost N PROGRAM [ARGS], N from 1 to %d\n", RANKS_MAX);
        return 2;
    }
    snprintf(job, sizeof(job), "minihost.%d", (int)getpid());
    must(PMIx_server_init(&module, NULL, 0), "server_init");
    if (PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL, NULL) < 0) {
        fprintf(stderr, "minihost: no event handler\n");
        return 99;
    }
    job_register(n);
    for (unsigned i = 0; i < n; i++) {
        pids[i] = rank_start(i, argv + 2);
    }
    for (unsigned i = 0; i < n; i++) {
        int status;

        waitpid(pids[i], &status, 0);
        if (exit_status == 0 && status != 0) {
            exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
    must(PMIx_server_finalize(), "server_finalize");
    if (getenv("MINIHOST_VERBOSE") != NULL) {
        fprintf(stderr, "minihost: %u connected, %u finalized, %u lost\n", connected, finalized,
                lost);
    }
    return exit_status;
}
