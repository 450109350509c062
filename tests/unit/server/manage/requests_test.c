/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* requests_test.c - a client's request to end processes is read, handed to the host, and answered
 * with its word. */
#include "server/manage/manage.h"

#include "../answers.h"
#include "../bare_events.h"
#include "../opened.h"
#include "../proc_list.h"
#include "server/model/membership.h"

/* ---- the host -------------------------------------------------------------------------------- */

static struct {
    unsigned count;
    int status;
    char msg[32];
    size_t nprocs;
    pmix_rank_t rank; /* of the last process */
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
} asked;

static pmix_status_t verdict;

static pmix_status_t on_abort(const pmix_proc_t *proc, void *server_object, int status,
                              const char msg[], pmix_proc_t procs[], size_t nprocs,
                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object;
    cr_expect_eq(proc->rank, 1);
    asked.count++;
    asked.status = status;
    memset(asked.msg, 0, sizeof(asked.msg));
    strncpy(asked.msg, msg != NULL ? msg : "none", sizeof(asked.msg) - 1);
    asked.nprocs = nprocs;
    asked.rank = nprocs > 0 ? procs[nprocs - 1].rank : PMIX_RANK_UNDEF;
    asked.cbfunc = cbfunc;
    asked.cbdata = cbdata;
    return verdict;
}

/* ---- the client
 * ------------------------------------------------------------------------------- */

static struct sx_server server;
static struct sx_client *client;
static struct answers answers;
static struct proc_list body;

static struct sx_abort *head(void)
{
    return (struct sx_abort *)(void *)body.bytes;
}

static void begin(void)
{
    bare_events_init(&server);
    server.module.abort = on_abort;
    client = bare_connect(&server, bare_job(&server, "job", 2, 2), 1);
    answers_begin(&answers, &server, client);
    body = (struct proc_list){ .size = sizeof(struct sx_abort) };
    *head() = (struct sx_abort){ .status = 42 };
}

static void end(void)
{
    answers_end(&answers, client);
    bare_events_deinit(&server);
}

TestSuite(abort, .init = begin, .fini = end);

static struct sx_frame frame;
static bool good;

static void request_now(void *arg, uint64_t now_ns)
{
    (void)arg;
    good = sx_abort_on_abort(&server, client, &frame, now_ns);
}

static bool request(uint32_t id, size_t size)
{
    frame = opened_frame(SX_MSG_ABORT, id, body.bytes, size);
    bare_call(&server, request_now, NULL);
    return good;
}

static void answer_now(void *status, uint64_t now_ns)
{
    (void)now_ns;
    asked.cbfunc(*(const pmix_status_t *)status, asked.cbdata);
}

