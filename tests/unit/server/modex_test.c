/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* modex_test.c - gets that wait, with a host that takes its time.  The ranks are children. */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosted.h"
#include "server/engine/waiting.h"
#include "server/model/state.h"

#define NSPACE "modex"

static void begin(void)
{
    hosted_begin();
    hosted_job(NSPACE, 2, 2);
}

TestSuite(modex, .init = begin, .fini = hosted_end);

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

Test(modex, a_get_waits_for_a_rank_that_is_not_registered_yet)
{
    const pid_t zero = hosted_start(NSPACE, 0, "MODEX_TEST_RANK", "yes");
    unsigned waiting = 0;

    while (waiting == 0) { /* bounded by the alarm */
        sched_yield();
        hosted_call(count_gets, &waiting);
        int status;
        cr_assert_eq(waitpid(zero, &status, WNOHANG), 0, "it did not wait");
    }
    const pid_t one = hosted_start(NSPACE, 1, "MODEX_TEST_RANK", "yes");
    cr_expect_eq(hosted_wait(zero), 0);
    cr_expect_eq(hosted_wait(one), 0);
}
