/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_codes_test.c - codes are counted by handler and by client; the host is asked for one when
 * the first wants it and told when the last does not. */
#include "server/event/event_codes.h"

#include "../answers.h"
#include "../bare.h"
#include "server/port/port.h"
#include "shmix.h"

#define CODE (-4000) /* of a host: below PMIX_EXTERNAL_ERR_BASE */
#define QUESTION 9

static struct sx_server server;
static struct sx_nspace *job;
static int dropped; /* codes that the host was told of */

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    (void)cbfunc;
    (void)cbdata;
    cr_expect_eq(ncodes, 1);
    cr_expect_eq(codes[0], CODE);
    dropped++;
    return PMIX_ERR_NOT_SUPPORTED; /* it answers nothing later */
}

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    server.module.deregister_events = on_deregister;
    job = bare_job(&server, "job", 2, 2);
}

static void end(void)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        sx_event_codes_client_left(&server, sx_client_find(job, rank));
    }
    cr_expect_eq(server.event.codes.table.count, 0);
    sx_event_codes_clear(&server.event.codes);
    bare_deinit(&server);
}

TestSuite(event_codes, .init = begin, .fini = end);

Test(event_codes, are_counted_and_bounded)
{
    static const pmix_status_t order[] = { 5, -9, 0, 7, -9, 5, -9 };
    static const uint32_t counts[] = { 1, 1, 1, 1, 2, 2, 3 };
    struct sx_event_codes codes = { .seed = 1 };

    for (size_t i = 0; i < SX_COUNT(order); i++) {
        cr_expect_eq(sx_event_codes_add(&codes, order[i], 4), counts[i], "%zu", i);
    }
    cr_expect_eq(sx_event_codes_add(&codes, 6, 4), 0, "a fifth one");
    cr_expect_eq(codes.table.count, 4);
    cr_expect_null(sx_event_codes_find(&codes, 6));
    cr_expect_not(sx_event_codes_remove(&codes, 6, NULL), "it never came");
    cr_expect_not(sx_event_codes_remove(&codes, 5, NULL), "one is left");
    cr_expect(sx_event_codes_remove(&codes, 5, NULL));
    cr_expect_null(sx_event_codes_find(&codes, 5));
    cr_expect_eq(sx_event_codes_find(&codes, -9)->count, 3);
    cr_expect_eq(sx_event_codes_find(&codes, 7)->count, 1);
    sx_event_codes_clear(&codes);
    cr_expect_eq(codes.table.count, 0);
    cr_expect_null(codes.table.buckets);
}

Test(event_codes, do_not_count_beyond_their_type)
{
    struct sx_event_codes codes = { .seed = 1 };

    cr_assert_eq(sx_event_codes_add(&codes, CODE, 1), 1);
    sx_event_codes_find(&codes, CODE)->count = UINT32_MAX;
    cr_expect_eq(sx_event_codes_add(&codes, CODE, 1), 0);
    cr_expect_eq(sx_event_codes_find(&codes, CODE)->count, UINT32_MAX);
    sx_event_codes_clear(&codes);
}

/* A code more or less moves no other: a client may have thousands, and a server many more. */
Test(event_codes, stay_where_they_are)
{
    struct sx_event_codes codes = { .seed = 1 };

    cr_assert_eq(sx_event_codes_add(&codes, CODE, SX_EVENT_CODES_PER_CLIENT), 1);
    const struct sx_event_code *const first = sx_event_codes_find(&codes, CODE);

    for (pmix_status_t i = 1; i < 1000; i++) {
        cr_assert_eq(sx_event_codes_add(&codes, CODE - i, SX_EVENT_CODES_PER_CLIENT), 1);
    }
    cr_expect_eq(sx_event_codes_find(&codes, CODE), first);
    cr_assert(sx_event_codes_remove(&codes, CODE - 1, NULL));
    cr_expect_eq(sx_event_codes_find(&codes, CODE), first);
    sx_event_codes_clear(&codes);
}

/* Which codes a host can bring, by what the handler asked for. */
static const struct {
    pmix_status_t code;
    bool plain, environment;
} outside[] = {
    { CODE, true, true },
    { 1, true, true },
    { PMIX_SUCCESS, false, false },
    { PMIX_ERR_LOST_CONNECTION, false, false },
    { PMIX_ERR_NODE_DOWN, false, true },
    { PMIX_EXTERNAL_ERR_BASE, false, false },
    { SHMIX_ERR_EVENTS_LOST, false, false },
    { SHMIX_ERR_VALUES_LOST, false, false },
    { PMIX_PROC_HAS_DISCONNECTED, true, true },
};

