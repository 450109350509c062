/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hosted.h - a server with its thread and its socket; the test is its host.
 *
 *     TestSuite(fence, .init = hosted_begin, .fini = hosted_end);
 *
 * Whatever a test waits for is bounded by the alarm of hosted_begin.  The process of a rank is this
 * program again: a constructor of the test looks for the variable that hosted_start sets. */
#ifndef SX_TEST_HOSTED_H
#define SX_TEST_HOSTED_H

#include <criterion/criterion.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "server/model/state.h"

#define HOSTED_SECONDS 60

/* With the host's entries in @module. */
static inline void hosted_begin_with(pmix_server_module_t module)
{
    alarm(HOSTED_SECONDS);
    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
}

static inline void hosted_begin(void)
{
    hosted_begin_with((pmix_server_module_t){ .abort = NULL });
}

static inline void hosted_end(void)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}

/* A job of @size processes, @local of them here; none is registered yet. */
static inline void hosted_job(const char *name, uint32_t local, uint32_t size)
{
    pmix_nspace_t nspace;
    pmix_info_t info;

    PMIx_Load_nspace(nspace, name);
    PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    cr_assert_eq(PMIx_server_register_nspace(nspace, (int)local, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

static inline void hosted_client(const char *name, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    cr_assert_eq(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

/* The same, with the local ones registered: ranks 0 to @local - 1. */
static inline void hosted_job_of(const char *name, uint32_t local, uint32_t size)
{
    hosted_job(name, local, size);
    for (uint32_t rank = 0; rank < local; rank++) {
        hosted_client(name, rank);
    }
}

static inline pmix_status_t hosted_nothing(struct sx_server *server, void *arg)
{
    (void)server, (void)arg;
    return PMIX_SUCCESS;
}

/* Call @body on the server's thread, which alone may look at its state.  When this returns, the host
 * has been called for what @body asked of it, and what it answered in those calls has arrived. */
static inline void hosted_call(sx_server_fn body, void *arg)
{
    cr_assert_eq(sx_server_call(sx_server_get(), body, arg), PMIX_SUCCESS);
    for (unsigned turn = 0; turn < 2; turn++) {
        cr_assert_eq(sx_server_call(sx_server_get(), hosted_nothing, NULL), PMIX_SUCCESS);
    }
}

/* Start a process of @rank, which is registered, with @variable in its environment. */
static inline pid_t hosted_start_registered(const char *name, pmix_rank_t rank,
                                            const char *variable, const char *value)
{
    char **env = NULL, path[] = "/proc/self/exe", *argv[] = { path, NULL };
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    PMIx_Setenv(variable, value, true, &env);
    const pid_t pid = fork();
    if (pid == 0) {
        execve(path, argv, env);
        _exit(98);
    }
    cr_assert_gt(pid, 0);
    PMIx_Argv_free(env);
    return pid;
}

/* The same for one that is not registered yet. */
static inline pid_t hosted_start(const char *name, pmix_rank_t rank, const char *variable,
                                 const char *value)
{
    hosted_client(name, rank);
    return hosted_start_registered(name, rank, variable, value);
}

/* Wait for the end of @pid.  Return: its exit code, minus the signal that killed it. */
static inline int hosted_wait(pid_t pid)
{
    int status = -1;

    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#endif
