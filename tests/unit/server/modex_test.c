/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex_test.c - gets that wait, with a host that takes its time.  The ranks are children. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "server/engine/waiting.h"
#include "server/model/state.h"

#define NSPACE "modex"

static void begin(void)
{
    pmix_server_module_t module = { .abort = NULL };
    const uint32_t size = 2;
    pmix_nspace_t nspace;
    pmix_info_t info;

    alarm(60);
    PMIx_Load_nspace(nspace, NSPACE);
    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
    PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    cr_assert_eq(PMIx_server_register_nspace(nspace, 2, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

static void end(void)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}

TestSuite(modex, .init = begin, .fini = end);

/* Start a rank, which execs this program again and leaves by the code of rank_main. */
static pid_t start(pmix_rank_t rank)
{
    char **env = NULL, path[] = "/proc/self/exe";
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, NSPACE, rank);
    cr_assert_eq(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    PMIx_Setenv("MODEX_TEST_RANK", "yes", true, &env);
    char *argv[] = { path, NULL };
    const pid_t pid = fork();
    if (pid == 0) {
        execve(path, argv, env);
        _exit(98);
    }
    cr_assert_gt(pid, 0);
    PMIx_Argv_free(env);
    return pid;
}

/* Rank 0 wants what rank 1 puts. */
static int rank_main(void)
{
    pmix_value_t put = { .type = PMIX_UINT32, .data.uint32 = 5 }, *value = NULL;
    pmix_proc_t me, other;

    alarm(60);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    other = me;
    other.rank = 1;
    if (me.rank == 1 &&
        (PMIx_Put(PMIX_GLOBAL, "late", &put) != PMIX_SUCCESS || PMIx_Commit() != PMIX_SUCCESS)) {
        return 2;
    }
    if (PMIx_Get(&other, "late", NULL, 0, &value) != PMIX_SUCCESS || value->data.uint32 != 5) {
        return 3;
    }
    free(value);
    return PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS && PMIx_Finalize(NULL, 0) == PMIX_SUCCESS
               ? 0
               : 4;
}

/* Before any test of this program: a rank is not to run them. */
__attribute__((constructor)) static void rank_or_test(void)
{
    if (getenv("MODEX_TEST_RANK") != NULL) {
        _exit(rank_main());
    }
}

static pmix_status_t count_gets(struct sx_server *server, void *arg)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);

    SX_LIST_EACH(it, &nspace->awaited) {
        *(unsigned *)arg += SX_LIST_ENTRY(it, struct sx_awaited, link)->wait_count;
    }
    return PMIX_SUCCESS;
}

static int ends_with(pid_t pid)
{
    int status = -1;

    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Test(modex, a_get_waits_for_a_rank_that_is_not_registered_yet)
{
    const pid_t zero = start(0);
    unsigned waiting = 0;

    while (waiting == 0) { /* bounded by the alarm */
        sched_yield();
        cr_assert_eq(sx_server_call(sx_server_get(), count_gets, &waiting), PMIX_SUCCESS);
        int status;
        cr_assert_eq(waitpid(zero, &status, WNOHANG), 0, "it did not wait");
    }
    const pid_t one = start(1);
    cr_expect_eq(ends_with(zero), 0);
    cr_expect_eq(ends_with(one), 0);
}
