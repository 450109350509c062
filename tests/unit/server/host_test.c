/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_test.c - the host's answer counts once: inside the call, later, twice or never. */
#include "server/port/host.h"

#include <stdlib.h>

#include "bare.h"

static struct sx_server server;
static struct sx_client *client;

/* ---- the host --------------------------------------------------------------------------------- */

static pmix_status_t returns;
static bool answers_inside;
static pmix_op_cbfunc_t answer;
static void *answer_data;

static pmix_status_t on_abort(const pmix_proc_t *proc, void *server_object, int status,
                              const char msg[], pmix_proc_t procs[], size_t nprocs,
                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)server_object, (void)status, (void)msg, (void)procs, (void)nprocs;
    answer = cbfunc;
    answer_data = cbdata;
    if (answers_inside) {
        cbfunc(PMIX_ERR_TIMEOUT, cbdata);
    }
    return returns;
}

/* ---- the asker -------------------------------------------------------------------------------- */

static unsigned told;
static pmix_status_t told_status;

static void on_told(struct sx_server *which, uint64_t id, struct sx_client *of,
                    const struct sx_host_answer *given)
{
    cr_expect_eq(which, &server);
    cr_expect_eq(id, 77);
    cr_expect_eq(of, client);
    told++;
    told_status = given->status;
}

static pmix_status_t asked;

static void ask_now(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    asked = sx_host_abort(&server, client, 77, 1, "why", NULL, 0, on_told);
    cr_expect_eq(told, 0, "never inside");
}

static void answer_now(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    answer(PMIX_ERR_NOT_FOUND, answer_data);
}

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    server.module.abort = on_abort;
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
}

static void end(void)
{
    cr_expect_eq(client->reference_count, 1, "nothing is pending");
    bare_deinit(&server);
}

TestSuite(host, .init = begin, .fini = end);

/* What the entry returns, whether it has called back by then, and what the asker gets. */
static const struct {
    const char *why;
    pmix_status_t returns;
    bool inside;
    pmix_status_t asked;
    unsigned told;
    pmix_status_t status;
} rows[] = {
    { "done", PMIX_OPERATION_SUCCEEDED, false, PMIX_SUCCESS, 1, PMIX_SUCCESS },
    { "answered inside", PMIX_SUCCESS, true, PMIX_SUCCESS, 1, PMIX_ERR_TIMEOUT },
    { "answered inside and done", PMIX_OPERATION_SUCCEEDED, true, PMIX_SUCCESS, 1,
      PMIX_ERR_TIMEOUT },
    { "answered inside and refused", PMIX_ERR_BAD_PARAM, true, PMIX_SUCCESS, 1, PMIX_ERR_TIMEOUT },
    { "refused", PMIX_ERR_BAD_PARAM, false, PMIX_ERR_BAD_PARAM, 0, PMIX_SUCCESS },
};

Test(host, has_one_answer_and_none_after_it)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        returns = rows[i].returns;
        answers_inside = rows[i].inside;
        told = 0;
        told_status = PMIX_SUCCESS;
        bare_call(&server, ask_now, NULL);
        cr_expect_eq(asked, rows[i].asked, "%s", rows[i].why);
        cr_expect_eq(told, rows[i].told, "%s", rows[i].why);
        cr_expect_eq(told_status, rows[i].status, "%s", rows[i].why);
        bare_call(&server, answer_now, NULL);
        cr_expect_eq(told, rows[i].told, "%s, and once more", rows[i].why);
    }
}

Test(host, may_answer_later)
{
    bare_call(&server, ask_now, NULL);
    cr_expect_eq(asked, PMIX_SUCCESS);
    cr_expect_eq(told, 0);
    cr_expect_eq(client->reference_count, 2, "it is held until then");
    bare_call(&server, answer_now, NULL);
    cr_expect_eq(told, 1);
    cr_expect_eq(told_status, PMIX_ERR_NOT_FOUND);
}

Test(host, that_never_answers_is_forgotten_at_the_end)
{
    bare_call(&server, ask_now, NULL);
    sx_host_forget_all(&server);
    cr_expect_eq(client->reference_count, 1);
    bare_call(&server, answer_now, NULL);
    cr_expect_eq(told, 0);
    bare_call(&server, ask_now, NULL);
    cr_expect_eq(asked, PMIX_ERR_OUT_OF_RESOURCE, "nothing is asked any more");
}

Test(host, without_an_entry_cannot)
{
    server.module.abort = NULL;
    bare_call(&server, ask_now, NULL);
    cr_expect_eq(asked, PMIX_ERR_NOT_SUPPORTED);
}

/* ---- events ----------------------------------------------------------------------------------- */

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)codes, (void)ncodes, (void)info, (void)ninfo;
    answer = cbfunc;
    answer_data = cbdata;
    return PMIX_SUCCESS;
}

static void on_event_told(struct sx_server *which, uint64_t id, struct sx_client *of,
                          const struct sx_host_answer *given)
{
    (void)which, (void)id, (void)of, (void)given;
    told++;
}

Test(host, is_asked_so_much_about_events_before_it_answers)
{
    const pmix_status_t code = -4000;

    server.module.register_events = on_register;
    for (unsigned i = 0; i < SX_HOST_EVENTS_MAX; i++) {
        cr_assert_eq(sx_host_register_events(&server, &code, 1, 0, 0, i, on_event_told),
                     PMIX_SUCCESS);
    }
    cr_expect_eq(sx_host_register_events(&server, &code, 1, 0, 0, 0, on_event_told),
                 PMIX_ERR_OUT_OF_RESOURCE);
    bare_call(&server, answer_now, NULL);
    cr_expect_eq(told, 1);
    cr_expect_eq(sx_host_register_events(&server, &code, 1, 0, 0, 0, on_event_told), PMIX_SUCCESS);
    sx_host_forget_all(&server);
    cr_expect_eq(server.host_event_count, 0);
    cr_expect_eq(server.host_event_bytes, 0);
}

/* ---- notices ---------------------------------------------------------------------------------- */

static pmix_status_t on_connected(const pmix_proc_t *proc, void *server_object,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object, (void)cbfunc, (void)cbdata;
    cr_expect_str_eq(proc->nspace, "job");
    return returns;
}

static const struct {
    pmix_status_t returns, want;
} connects[] = { { PMIX_SUCCESS, PMIX_SUCCESS },
                 { PMIX_OPERATION_SUCCEEDED, PMIX_SUCCESS },
                 { PMIX_ERR_NOT_SUPPORTED, PMIX_SUCCESS },
                 { PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NO_PERMISSIONS } };

Test(host, refuses_a_client_by_a_refusal_alone)
{
    cr_expect_eq(sx_host_client_connected(&server, client), PMIX_SUCCESS, "nobody is asked");
    server.module.client_connected = on_connected;
    for (size_t i = 0; i < SX_COUNT(connects); i++) {
        returns = connects[i].returns;
        cr_expect_eq(sx_host_client_connected(&server, client), connects[i].want, "row %zu", i);
    }
}
