/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state_test.c - work reaches the loop's thread and its status comes back, or the reason why
 * not. */
#include "server/model/state.h"

#include <pthread.h>
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

static _Atomic int told;

static void on_told(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(cbdata, &server);
    cr_expect_eq(released, 1, "released before");
    told = status;
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

    cr_assert_eq(sx_server_submit(&server, on_loop, &status, release, on_told, &server),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_server_call(&server, nothing, NULL), PMIX_SUCCESS); /* in order behind it */
    cr_expect_eq(told, PMIX_ERR_NOT_FOUND);
}

Test(state, a_loop_that_has_stopped_takes_nothing)
{
    pmix_status_t status = PMIX_SUCCESS;

    stop();
    stopped = true;
    cr_expect_eq(sx_server_call(&server, on_loop, &status), PMIX_ERR_NOT_AVAILABLE);
    cr_expect_eq(sx_server_submit(&server, on_loop, &status, release, on_told, &server),
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
