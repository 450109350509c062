/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_handled_test.c - the host hears when all handlers of a namespace have been called, and when
 * nobody can say so any more. */
#include "server/event/event.h"

#include "../bare.h"

static struct sx_server server;
static struct sx_nspace *job;

/* Ranks 0 and 1 are connected and have handlers, rank 2 is not; 10 records are in the ring. */
static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    job = bare_job(&server, "job", 3, 3);
    sx_list_init(&job->events_dirty);
    for (uint32_t rank = 0; rank < 2; rank++) {
        bare_connect(&server, job, rank)->has_handlers = true;
    }
    job->event_seq_last = 10;
    sx_server_set(&server);
}

static void end(void)
{
    cr_expect(sx_list_empty(&server.event.handled_askers));
    sx_server_set(NULL);
    bare_deinit(&server);
}

TestSuite(event_handled, .init = begin, .fini = end);

static void handles(uint32_t rank, uint64_t seq)
{
    atomic_store(&sx_client_find(job, rank)->lane.line->handled, seq);
    sx_eventhandled_check(&server);
    sx_host_calls_make(&server);
}

struct notified {
    unsigned count;
    pmix_status_t status;
};

static void on_notified(pmix_status_t status, void *cbdata)
{
    struct notified *const notified = cbdata;

    notified->count++;
    notified->status = status;
}

/* The question is asked on the loop's thread, where it is answered. */
struct question {
    const char *nspace;
    struct notified *notified;
    pmix_status_t rc;
};

static void ask_now(void *arg, uint64_t now_ns)
{
    struct question *const question = arg;

    (void)now_ns;
    question->rc = sx_eventhandled_ask(question->nspace, on_notified, question->notified);
}

static pmix_status_t ask(const char *nspace, struct notified *notified)
{
    struct question question = { .nspace = nspace, .notified = notified };

    bare_call(&server, ask_now, &question);
    return question.rc;
}

Test(event_handled, when_every_process_with_handlers_says_so)
{
    struct notified notified = { 0 };

    cr_assert_eq(ask("job", &notified), PMIX_SUCCESS);
    cr_expect_eq(atomic_load(&job->ring.header->handled_wanted), 10, "they are told what is asked");
    handles(0, 10);
    handles(1, 9);
    cr_expect_eq(notified.count, 0);
    job->event_seq_last = 12; /* what comes later is not waited for */
    handles(1, 10);
    handles(1, 11);
    cr_expect_eq(notified.count, 1);
    cr_expect_eq(notified.status, PMIX_SUCCESS);
}

Test(event_handled, at_once_when_nobody_has_anything_to_do)
{
    struct notified notified = { 0 };

    handles(0, 10);
    sx_client_find(job, 1)->has_handlers = false;
    cr_assert_eq(ask("job", &notified), PMIX_SUCCESS);
    cr_expect_eq(notified.count, 1);
}

Test(event_handled, without_those_who_leave)
{
    struct notified notified = { 0 };

    cr_assert_eq(ask("job", &notified), PMIX_SUCCESS);
    handles(0, 10);
    cr_expect_eq(notified.count, 0);
    sx_client_find(job, 1)->event_left = true;
    sx_eventhandled_check(&server);
    sx_host_calls_make(&server);
    cr_expect_eq(notified.count, 1);
}

Test(event_handled, not_any_more_when_the_namespace_goes)
{
    struct notified notified = { 0 }, other = { 0 };
    struct sx_nspace *const kept = bare_job(&server, "kept", 1, 1);

    sx_list_init(&kept->events_dirty);
    bare_connect(&server, kept, 0)->has_handlers = true;
    kept->event_seq_last = 1;
    cr_assert_eq(ask("job", &notified), PMIX_SUCCESS);
    cr_assert_eq(ask("kept", &other), PMIX_SUCCESS);
    sx_eventhandled_nspace_gone(&server, job);
    sx_host_calls_make(&server);
    cr_expect_eq(notified.count, 1);
    cr_expect_eq(notified.status, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(other.count, 0);
    sx_eventhandled_nspace_gone(&server, kept);
    sx_host_calls_make(&server);
    cr_expect_eq(other.count, 1);
}

Test(event_handled, is_not_asked_of_what_is_not_there)
{
    struct notified notified = { 0 };

    cr_expect_eq(ask("unknown", &notified), PMIX_ERR_NOT_FOUND);
    sx_server_set(NULL);
    cr_expect_eq(ask("job", &notified), PMIX_ERR_INIT);
    cr_expect_eq(notified.count, 0);
}