static bool asks(struct sx_client *client, pmix_status_t code, bool environment)
{
    bool ask = false;

    cr_assert_eq(sx_event_code_wanted(&server, client, code, environment, QUESTION, &ask),
                 PMIX_SUCCESS);
    return ask;
}

Test(event_codes, from_inside_are_passed_over)
{
    struct sx_client *const client = sx_client_find(job, 0);

    server.module.deregister_events = NULL;
    for (size_t i = 0; i < SX_COUNT(outside); i++) {
        cr_expect_eq(asks(client, outside[i].code, false), outside[i].plain, "%d", outside[i].code);
        sx_event_code_unwanted(&server, client, outside[i].code, false);
        cr_expect_eq(asks(client, outside[i].code, true), outside[i].environment, "%d",
                     outside[i].code);
        sx_event_code_unwanted(&server, client, outside[i].code, true);
        cr_expect_eq(server.event.codes.table.count, 0, "%d", outside[i].code);
    }
}

Test(event_codes, ask_the_host_once_and_notify_it_when_the_last_has_gone)
{
    struct sx_client *const first = sx_client_find(job, 0), *const second = sx_client_find(job, 1);

    cr_expect(asks(first, CODE, false));
    cr_expect_not(asks(first, CODE, false), "its second handler");
    cr_expect_not(asks(second, CODE, false));
    cr_expect_not(asks(NULL, CODE, true), "the host's own");
    cr_expect_eq(sx_event_codes_find(&server.event.codes, CODE)->count, 3);
    sx_event_code_unwanted(&server, first, CODE, false);
    cr_expect_eq(sx_event_codes_find(&server.event.codes, CODE)->count, 3);
    sx_event_codes_client_left(&server, first);
    sx_event_codes_client_left(&server, first);
    cr_expect_eq(sx_event_codes_find(&server.event.codes, CODE)->count, 2);
    sx_event_code_unwanted(&server, NULL, CODE, true);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(dropped, 0);
    sx_event_code_unwanted(&server, second, CODE, false);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(dropped, 1);
    cr_expect(asks(first, CODE, false), "and anew for the next one");
    sx_event_code_unwanted(&server, first, CODE, false);
    sx_event_codes_client_left(&server, first);
    cr_expect_null(first->event_codes.table.buckets, "who has dropped all keeps no room for them");
}

Test(event_codes, wait_for_an_open_question_and_are_asked_for_again_when_refused)
{
    struct sx_client *const first = sx_client_find(job, 0), *const second = sx_client_find(job, 1);

    cr_expect_eq(sx_event_code_question(&server, CODE, false), 0);
    cr_expect(asks(first, CODE, false));
    cr_expect_eq(sx_event_code_question(&server, CODE, false), QUESTION);
    sx_event_codes_answered(&server, QUESTION + 1, true);
    cr_expect_eq(sx_event_code_question(&server, CODE, false), QUESTION, "it was another one");
    sx_event_codes_answered(&server, QUESTION, true);
    cr_expect_eq(sx_event_code_question(&server, CODE, false), 0);
    cr_expect(asks(second, CODE, false), "what was refused is asked again");
    sx_event_codes_answered(&server, QUESTION, false);
    cr_expect_not(asks(NULL, CODE, true));
    sx_event_code_unwanted(&server, NULL, CODE, true);
}

Test(event_codes, of_one_client_are_bounded_and_nothing_is_left_of_what_is_refused)
{
    struct sx_client *const client = sx_client_find(job, 0);
    bool ask;

    server.module.deregister_events = NULL;
    for (uint32_t i = 0; i < SX_EVENT_CODES_PER_CLIENT; i++) {
        (void)asks(client, 1 + (pmix_status_t)i, false);
    }
    cr_expect_eq(sx_event_code_wanted(&server, client, CODE, false, QUESTION, &ask),
                 PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(server.event.codes.table.count, SX_EVENT_CODES_PER_CLIENT);
    cr_expect_eq(client->event_codes.table.count, SX_EVENT_CODES_PER_CLIENT);
}

static pmix_status_t on_deregister_unanswered(pmix_status_t *codes, size_t ncodes,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)codes, (void)ncodes, (void)cbfunc, (void)cbdata;
    dropped++;
    return PMIX_SUCCESS;
}

