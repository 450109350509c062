/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pending_test.c - a request that is answered later ends once, however it ends: its owner hears
 * that it waits no longer, its client gets at most one answer, and nothing is left of it. */
#include "server/port/port.h"

#include <stdlib.h>

#include "../answers.h"
#include "../bare.h"

#define ID 7u

static struct sx_server server;
static struct sx_client *client;
static struct answers answers;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
}

static void end(void)
{
    cr_expect_eq(server.port.pendings.count, 0);
    cr_expect(sx_list_empty(&client->pendings));
    cr_expect(sx_list_empty(&client->share.due));
    for (size_t quota = 0; quota < SX_PENDING_QUOTAS; quota++) {
        cr_expect_eq(client->pending_counts[quota], 0, "quota %zu", quota);
        cr_expect_eq(client->pending_bytes[quota], 0, "quota %zu", quota);
    }
    cr_expect_eq(client->reference_count, 1);
    answers_end(&answers, client);
    sx_pendings_deinit(&server);
    bare_deinit(&server);
}

TestSuite(pending, .init = begin, .fini = end);

/* ---- an owner
 * --------------------------------------------------------------------------------- */

struct owner {
    struct sx_pending pending;
    unsigned closed, sent, freed;
};

static struct owner owner;

static void on_closed(struct sx_pending *pending)
{
    cr_expect_eq(SX_CONTAINER(pending, struct owner, pending), &owner);
    cr_expect_not(sx_pending_uses(&server, client, ID), "it waits no longer");
    owner.closed++;
}

static void on_send(struct sx_pending *pending)
{
    const uint32_t body = 5;

    owner.sent++;
    sx_reply_body(&server, client, pending->id, pending->status, &body, sizeof(body));
}

static void on_free(struct sx_pending *pending)
{
    (void)pending;
    owner.freed++;
}

static const struct sx_pending_kind plain = { .quota = SX_PENDING_GET,
                                              .closed = on_closed,
                                              .free = on_free };
static const struct sx_pending_kind sender = {
    .quota = SX_PENDING_REGISTRATION, .closed = on_closed, .send = on_send, .free = on_free
};
/* One that is not a Get. */
static const struct sx_pending_kind other = { .quota = SX_PENDING_LOOKUP,
                                              .closed = on_closed,
                                              .free = on_free };

/* ---- ways to end
 * ------------------------------------------------------------------------------ */

static void answer(void)
{
    sx_pending_answer(&owner.pending, PMIX_ERR_NOT_FOUND);
}

/* It has used up its share. */
static void answer_poor(void)
{
    sx_share_charge(&server, client, 2 * SX_TURN_UNITS);
    answer();
    cr_expect(answers_none(&answers), "not in this turn");
    cr_expect_eq(owner.closed, 1, "but it waits no longer");
}

static void send_due(void)
{
    sx_pending_send_due(client);
}

static void cancel(void)
{
    struct sx_frame frame = { .header = { .id = ID } };

    cr_expect(sx_pending_on_cancel(&server, client, &frame, 0));
}

static void cancel_another(void)
{
    struct sx_frame frame = { .header = { .id = ID + 1 } };

    cr_expect(sx_pending_on_cancel(&server, client, &frame, 0));
    cr_expect_eq(owner.closed, 0);
}

static void go(void)
{
    sx_pending_client_gone(&server, client);
}

static void answer_unheard(void)
{
    struct sx_channel *const channel = client->channel;

    client->channel = NULL;
    answer();
    client->channel = channel;
}

static void time_is_over(void *pending, uint64_t now_ns)
{
    (void)now_ns;
    sx_pending_answer(pending, PMIX_ERR_NOT_FOUND);
}

static void be_late(void)
{
    sx_pending_limit(&owner.pending, time_is_over, 1);
    bare_much_later(&server);
}

static void have_time_and_answer(void)
{
    sx_pending_limit(&owner.pending, time_is_over, 1);
    answer();
    bare_much_later(&server);
}

static const struct {
    const char *why;
    void (*steps[2])(void);
    bool answered;
} ways[] = {
    { "answered", { answer }, true },
    { "answered, and cancelled too late", { answer, cancel }, true },
    { "answered in a later turn", { answer_poor, send_due }, true },
    { "answered, and gone before its turn", { answer_poor, go }, false },
    { "answered, and cancelled before its turn", { answer_poor, cancel }, true },
    { "cancelled", { cancel }, false },
    { "another one cancelled", { cancel_another, answer }, true },
    { "its client gone", { go }, false },
    { "its client gone twice", { go, go }, false },
    { "not connected", { answer_unheard }, false },
    { "its time over", { be_late }, true },
    { "answered in time", { have_time_and_answer }, true },
};

