/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.c - a host: it starts N processes of a program as one job and serves them PMIx.
 *
 * Build and run:   cc host.c $(pkg-config --cflags --libs pmix) -o host
 *                  LD_LIBRARY_PATH=PREFIX/lib ./host 4 ./hello
 * docs/embedding.md explains each step. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#define JOB "example-host.1"
#define RANKS_MAX 1024u

extern char **environ;
static const pmix_nspace_t job = "example-host.1";
static pid_t pids[RANKS_MAX];
static unsigned nranks;
static _Atomic int abort_status; /* of the rank that has called PMIx_Abort; 0: none */

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fprintf(stderr, "host: %s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

static void job_kill(void)
{
    for (unsigned rank = 0; rank < nranks; rank++) {
        if (pids[rank] > 0) {
            kill(pids[rank], SIGTERM);
        }
    }
}

/* An upcall runs on the server's thread and must not block. The return says that the work is done. */
static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *text,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t done,
                              void *cbdata)
{
    (void)object, (void)procs, (void)nprocs, (void)done, (void)cbdata;
    fprintf(stderr, "host: rank %u aborts with status %d: %s\n", proc->rank, status, text);
    abort_status = (status & 0xff) != 0 ? status & 0xff : 1;
    job_kill();
    return PMIX_OPERATION_SUCCEEDED;
}

/* A tool (shmix query) wants in. It is admitted; its name, left empty, is the server's choice. */
static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                    void *cbdata)
{
    pmix_proc_t name;

    (void)info, (void)ninfo;
    PMIX_LOAD_PROCID(&name, "", PMIX_RANK_UNDEF);
    done(PMIX_SUCCESS, &name, cbdata);
}

/* The facts about the job that every rank may read: its size, which ranks run on which node, and the
 * processes of this node, of all jobs: there is one job. */
static void job_register(void)
{
    char node[256], list[RANKS_MAX * 5], *nodes, *ranks;
    size_t used = 0;
    pmix_proc_t here[RANKS_MAX];
    pmix_data_array_t procs = { .type = PMIX_PROC, .size = nranks, .array = here };
    pmix_info_t info[4];

    gethostname(node, sizeof(node));
    for (unsigned rank = 0; rank < nranks; rank++) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u", rank ? "," : "", rank);
        PMIX_LOAD_PROCID(&here[rank], job, rank);
    }
    must(PMIx_generate_regex(node, &nodes), "PMIx_generate_regex");
    must(PMIx_generate_ppn(list, &ranks), "PMIx_generate_ppn");
    PMIX_INFO_LOAD(&info[0], PMIX_JOB_SIZE, &nranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[2], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[3], PMIX_LOCAL_PROCS, &procs, PMIX_DATA_ARRAY);
    must(PMIx_server_register_nspace(job, (int)nranks, info, 4, NULL, NULL), "register_nspace");
    for (int i = 0; i < 4; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    free(nodes);
    free(ranks);
}

static void rank_start(unsigned rank, char **argv)
{
    char **env = NULL;
    pmix_status_t rc;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, job, rank);
    must(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
         "register_client");
    PMIX_ARGV_COPY(env, environ);
    must(PMIx_server_setup_fork(&proc, &env), "setup_fork");
    PMIX_SETENV(rc, "OMPI_MCA_ess", "pmi", &env); /* else Open MPI 4.1 starts alone */
    PMIX_SETENV(rc, "OMPI_MCA_schizo", "ompi", &env);
    must(rc, "PMIX_SETENV");
    pids[rank] = fork();
    if (pids[rank] == 0) {
        environ = env;
        execvp(argv[0], argv);
        fprintf(stderr, "host: %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    PMIX_ARGV_FREE(env);
}

/* Others may wait for it, in a fence or a Get, though it has never called PMIx_Init. */
static void rank_ended(unsigned rank)
{
    pmix_proc_t proc;

    pids[rank] = 0;
    PMIX_LOAD_PROCID(&proc, job, rank);
    PMIx_server_deregister_client(&proc, NULL, NULL);
}

int main(int argc, char **argv)
{
    pmix_server_module_t upcalls = { .abort = on_abort, .tool_connected = on_tool };
    const bool yes = true;
    pmix_info_t tools;
    int exit_status = 0;

    nranks = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (nranks == 0 || nranks > RANKS_MAX) {
        fprintf(stderr, "usage: host N PROGRAM [ARGUMENTS], N from 1 to %u\n", RANKS_MAX);
        return 2;
    }
    PMIX_INFO_LOAD(&tools, PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    must(PMIx_server_init(&upcalls, &tools, 1), "PMIx_server_init");
    job_register();
    for (unsigned rank = 0; rank < nranks; rank++) {
        rank_start(rank, argv + 2);
    }
    for (unsigned left = nranks; left > 0; left--) {
        int status;
        const pid_t pid = wait(&status);

        for (unsigned rank = 0; rank < nranks; rank++) {
            if (pids[rank] == pid) {
                rank_ended(rank);
            }
        }
        if (status != 0 && exit_status == 0) {
            exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            job_kill();
        }
    }
    PMIx_server_deregister_nspace(job, NULL, NULL);
    must(PMIx_server_finalize(), "PMIx_server_finalize");
    return abort_status != 0 ? abort_status : exit_status;
}