/* A host that never answers about what a user drops still receives what others drop. */
Test(event_codes, that_one_user_drops_leave_the_host_answers_to_owe_to_others)
{
    struct sx_client *const first = sx_client_find(job, 0), *const second = sx_client_find(job, 1);

    server.module.deregister_events = on_deregister_unanswered;
    first->uid = 7;
    second->uid = 8;
    for (uint32_t i = 0; i < SX_EVENT_CODES_PER_CLIENT; i++) {
        (void)asks(first, 1 + (pmix_status_t)i, false);
    }
    (void)asks(second, CODE, false);
    sx_event_codes_client_left(&server, first);
    bare_call(&server, NULL, NULL);
    cr_expect_gt(dropped, 0);
    cr_expect_lt(dropped, (int)SX_EVENT_CODES_PER_CLIENT, "the rest is for others");
    dropped = 0;
    sx_event_code_unwanted(&server, second, CODE, false);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(dropped, 1);
    sx_upcall_forget_all(&server);
}

/* ---- registrations --------------------------------------------------------------------------- */

/* One question about a code at a time; who else wants it waits for the answer,
 * which is a registration's only when it is a refusal. */

/* ---- the host
 * --------------------------------------------------------------------------------- */

static pmix_status_t at_once; /* PMIX_SUCCESS: it answers later */
static unsigned asked;
static uint32_t asked_for; /* the user */
static pmix_op_cbfunc_t answer;
static void *answer_data;

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    cr_expect_eq(ncodes, 1);
    cr_expect_eq(codes[0], CODE);
    cr_assert_eq(ninfo, 2);
    asked++;
    asked_for = info[0].value.data.uint32;
    answer = cbfunc;
    answer_data = cbdata;
    return at_once;
}

/* ---- the server
 * ------------------------------------------------------------------------------- */

static struct answers answers[3];

static void ask_begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    server.module.register_events = on_register;
    job = bare_job(&server, "job", 3, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct sx_client *const client = bare_connect(&server, job, rank);

        client->uid = 1000 + rank;
        answers_begin(&answers[rank], &server, client);
    }
}

static void ask_end(void)
{
    for (uint32_t rank = 0; rank < 3; rank++) {
        sx_pending_client_gone(&server, sx_client_find(job, rank));
        sx_event_codes_client_left(&server, sx_client_find(job, rank));
        cr_expect_eq(sx_client_find(job, rank)->pending_counts[SX_PENDING_REGISTRATION], 0);
        cr_expect_eq(sx_client_find(job, rank)->reference_count, 1);
        answers_end(&answers[rank], sx_client_find(job, rank));
    }
    cr_expect_eq(server.event.codes.table.count, 0);
    sx_event_codes_clear(&server.event.codes);
    sx_pendings_deinit(&server);
    bare_deinit(&server);
}

TestSuite(event_ask, .init = ask_begin, .fini = ask_end);

static void answer_now(void *status, uint64_t now_ns)
{
    (void)now_ns;
    answer(*(const pmix_status_t *)status, answer_data);
}

static void host_answers(pmix_status_t status)
{
    bare_call(&server, answer_now, &status);
}

/* ---- registrations
 * ---------------------------------------------------------------------------- */

#define OPEN 1 /* of neither end */
#define DROPPED 2

struct want {
    struct sx_event_want want;
    int end;
    bool is_over;
};

static struct want *want_of(struct sx_pending *pending)
{
    return SX_CONTAINER(pending, struct want, want.pending);
}

static void on_send(struct sx_pending *pending)
{
    want_of(pending)->end = pending->status;
}

static void on_free(struct sx_pending *pending)
{
    struct want *const want = want_of(pending);

    cr_expect_not(want->is_over, "once");
    want->is_over = true;
    want->end = want->end == OPEN ? DROPPED : want->end;
}

static const struct sx_pending_kind want_kind = { .quota = SX_PENDING_REGISTRATION,
                                                  .closed = sx_event_want_closed,
                                                  .send = on_send,
                                                  .free = on_free };

static void want_now(void *want, uint64_t now_ns)
{
    sx_event_want(&((struct want *)want)->want, now_ns);
}

static void begin_want(struct want *want, uint32_t rank)
{
    static pmix_status_t code = CODE;

    *want = (struct want){ .end = OPEN, .want = { .codes = &code, .code_count = 1 } };
    cr_assert_eq(sx_pending_begin(&server, sx_client_find(job, rank), 1, &want_kind,
                                  &want->want.pending),
                 PMIX_SUCCESS);
    bare_call(&server, want_now, want);
}