static void go_one_way(const struct sx_pending_kind *kind, size_t i)
{
    owner = (struct owner){ 0 };
    sx_share_begin(&server, client);
    cr_assert_eq(sx_pending_begin(&server, client, ID, kind, &owner.pending), PMIX_SUCCESS);
    cr_expect(sx_pending_uses(&server, client, ID));
    cr_expect_eq(client->reference_count, 2, "it is kept");
    for (size_t step = 0; step < SX_COUNT(ways[i].steps) && ways[i].steps[step] != NULL; step++) {
        ways[i].steps[step]();
    }
    if (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
    }
    cr_expect_eq(owner.closed, 1, "%s", ways[i].why);
    cr_expect_eq(owner.freed, 1, "%s", ways[i].why);
    cr_expect_eq(owner.sent, ways[i].answered && kind == &sender, "%s", ways[i].why);
    if (ways[i].answered) {
        cr_expect_eq(answers_next(&answers, ID), PMIX_ERR_NOT_FOUND, "%s", ways[i].why);
    }
    cr_expect(answers_none(&answers), "%s", ways[i].why);
    cr_expect_eq(client->reference_count, 1, "%s", ways[i].why);
}

Test(pending, ends_once_in_each_way)
{
    for (size_t i = 0; i < SX_COUNT(ways); i++) {
        go_one_way(&plain, i);
        go_one_way(&sender, i);
    }
}

Test(pending, has_its_number_for_itself)
{
    static const struct sx_pending_kind *const kinds[] = { &plain, &sender, &other };
    struct owner second = { 0 };

    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        owner = (struct owner){ 0 };
        cr_expect_not(sx_pending_uses(&server, client, ID));
        cr_assert_eq(sx_pending_begin(&server, client, ID, kinds[i], &owner.pending), PMIX_SUCCESS);
        cr_expect(sx_pending_uses(&server, client, ID));
        for (size_t j = 0; j < SX_COUNT(kinds); j++) {
            cr_expect_eq(sx_pending_begin(&server, client, ID, kinds[j], &second.pending),
                         PMIX_ERR_EXISTS);
        }
        go();
    }
}

