/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_test.c - what a host's word on a client means. */
#include "server/port/port.h"

#include "bare.h"

static struct sx_server server;
static struct sx_client *client;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
}

static void end(void)
{
    cr_expect_eq(client->reference_count, 1, "nothing is pending");
    bare_deinit(&server);
}

TestSuite(host, .init = begin, .fini = end);

/* ---- clients
 * ---------------------------------------------------------------------------------- */

static pmix_status_t returns;
static unsigned called, called2;

static pmix_status_t on_connected(const pmix_proc_t *proc, void *server_object,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)server_object, (void)cbdata;
    cr_expect_str_eq(proc->nspace, "job");
    cr_expect_null(cbfunc);
    called++;
    return returns;
}

static pmix_status_t on_connected2(const pmix_proc_t *proc, void *server_object, pmix_info_t *info,
                                   size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)proc, (void)server_object, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    called2++;
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
    server.module.client_connected2 = on_connected2;
    cr_expect_eq(sx_host_client_connected(&server, client), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(called, SX_COUNT(connects));
    cr_expect_eq(called2, 1, "the newer one alone");
}
