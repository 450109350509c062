/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - the smallest host that takes tools, for programs that are their own: the launcher with
 * which OpenPMIx is compared elsewhere (mpirun.openmpi 4.1) takes none.  What both libraries can
 * have a host do: fences of one node are complete at once, tools get a name, and questions that the
 * library passes on get an answer. */
#ifndef SX_BENCH_COMPARE_HOST_H
#define SX_BENCH_COMPARE_HOST_H

#include <sys/wait.h>
#include <unistd.h>

#include <pmix_server.h>

#include "compare.h"

#define HOST_RANKS_MAX 64

static const pmix_nspace_t host_job = "bench.job";
static unsigned host_ranks;

static pmix_status_t host_client(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                 void *cbdata)
{
    (void)proc, (void)object;
    if (cbfunc != NULL) {
        cbfunc(PMIX_SUCCESS, cbdata);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t host_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                                void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo;
    cbfunc(PMIX_SUCCESS, data, ndata, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static void host_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                      void *cbdata)
{
    static unsigned number;
    pmix_proc_t name = { .rank = 0 };

    (void)info, (void)ninfo;
    snprintf(name.nspace, sizeof(name.nspace), "bench.tool.%u", number++);
    cbfunc(PMIX_SUCCESS, &name, cbdata);
}

static void host_freed(void *arg)
{
    free(arg);
}

/* The size of the job, or the names of all. */
static pmix_status_t host_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    pmix_info_t *const info = calloc(1, sizeof(*info));

    (void)proc, (void)nqueries;
    if (strcmp(queries[0].keys[0], PMIX_JOB_SIZE) == 0) {
        PMIX_INFO_LOAD(info, PMIX_JOB_SIZE, &host_ranks, PMIX_UINT32);
    } else {
        PMIX_INFO_LOAD(info, PMIX_QUERY_NAMESPACES, host_job, PMIX_STRING);
    }
    cbfunc(PMIX_SUCCESS, info, 1, cbdata, host_freed, info);
    return PMIX_SUCCESS;
}

static void host_must(pmix_status_t rc, const char *what)
{
    must(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, what);
}

static void host_register(void)
{
    char *nodes, *ranks, list[8 * HOST_RANKS_MAX] = "";
    pmix_info_t info[3];

    for (unsigned i = 0; i < host_ranks; i++) {
        sprintf(list + strlen(list), "%s%u", i == 0 ? "" : ",", i);
    }
    must(PMIx_generate_regex("localhost", &nodes), "generate_regex");
    must(PMIx_generate_ppn(list, &ranks), "generate_ppn");
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &host_ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_NODE_MAP, nodes, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_PROC_MAP, ranks, PMIX_STRING);
    host_must(PMIx_server_register_nspace(host_job, (int)host_ranks, info, 3, NULL, NULL),
              "register_nspace");
}

static pid_t host_start(unsigned rank, char **argv)
{
    extern char **environ;
    pmix_proc_t proc = { .rank = rank };
    char **env = NULL;

    memcpy(proc.nspace, host_job, sizeof(proc.nspace));
    host_must(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
              "register_client");
    must(PMIx_server_setup_fork(&proc, &env), "setup_fork");
    const pid_t pid = fork();

    if (pid == 0) {
        for (char **at = env; *at != NULL; at++) {
            putenv(*at);
        }
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    return pid;
}

/* Whether somebody has started this process as a rank. */
static inline bool host_is_rank(void)
{
    return getenv("PMIX_RANK") != NULL;
}

/* Start @ranks processes of this program, and wait for them.  Return: an exit code. */
static inline int host_run(unsigned ranks, char **argv)
{
    pmix_server_module_t module = { .client_connected = host_client,
                                    .client_finalized = host_client,
                                    .fence_nb = host_fence,
                                    .tool_connected = host_tool,
                                    .query = host_query };
    const bool yes = true;
    pmix_info_t info;
    pid_t pids[HOST_RANKS_MAX];
    int code = 0, status;

    host_ranks = ranks;
    must(ranks > 0 && ranks <= HOST_RANKS_MAX ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM, "ranks");
    PMIX_INFO_LOAD(&info, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    must(PMIx_server_init(&module, &info, 1), "server_init");
    host_register();
    for (unsigned i = 0; i < ranks; i++) {
        pids[i] = host_start(i, argv);
    }
    for (unsigned i = 0; i < ranks; i++) {
        code |= waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    }
    must(PMIx_server_finalize(), "server_finalize");
    return code;
}

#endif