Test(pending, answers_come_in_their_order)
{
    struct owner owners[3] = { 0 };

    static const struct sx_pending_kind unheard = { .quota = SX_PENDING_GET, .free = on_free };

    for (uint32_t i = 0; i < SX_COUNT(owners); i++) {
        cr_assert_eq(sx_pending_begin(&server, client, i + 1, &unheard, &owners[i].pending),
                     PMIX_SUCCESS);
    }
    sx_share_charge(&server, client, 2 * SX_TURN_UNITS);
    sx_pending_answer(&owners[2].pending, PMIX_SUCCESS);
    server.turn.number += 10; /* it has something again */
    sx_pending_answer(&owners[0].pending, PMIX_ERR_NOT_FOUND);
    cr_expect(answers_none(&answers), "one that is DUE comes first");
    sx_pending_answer(&owners[1].pending, PMIX_ERR_TIMEOUT);
    for (size_t i = 0; i < SX_COUNT(owners); i++) {
        sx_pending_send_due(client);
    }
    cr_expect_eq(answers_next(&answers, 3), PMIX_SUCCESS);
    cr_expect_eq(answers_next(&answers, 1), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(answers_next(&answers, 2), PMIX_ERR_TIMEOUT);
}

/* ---- quotas
 * ----------------------------------------------------------------------------------- */

static const struct {
    enum sx_pending_quota quota;
    unsigned max;
} quotas[] = {
    { SX_PENDING_GET, SX_GETS_MAX }, { SX_PENDING_REGISTRATION, 4096 }, { SX_PENDING_HOST, 256 },
    { SX_PENDING_ARRIVAL, 4096 },    { SX_PENDING_LOG, 256 },           { SX_PENDING_INVITE, 1024 },
    { SX_PENDING_PULL, 64 },         { SX_PENDING_LOOKUP, 256 },        { SX_PENDING_FINALIZE, 4 },
};

Test(pending, of_each_kind_a_client_has_so_many)
{
    cr_assert_eq(SX_COUNT(quotas), SX_PENDING_QUOTAS);
    for (size_t i = 0; i < SX_COUNT(quotas); i++) {
        const struct sx_pending_kind kind = { .quota = quotas[i].quota };

        for (unsigned count = 0; count < quotas[i].max; count++) {
            struct sx_pending *const one = calloc(1, sizeof(*one));

            cr_assert_eq(sx_pending_begin(&server, client, count, &kind, one), PMIX_SUCCESS);
        }
        cr_expect_eq(client->pending_logged, 0);
        cr_expect_eq(sx_pending_begin(&server, client, 0, &kind, &owner.pending),
                     PMIX_ERR_OUT_OF_RESOURCE);
        cr_expect_eq(client->pending_logged, 1u << quotas[i].quota, "with a warning");
        client->pending_logged = 0;
        sx_pending_client_gone(&server, client);
        cr_expect_eq(sx_pending_judge(&server, client, quotas[i].quota), PMIX_SUCCESS);
    }
}

Test(pending, of_collectives_there_may_be_as_many_as_the_environment_says)
{
    static const struct {
        const char *text;
        pmix_status_t want;
        unsigned max;
    } rows[] = {
        { "3", PMIX_SUCCESS, 3 },
        { "16384", PMIX_SUCCESS, 16384 },
        { "", PMIX_SUCCESS, 4096 },
        { "0", PMIX_ERR_BAD_PARAM, 4096 },
        { "16385", PMIX_ERR_BAD_PARAM, 4096 },
        { "many", PMIX_ERR_BAD_PARAM, 4096 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        setenv("SHMIX_SERVER_COLLECTIVES", rows[i].text, 1);
        cr_expect_eq(sx_pendings_init(&server), rows[i].want, "%s", rows[i].text);
        cr_expect_eq(server.port.pending_max[SX_PENDING_ARRIVAL], rows[i].max, "%s", rows[i].text);
    }
    unsetenv("SHMIX_SERVER_COLLECTIVES");
}

Test(pending, that_keep_much_are_fewer)
{
    static const struct {
        enum sx_pending_quota quota;
        size_t bytes_max; /* 0: none */
    } rows[] = {
        { SX_PENDING_GET, 0 },          { SX_PENDING_REGISTRATION, 0 },
        { SX_PENDING_HOST, 16u << 20 }, { SX_PENDING_ARRIVAL, 32u << 20 },
        { SX_PENDING_LOG, 1u << 20 },   { SX_PENDING_INVITE, 4u << 20 },
        { SX_PENDING_PULL, 4u << 20 },  { SX_PENDING_LOOKUP, 1u << 20 },
        { SX_PENDING_FINALIZE, 0 },
    };

    cr_assert_eq(SX_COUNT(rows), SX_PENDING_QUOTAS);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const size_t almost = rows[i].bytes_max == 0 ? SIZE_MAX / 2 : rows[i].bytes_max - 1;

        sx_pending_count(client, rows[i].quota, almost);
        cr_expect_eq(sx_pending_judge(&server, client, rows[i].quota), PMIX_SUCCESS);
        sx_pending_count(client, rows[i].quota, 1);
        cr_expect_eq(sx_pending_judge(&server, client, rows[i].quota),
                     rows[i].bytes_max == 0 ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE);
        sx_pending_uncount(client, rows[i].quota, almost);
        cr_expect_eq(sx_pending_judge(&server, client, rows[i].quota), PMIX_SUCCESS);
        sx_pending_uncount(client, rows[i].quota, 1);
    }
}

/* ---- what the host answers
 * -------------------------------------------------------------------- */

static struct {
    pmix_status_t returns;
    bool inside, ends_client;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
} host;

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)proc, (void)object, (void)status, (void)msg, (void)procs, (void)nprocs;
    host.cbfunc = cbfunc;
    host.cbdata = cbdata;
    if (host.inside) {
        cbfunc(PMIX_ERR_TIMEOUT, cbdata);
    }
    if (host.ends_client) {
        go();
    }
    return host.returns;
}

static void ask_now(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    sx_pending_ask_host(&server, client, ID, SX_UPCALL_ABORT, &(struct sx_upcall){ .status = 1 });
}

static void host_answers(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    host.cbfunc(PMIX_ERR_NOT_FOUND, host.cbdata);
}

static void host_never(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    go();
    sx_upcall_forget_all(&server);
    sx_pending_uncount(client, SX_PENDING_HOST, 0); /* the server ends: it counts nothing */
}

static void client_cancels(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    cancel();
}

static void client_goes(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    go();
}

#define NOTHING 1 /* no answer */