static void add_text(const char *text)
{
    head()->msg_size = (uint32_t)strlen(text) + 1;
    memcpy(body.bytes + body.size, text, head()->msg_size);
    body.size += head()->msg_size;
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

Test(abort, is_answered_when_the_host_has_answered)
{
    pmix_status_t refused = PMIX_ERR_NO_PERMISSIONS;

    proc_list_add(&body, 0, "job");
    head()->proc_count = 1;
    add_text("why");
    cr_assert(request(7, body.size));
    cr_expect_eq(asked.count, 1);
    cr_expect_eq(asked.status, 42);
    cr_expect_str_eq(asked.msg, "why");
    cr_expect_eq(asked.nprocs, 1);
    cr_expect_eq(asked.rank, 0);
    cr_expect(answers_none(&answers));
    bare_call(&server, answer_now, &refused);
    cr_expect_eq(answers_next(&answers, 7), PMIX_ERR_NO_PERMISSIONS);
}

Test(abort, of_all_names_nobody_and_may_say_nothing)
{
    verdict = PMIX_OPERATION_SUCCEEDED;
    cr_assert(request(8, body.size));
    cr_expect_eq(asked.nprocs, 0);
    cr_expect_str_eq(asked.msg, "none");
    cr_expect_eq(answers_next(&answers, 8), PMIX_SUCCESS);
}

Test(abort, that_the_host_refuses_or_does_not_know_is_answered_so)
{
    verdict = PMIX_ERR_BAD_PARAM;
    cr_assert(request(9, body.size));
    cr_expect_eq(answers_next(&answers, 9), PMIX_ERR_BAD_PARAM);
    server.module.abort = NULL;
    cr_assert(request(10, body.size));
    cr_expect_eq(answers_next(&answers, 10), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(asked.count, 1);
}

Test(abort, of_connected_processes_names_them_to_the_host)
{
    const pmix_proc_t procs[] = { { "job", 1 }, { "far", 7 } };

    bare_job(&server, "far", 9, 0);
    bare_connected(&server, "both", procs, 2);
    verdict = PMIX_OPERATION_SUCCEEDED;
    proc_list_add(&body, PMIX_RANK_WILDCARD, "both");
    head()->proc_count = 1;
    add_text("all");
    cr_assert(request(11, body.size));
    cr_expect_eq(answers_next(&answers, 11), PMIX_SUCCESS);
    cr_expect_eq(asked.nprocs, 2);
    cr_expect_eq(asked.rank, 1, "the last one of far and job");
    body.size = sizeof(struct sx_abort);
    proc_list_add(&body, 2, "both");
    add_text("nobody");
    cr_assert(request(12, body.size));
    cr_expect_eq(answers_next(&answers, 12), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(asked.count, 1);
}

static void request_large(void *arg, uint64_t now_ns)
{
    (void)arg;
    good = sx_abort_on_abort(&server, client, &frame, now_ns);
    sx_frame_release(&frame);
}

static void step_now(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    sx_share_work_step(client);
}

/* Request 13 of the client: to end @count processes, one by one. */
static void abort_many(uint32_t count)
{
    static pmix_proc_t procs[SX_PROCS_MAX];
    struct sx_abort request = { .status = 42 };
    struct sx_draft draft = { .head = &request,
                              .signature = sx_message_spec(SX_MSG_ABORT)->body,
                              .nspace = "",
                              .parts[SX_ABORT_PROCS] = { procs, count },
                              .parts[SX_ABORT_TEXT] = { "why", 4 } };
    size_t size;

    verdict = PMIX_OPERATION_SUCCEEDED;
    for (uint32_t i = 0; i < count; i++) {
        PMIx_Load_procid(&procs[i], "job", i);
    }
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    struct sx_pages pages = { .at = NULL };

    cr_assert(sx_pages_grow(&pages, 0, size));
    cr_assert_eq(sx_body_write(&draft, pages.at), PMIX_SUCCESS);
    frame = opened_frame(SX_MSG_ABORT, 13, pages.at, size);
    frame.bulk_pages = pages;
    bare_call(&server, request_large, NULL);
    cr_assert(good);
}

/* The event about many processes has its memory in one turn, is published in the next, and the host
 * is asked in the one after: each is charged, and none is as long as all of the message may be. */
Test(abort, of_many_is_notified_and_asked_in_three_turns)
{
    enum { MANY = 12000 };

    abort_many(MANY);
    for (unsigned step = 0; step < 3; step++) {
        const uint32_t spent = client->share.spent;

        cr_expect_eq(client->nspace->events.newest, step == 2, "%u", step);
        cr_expect_eq(asked.count, 0, "%u", step);
        cr_assert_not(sx_list_empty(&client->share.works), "%u", step);
        bare_call(&server, step_now, NULL);
        cr_expect_geq(client->share.spent - spent, MANY / 8);
        cr_expect_leq(client->share.spent - spent, MANY / 5);
    }
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(asked.count, 1);
    cr_expect_eq(asked.nprocs, MANY);
    cr_expect_str_eq(asked.msg, "why");
    client->share.units = 1;
    if (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
    }
    cr_expect_eq(answers_next(&answers, 13), PMIX_SUCCESS);
}

/* Four events name them, each in a turn of its own, and the host is asked once. */
Test(abort, of_more_than_an_event_holds_is_notified_in_parts)
{
    const unsigned parts = 4;
    unsigned steps = 0;

    abort_many(SX_PROCS_MAX);
    while (!sx_list_empty(&client->share.works)) {
        cr_expect_eq(client->nspace->events.newest, steps < 2 ? 0 : steps - 1, "%u", steps);
        cr_expect_eq(asked.count, 0, "%u", steps);
        bare_call(&server, step_now, NULL);
        steps++;
    }
    cr_expect_eq(steps, parts + 2);
    cr_expect_eq(client->nspace->events.newest, parts);
    cr_expect_eq(asked.count, 1);
    cr_expect_eq(asked.nprocs, SX_PROCS_MAX);
}

enum { MEMBERS = 5000, NAMING_STEPS = 3 };
static_assert(MEMBERS > 2 * SX_ALIAS_NAMED_PER_TURN && MEMBERS <= 3 * SX_ALIAS_NAMED_PER_TURN,
              "three turns name them");

/* The connected processes "many", of the job. */
static void group_make(void)
{
    static pmix_proc_t procs[MEMBERS];

    for (uint32_t i = 0; i < MEMBERS; i++) {
        PMIx_Load_procid(&procs[i], "job", i);
    }
    bare_connected(&server, "many", procs, MEMBERS);
}

/* Its members get their names in turns of their own, each of which is charged, before the three of
 * a list of them.  The short message with its text has been overwritten by then. */
Test(abort, of_a_group_of_many_names_them_in_steps)
{
    group_make();
    verdict = PMIX_OPERATION_SUCCEEDED;
    proc_list_add(&body, PMIX_RANK_WILDCARD, "many");
    head()->proc_count = 1;
    add_text("why");
    cr_assert(request(13, body.size));
    memset(body.bytes, 'x', sizeof(body.bytes));
    for (unsigned step = 0; step < NAMING_STEPS + 3; step++) {
        const uint32_t spent = client->share.spent;

        cr_expect_eq(client->nspace->events.newest, step == NAMING_STEPS + 2, "%u", step);
        cr_expect_eq(asked.count, 0, "%u", step);
        cr_assert_not(sx_list_empty(&client->share.works), "%u", step);
        bare_call(&server, step_now, NULL);
        cr_expect_geq(client->share.spent - spent,
                      step < NAMING_STEPS ? SX_ALIAS_NAMED_UNITS : MEMBERS / 8, "%u", step);
    }
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(asked.count, 1);
    cr_expect_eq(asked.nprocs, MEMBERS);
    cr_expect_eq(asked.rank, MEMBERS - 1);
    cr_expect_str_eq(asked.msg, "why");
}

/* The host would end whomever it is told of. */
Test(abort, of_another_users_processes_does_not_reach_the_host)
{
    struct sx_client *const other = sx_client_find(bare_job(&server, "other", 1, 1), 0);

    verdict = PMIX_OPERATION_SUCCEEDED;
    proc_list_add(&body, 0, "other");
    head()->proc_count = 1;
    client->uid = 1001;
    other->uid = 1002;
    cr_assert(request(11, body.size));
    cr_expect_eq(answers_next(&answers, 11), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(asked.count, 0);
    cr_expect_eq(client->nspace->events.newest, 0, "nor is it an event");
    client->uid = 0;
    cr_assert(request(12, body.size));
    cr_expect_eq(answers_next(&answers, 12), PMIX_SUCCESS);
    cr_expect_eq(asked.count, 1);
}
