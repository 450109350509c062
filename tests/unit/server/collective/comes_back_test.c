/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* comes_back_test.c - a process ends in an operation, and another comes in its place.  The ranks are
 * children. */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../hosted.h"
#include "server/collective/collective.h"
#include "server/model/state.h"

#define NSPACE "back"
#define RANKS 3u
#define ROLE "COMES_BACK_TEST_ROLE"

TestSuite(comes_back, .init = hosted_begin, .fini = hosted_end, .timeout = 60);

/* ---- the ranks -------------------------------------------------------------------------------- */

static void ignore(pmix_status_t status, void *cbdata)
{
    (void)status, (void)cbdata;
}

static void signal_await(void)
{
    sigset_t set;
    int signal;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    (void)sigwait(&set, &signal);
}

/* The first call of each has the same number.  Return: what the program returns. */
static int call(const char *role, const pmix_proc_t procs[RANKS])
{
    if (strcmp(role, "fences") == 0) {
        return PMIx_Fence(procs, RANKS, NULL, 0) == PMIX_SUCCESS ? 0 : 2;
    }
    if (strcmp(role, "connects") == 0) { /* the others do not */
        return PMIx_Connect(procs, RANKS, NULL, 0) != PMIX_SUCCESS ? 0 : 3;
    }
    if (strcmp(role, "waits") == 0) {
        (void)PMIx_Fence_nb(procs, RANKS, NULL, 0, ignore, NULL);
        pause();
    }
    if (strcmp(role, "leaves") == 0) {
        (void)PMIx_Connect_nb(procs, RANKS, NULL, 0, ignore, NULL);
    }
    signal_await();
    return 0;
}

static int rank_main(const char *role)
{
    pmix_proc_t me, procs[RANKS];

    alarm(60);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 1;
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        PMIx_Load_procid(&procs[rank], me.nspace, rank);
    }
    int rc = call(role, procs);

    rc = PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? rc : 4;
    if (strcmp(role, "leaves") == 0) {
        signal_await();
    }
    return rc;
}

/* Before any test of this program: a rank does not run them. */
__attribute__((constructor)) static void rank_or_test(void)
{
    const char *const role = getenv(ROLE);

    if (role != NULL) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, NULL);
        _exit(rank_main(role));
    }
}

/* ---- the host --------------------------------------------------------------------------------- */

struct seen {
    size_t open, called; /* operations, and members of the oldest that have called it */
    bool is_here;        /* rank 0 is connected */
};

static pmix_status_t look(struct sx_server *server, void *arg)
{
    struct sx_list *const all = &server->collective.all;
    const struct sx_client *const zero = sx_client_find(sx_nspace_find(server, NSPACE), 0);

    *(struct seen *)arg = (struct seen){
        .open = server->collective.open_count,
        .called = sx_list_empty(all)
                      ? 0
                      : SX_LIST_ENTRY(all->next, struct sx_collective, link)->members.arrived_count,
        .is_here = zero != NULL && zero->state == SX_CLIENT_CONNECTED,
    };
    return PMIX_SUCCESS;
}

static void wait_until(size_t open, size_t called)
{
    struct seen seen = { .open = SIZE_MAX };

    while (seen.open != open || seen.called != called) { /* bounded by the suite */
        sched_yield();
        hosted_call(look, &seen);
    }
}

static void wait_until_here(bool here)
{
    struct seen seen = { .is_here = !here };

    while (seen.is_here != here) { /* bounded by the suite */
        sched_yield();
        hosted_call(look, &seen);
    }
}

Test(comes_back, and_is_not_released_from_the_call_of_the_process_before)
{
    hosted_job(NSPACE, RANKS, RANKS);
    const pid_t one = hosted_start(NSPACE, 1, ROLE, "fences");

    wait_until(1, 1);
    const pid_t first = hosted_start(NSPACE, 0, ROLE, "waits");

    wait_until(1, 2);
    kill(first, SIGKILL);
    cr_expect_eq(hosted_wait(first), -SIGKILL);
    wait_until_here(false);
    const pid_t second = hosted_start(NSPACE, 0, ROLE, "connects");

    wait_until(2, 2);
    const pid_t two = hosted_start(NSPACE, 2, ROLE, "fences");

    cr_expect_eq(hosted_wait(one), 0);
    cr_expect_eq(hosted_wait(two), 0);
    cr_expect_eq(hosted_wait(second), 0, "the fence has ended its connect");
}

/* There are too many ends of others. */
static pmix_status_t ends_wait(struct sx_server *server, void *arg)
{
    (void)arg;
    server->collective.ending.max = server->collective.ending.left = 0;
    return PMIX_SUCCESS;
}

Test(comes_back, after_the_good_bye_of_the_process_before_has_ended_its_operations)
{
    struct seen seen;

    hosted_job(NSPACE, RANKS, RANKS);
    const pid_t first = hosted_start(NSPACE, 0, ROLE, "leaves");

    wait_until(1, 1);
    hosted_call(ends_wait, NULL);
    kill(first, SIGUSR1);
    wait_until_here(false);
    wait_until(1, 1); /* its end is still to be acted on */
    const pid_t second = hosted_start_registered(NSPACE, 0, ROLE, "stays");

    wait_until_here(true);
    hosted_call(look, &seen);
    cr_expect_eq(seen.open, 0);
    kill(second, SIGUSR1);
    cr_expect_eq(hosted_wait(second), 0);
    kill(first, SIGUSR1);
    cr_expect_eq(hosted_wait(first), 0);
}