static const struct {
    const char *why;
    pmix_status_t returns;
    bool inside, ends_client;
    sx_loop_fn then[2];
    pmix_status_t answer;
} words[] = {
    { "later", PMIX_SUCCESS, false, false, { host_answers }, PMIX_ERR_NOT_FOUND },
    { "twice", PMIX_SUCCESS, false, false, { host_answers, host_answers }, PMIX_ERR_NOT_FOUND },
    { "inside", PMIX_SUCCESS, true, false, { NULL }, PMIX_ERR_TIMEOUT },
    { "done", PMIX_OPERATION_SUCCEEDED, false, false, { NULL }, PMIX_SUCCESS },
    { "refused", PMIX_ERR_BAD_PARAM, false, false, { NULL }, PMIX_ERR_BAD_PARAM },
    { "never", PMIX_SUCCESS, false, false, { host_never }, NOTHING },
    { "cancelled", PMIX_SUCCESS, false, false, { client_cancels, host_answers }, NOTHING },
    { "too late", PMIX_SUCCESS, false, false, { client_goes, host_answers }, NOTHING },
    { "refused, and its client ended", PMIX_ERR_BAD_PARAM, false, true, { NULL }, NOTHING },
    { "taken, and its client ended", PMIX_SUCCESS, false, true, { host_answers }, NOTHING },
};

/* Another request of its client has the number, and waits: the host is not asked, and what waits
 * goes on waiting. */
Test(pending, the_host_is_not_asked_with_a_number_that_is_in_use)
{
    server.module.abort = on_abort;
    memset(&host, 0, sizeof(host));
    host.returns = PMIX_ERR_BAD_PARAM;
    owner = (struct owner){ 0 };
    cr_assert_eq(sx_pending_begin(&server, client, ID, &other, &owner.pending), PMIX_SUCCESS);
    bare_call(&server, ask_now, NULL);
    cr_expect_null(host.cbfunc);
    cr_expect_eq(answers_next(&answers, ID), PMIX_ERR_EXISTS);
    cr_expect_eq(owner.closed, 0);
    go();
}

Test(pending, gets_what_the_host_says_once)
{
    server.module.abort = on_abort;
    for (size_t i = 0; i < SX_COUNT(words); i++) {
        memset(&host, 0, sizeof(host));
        server.port.host.forgotten = false;
        sx_share_begin(&server, client);
        host.returns = words[i].returns;
        host.inside = words[i].inside;
        host.ends_client = words[i].ends_client;
        bare_call(&server, ask_now, NULL);
        for (size_t step = 0; step < 2 && words[i].then[step] != NULL; step++) {
            bare_call(&server, words[i].then[step], NULL);
        }
        if (words[i].answer != NOTHING) {
            cr_expect_eq(answers_next(&answers, ID), words[i].answer, "%s", words[i].why);
        }
        cr_expect(answers_none(&answers), "%s", words[i].why);
        cr_expect_eq(client->reference_count, 1, "%s", words[i].why);
        cr_expect_eq(client->pending_counts[SX_PENDING_HOST], 0, "%s", words[i].why);
        cr_expect_eq(server.port.host.owed[SX_UPCALL_ABORT].count, 0, "%s", words[i].why);
    }
}

static void ask_much(void *arg, uint64_t now_ns)
{
    static pmix_proc_t procs[3];

    (void)arg, (void)now_ns;
    sx_pending_ask_host(&server, client, ID, SX_UPCALL_ABORT,
                        &(struct sx_upcall){ .text = "seven..", .procs = procs, .nprocs = 3 });
}

/* Who cancels and asks again fills no memory: the host has what it was asked, still. */
Test(pending, counts_until_the_host_has_answered)
{
    static const sx_loop_fn ends[] = { client_cancels, client_goes };

    memset(&host, 0, sizeof(host));
    server.module.abort = on_abort;
    for (size_t i = 0; i < SX_COUNT(ends); i++) {
        bare_call(&server, ask_much, NULL);
        bare_call(&server, ends[i], NULL);
        cr_expect_eq(server.port.pendings.count, 0);
        cr_expect_eq(client->pending_counts[SX_PENDING_HOST], 1);
        cr_expect_eq(client->pending_bytes[SX_PENDING_HOST], 3 * sizeof(pmix_proc_t) + 7);
        bare_call(&server, host_answers, NULL);
        cr_expect_eq(client->pending_counts[SX_PENDING_HOST], 0);
    }
}

Test(pending, that_cannot_be_asked_is_answered_at_once)
{
    sx_pending_ask_host(&server, client, ID, SX_UPCALL_ABORT, &(struct sx_upcall){ .status = 1 });
    cr_expect_eq(answers_next(&answers, ID), PMIX_ERR_NOT_SUPPORTED);
    client->pending_counts[SX_PENDING_HOST] = 256;
    server.module.abort = on_abort;
    sx_pending_ask_host(&server, client, ID, SX_UPCALL_ABORT, &(struct sx_upcall){ .status = 1 });
    cr_expect_eq(answers_next(&answers, ID), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_null(host.cbfunc);
    client->pending_counts[SX_PENDING_HOST] = 0;
}
