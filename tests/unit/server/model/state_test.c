/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state_test.c - work reaches the loop's thread and its status comes back, or the reason why
 * not. */
#include "server/model/state.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "../bare.h"

static struct sx_server server;
static pthread_t thread;

static void *run(void *arg)
{
    sx_loop_run(server.loop);
    return arg;
}

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0);
}

static void stop(void)
{
    sx_loop_stop(server.loop);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

static bool stopped;

static void end(void)
{
    if (!stopped) {
        stop();
    }
    bare_deinit(&server);
}

TestSuite(state, .init = begin, .fini = end, .timeout = 60);

static unsigned released;

static void release(void *arg)
{
    (void)arg;
    released++;
}

static pmix_status_t on_loop(struct sx_server *which, void *arg)
{
    cr_expect_eq(which, &server);
    cr_expect(sx_loop_is_own_thread(which->loop));
    cr_expect_eq(released, 0, "its argument lives");
    return *(const pmix_status_t *)arg;
}

static pmix_status_t from_loop(struct sx_server *which, void *arg)
{
    return sx_server_call(which, on_loop, arg); /* who is there already is not made to wait */
}

Test(state, a_call_runs_on_the_loop_and_brings_its_status)
{
    pmix_status_t status = PMIX_ERR_NOT_FOUND;

    cr_expect_eq(sx_server_call(&server, on_loop, &status), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_server_call(&server, from_loop, &status), PMIX_ERR_NOT_FOUND);
}

Test(state, who_gives_no_callback_waits_and_success_has_another_name)
{
    pmix_status_t status = PMIX_SUCCESS;

    cr_expect_eq(sx_server_submit(&server, on_loop, &status, release, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_expect_eq(released, 1);
    released = 0;
    status = PMIX_ERR_NOT_FOUND;
    cr_expect_eq(sx_server_submit(&server, on_loop, &status, release, NULL, NULL),
                 PMIX_ERR_NOT_FOUND);
    cr_expect_eq(released, 1);
}

static _Atomic int notified;

static void on_notified(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(cbdata, &server);
    cr_expect_eq(released, 1, "released before");
    notified = status;
}

static pmix_status_t nothing(struct sx_server *which, void *arg)
{
    (void)which;
    (void)arg;
    return PMIX_SUCCESS;
}

Test(state, a_callback_gets_the_status_once_the_argument_is_released)
{
    pmix_status_t status = PMIX_ERR_NOT_FOUND;

    cr_assert_eq(sx_server_submit(&server, on_loop, &status, release, on_notified, &server),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_server_call(&server, nothing, NULL), PMIX_SUCCESS); /* in order behind it */
    cr_expect_eq(notified, PMIX_ERR_NOT_FOUND);
}

Test(state, a_loop_that_has_stopped_takes_nothing)
{
    pmix_status_t status = PMIX_SUCCESS;

    stop();
    stopped = true;
    cr_expect_eq(sx_server_call(&server, on_loop, &status), PMIX_ERR_NOT_AVAILABLE);
    cr_expect_eq(sx_server_submit(&server, on_loop, &status, release, on_notified, &server),
                 PMIX_ERR_NOT_AVAILABLE);
    cr_expect_eq(released, 1);
}

Test(state, a_uri_says_who_and_where)
{
    server.rendezvous.uri = (char *)(uintptr_t) "unix:here";
    char *const uri = sx_server_uri(&server);

    cr_expect_str_eq(uri, "host.0;unix:here");
    free(uri);
}

/* ---- calls into the host ---------------------------------------------------------------------- */

/* The loop does not run here. */
static void begin_bare(void)
{
    bare_init(&server);
}

static void end_bare(void)
{
    bare_deinit(&server);
}

TestSuite(host_calls, .init = begin_bare, .fini = end_bare);

#define CALLS 4u

static struct noted {
    struct sx_host_call call;
    struct noted *adds; /* inside the call; NULL: nothing */
} noted[CALLS];
static struct noted *made[CALLS];
static size_t made_count;

static void note(struct sx_host_call *call)
{
    struct noted *const it = SX_CONTAINER(call, struct noted, call);

    cr_assert_lt(made_count, CALLS, "each once");
    made[made_count++] = it;
    if (it->adds != NULL) {
        const size_t before = made_count;

        sx_host_call_append(&server, &it->adds->call, note);
        cr_expect_eq(made_count, before, "not in place");
    }
}

Test(host_calls, are_made_in_the_order_of_appending_also_what_a_call_appends)
{
    sx_engine_enter(&server);
    for (size_t i = 0; i < CALLS - 1; i++) {
        sx_host_call_append(&server, &noted[i].call, note);
    }
    noted[0].adds = &noted[CALLS - 1];
    sx_engine_leave(&server);
    cr_expect_eq(made_count, 0);
    sx_host_calls_make(&server);
    cr_assert_eq(made_count, CALLS);
    for (size_t i = 0; i < CALLS; i++) {
        cr_expect_eq(made[i], &noted[i], "%zu", i);
    }
    sx_host_calls_make(&server);
    cr_expect_eq(made_count, CALLS, "none twice");
}

static void removes_the_next(struct sx_host_call *call)
{
    note(call);
    sx_list_remove(&noted[1].call.link); /* its owner has gone */
}

Test(host_calls, that_a_call_takes_away_are_not_made)
{
    sx_host_call_append(&server, &noted[0].call, removes_the_next);
    sx_host_call_append(&server, &noted[1].call, note);
    sx_host_call_append(&server, &noted[2].call, note);
    sx_host_calls_make(&server);
    cr_assert_eq(made_count, 2);
    cr_expect_eq(made[1], &noted[2]);
}

static void makes_all(struct sx_host_call *call)
{
    note(call);
    sx_host_calls_make(&server); /* as the host's wait inside its entry may do */
}

Test(host_calls, may_be_made_inside_one)
{
    sx_host_call_append(&server, &noted[0].call, makes_all);
    sx_host_call_append(&server, &noted[1].call, note);
    sx_host_calls_make(&server);
    cr_expect_eq(made_count, 2);
    cr_expect_eq(made[1], &noted[1]);
}

Test(host_calls, are_never_made_while_an_engine_works, .signal = SIGABRT)
{
    sx_engine_enter(&server);
    sx_engine_enter(&server); /* they nest */
    sx_engine_leave(&server);
    sx_host_calls_make(&server);
}

/* What runs as the server's work is an engine, also when the host calls it inside an entry. */
static pmix_status_t is_engine(struct sx_server *which, void *arg)
{
    cr_expect_eq(which->port.host.busy, 1);
    *(bool *)arg = true;
    return PMIX_SUCCESS;
}

static void calls_back(struct sx_host_call *call)
{
    bool ran = false;

    note(call);
    cr_expect_eq(server.port.host.busy, 0, "no engine is on the stack");
    cr_expect_eq(sx_server_call(&server, is_engine, &ran), PMIX_SUCCESS);
    cr_expect(ran, "in place");
    cr_expect_eq(server.port.host.busy, 0);
}

static void append_one(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_host_call_append(&server, arg, calls_back);
    cr_expect_eq(made_count, 0);
}

Test(host_calls, may_call_the_server)
{
    bare_loop(&server);
    bare_call(&server, append_one, &noted[0].call);
    cr_expect_eq(made_count, 1);
}

/* The host gets what came before its own call, in this order. */
static pmix_status_t counts_made(struct sx_server *which, void *arg)
{
    (void)which;
    *(size_t *)arg = made_count;
    return PMIX_SUCCESS;
}

static pmix_status_t appends(struct sx_server *which, void *arg)
{
    sx_host_call_append(which, arg, note);
    return PMIX_SUCCESS;
}

Test(state, a_call_of_the_host_comes_behind_what_it_is_called_for)
{
    size_t count = 0;

    cr_expect_eq(sx_server_call(&server, appends, &noted[0].call), PMIX_SUCCESS);
    cr_expect_eq(sx_server_call(&server, counts_made, &count), PMIX_SUCCESS);
    cr_expect_eq(count, 1);
}