static uint32_t counted(void)
{
    const struct sx_event_code *const entry = sx_event_codes_find(&server.event.codes, CODE);

    return entry == NULL ? 0 : entry->count;
}

/* What a host may say, at once or later; and whether the registration holds. */
static const struct {
    pmix_status_t said, want;
} words[] = {
    { PMIX_SUCCESS, PMIX_SUCCESS },
    { PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS },
    { PMIX_ERR_NOT_SUPPORTED, PMIX_SUCCESS },
    { PMIX_ERR_NOT_IMPLEMENTED, PMIX_SUCCESS },
    { PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS },
    { 7, PMIX_ERR_EVENT_REGISTRATION },
};

Test(event_ask, a_refusal_is_the_registrations_and_nothing_of_it_is_counted)
{
    for (size_t i = 0; i < 2 * SX_COUNT(words); i++) {
        const pmix_status_t said = words[i / 2].said;
        struct want want;

        at_once = i % 2 == 0 ? PMIX_SUCCESS : said;
        begin_want(&want, 0);
        if (at_once == PMIX_SUCCESS) {
            cr_expect_eq(want.end, OPEN, "%d", said);
            host_answers(said);
        }
        cr_expect_eq(want.end, words[i / 2].want, "%d: %d", said, want.end);
        cr_expect_eq(counted(), want.end == PMIX_SUCCESS, "%d", said);
        sx_event_codes_client_left(&server, sx_client_find(job, 0));
    }
}

Test(event_ask, without_anybody_to_ask_it_ends_inside)
{
    struct want want;

    server.module.register_events = NULL;
    begin_want(&want, 0);
    cr_expect_eq(want.end, PMIX_SUCCESS);
    cr_expect_eq(counted(), 1);
}

Test(event_ask, others_wait_for_the_answer_and_are_not_asked_for)
{
    struct want first, second, third;

    begin_want(&first, 0);
    cr_expect_eq(server.port.host.owed[SX_UPCALL_REGISTER_EVENTS].clients.has.all[SX_QUOTA_ROWS], 1,
                 "who asks has it");
    begin_want(&second, 1);
    cr_expect_eq(asked, 1);
    cr_expect_eq(second.end, OPEN);
    host_answers(PMIX_SUCCESS);
    cr_expect_eq(first.end, PMIX_SUCCESS);
    cr_expect_eq(second.end, PMIX_SUCCESS);
    begin_want(&third, 2);
    cr_expect_eq(third.end, PMIX_SUCCESS, "it is known");
    cr_expect_eq(asked, 1);
    cr_expect_eq(counted(), 3);
}

/* What was refused to one user may be granted to another. */
Test(event_ask, who_waited_for_a_refusal_asks_in_its_own_name)
{
    struct want first, second;

    begin_want(&first, 0);
    begin_want(&second, 1);
    cr_expect_eq(asked_for, 1000);
    host_answers(PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(first.end, PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(second.end, OPEN);
    cr_expect_eq(asked, 2);
    cr_expect_eq(asked_for, 1001);
    host_answers(PMIX_SUCCESS);
    cr_expect_eq(second.end, PMIX_SUCCESS);
}

Test(event_ask, a_client_that_goes_is_dropped_and_its_question_goes_on)
{
    struct want first, second;

    begin_want(&first, 0);
    begin_want(&second, 1);
    sx_pending_client_gone(&server, sx_client_find(job, 0));
    cr_expect_eq(first.end, DROPPED);
    cr_expect_eq(second.end, OPEN);
    host_answers(PMIX_SUCCESS);
    cr_expect_eq(second.end, PMIX_SUCCESS);
}

Test(event_ask, a_host_that_says_nothing_is_not_waited_for)
{
    struct want first, second;

    begin_want(&first, 0);
    begin_want(&second, 1);
    bare_much_later(&server);
    cr_expect_eq(first.end, PMIX_SUCCESS);
    cr_expect_eq(second.end, PMIX_SUCCESS);
    host_answers(PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(counted(), 2, "its late word changes nothing");
}

Test(event_ask, the_hosts_own_handlers_are_counted_whatever_it_says)
{
    const pmix_status_t codes[] = { CODE };

    cr_expect_eq(sx_event_wanted_by_host(&server, codes, 1), 1);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(asked, 1);
    host_answers(PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(counted(), 1);
    sx_event_unwanted_by_host(&server, codes, 1);
    cr_expect_eq(counted(), 0);
    cr_expect_eq(sx_event_wanted_by_host(&server, NULL, 0), 0);
}
