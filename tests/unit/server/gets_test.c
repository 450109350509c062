/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gets_test.c - how long a server waits for what a rank has not committed. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include <pmix.h>
#include <pmix_server.h>

#include "answers.h"
#include "bare.h"
#include "opened.h"
#include "server/engine/gets.h"
#include "shmix.h"

#define SECOND UINT64_C(1000000000)

static const struct {
    const char *environment; /* NULL: nothing */
    int info;                /* -2: none */
    pmix_status_t want;
    uint64_t patience_ns;
} rows[] = {
    { NULL, -2, PMIX_SUCCESS, 2 * SECOND },
    { "", -2, PMIX_SUCCESS, 2 * SECOND },
    { "7", -2, PMIX_SUCCESS, 7 * SECOND },
    { "0", -2, PMIX_SUCCESS, 0 },
    { "0.25", -2, PMIX_SUCCESS, SECOND / 4 },
    { ".0000000019", -2, PMIX_SUCCESS, 1 },
    { "1.", -2, PMIX_SUCCESS, SECOND },
    { ".", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "-1", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "2s", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "1.2.3", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "99999999999999999999999999", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "7", 3, PMIX_SUCCESS, 3 * SECOND },
    { "2s", 0, PMIX_SUCCESS, 0 },
    { NULL, -1, PMIX_ERR_BAD_PARAM, 0 },
};

Test(gets, patience_is_the_infos_or_the_environments_or_two_seconds, .timeout = 60)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t info;

        if (rows[i].environment != NULL) {
            setenv("SHMIX_GET_TIMEOUT", rows[i].environment, 1);
        } else {
            unsetenv("SHMIX_GET_TIMEOUT");
        }
        cr_assert_eq(PMIx_Info_load(&info, SHMIX_SERVER_GET_TIMEOUT, &rows[i].info, PMIX_INT), 0);
        PMIx_Info_required(&info);
        cr_assert_eq(PMIx_server_init(NULL, &info, rows[i].info != -2), rows[i].want, "row %zu", i);
        if (rows[i].want == PMIX_SUCCESS) {
            cr_expect_eq(sx_server_get()->get_patience_ns, rows[i].patience_ns, "row %zu", i);
            cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
        }
    }
}

/* ---- whose data ------------------------------------------------------------------------------ */

Test(gets, of_a_member_of_connected_ones_are_of_the_process_itself)
{
    static struct sx_server server;
    static struct answers answers;
    const pmix_proc_t procs[] = { { "b", 1 }, { "a", 0 } };
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };
    static const struct {
        uint32_t rank;
        pmix_status_t want;
    } asks[] = { { 0, PMIX_SUCCESS },
                 { 1, PMIX_ERR_NOT_FOUND },
                 { 2, PMIX_ERR_NOT_FOUND },
                 { PMIX_RANK_WILDCARD, PMIX_ERR_NOT_FOUND } };

    bare_init(&server);
    bare_loop(&server);
    struct sx_nspace *const b = bare_job(&server, "b", 2, 2);
    struct sx_client *const client = bare_connect(&server, bare_job(&server, "a", 1, 1), 0);

    client->uid = 4242; /* b is another user's */
    cr_assert_eq(sx_nspace_open(&server, b), PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&b->store, SX_REALM_JOB, 1, "key", PMIX_GLOBAL, &value), 0);
    answers_begin(&answers, &server, client);
    struct sx_membership_entry *const both = bare_connected(&server, "both", procs, 2);

    for (size_t i = 0; i <= SX_COUNT(asks); i++) {
        struct {
            struct sx_get get;
            char key[8];
        } ask = { { .nspace = "both", .flags = SX_GET_IMMEDIATE, .key_size = 4 }, "key" };

        ask.get.rank = i < SX_COUNT(asks) ? asks[i].rank : 0;
        struct sx_frame frame = opened_frame(SX_MSG_GET, 2, &ask, sizeof(ask.get) + 4);

        cr_assert(sx_gets_on_get(&server, client, &frame, 0));
        cr_expect_eq(answers_next(&answers, 2),
                     i < SX_COUNT(asks) ? asks[i].want : PMIX_ERR_NOT_FOUND, "%zu", i);
        if (i + 1 == SX_COUNT(asks)) {
            sx_memberships_remove(&server, both); /* who asks once more does not find it */
        }
    }
    answers_end(&answers, client);
    bare_deinit(&server);
}

/* ---- what it costs ---------------------------------------------------------------------------- */

/* A key that the job has and none of its many ranks: each of them is looked at. */
Test(gets, of_anybody_are_paid_for_by_the_rank)
{
    enum { RANKS = 100000 };
    static struct sx_server server;
    static struct answers answers;
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };
    struct {
        struct sx_get get;
        char key[8];
    } ask = { { .nspace = "job", .rank = PMIX_RANK_UNDEF, .key_size = 4 }, "key" };
    struct sx_frame frame = opened_frame(SX_MSG_GET, 2, &ask, sizeof(ask.get) + 4);

    bare_init(&server);
    bare_loop(&server);
    struct sx_nspace *const job = bare_job(&server, "job", RANKS, 1);
    struct sx_client *const client = bare_connect(&server, job, 0);

    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, SX_ROW_JOB, "key", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
    cr_assert(sx_gets_on_get(&server, client, &frame, 0));
    cr_assert_geq(client->share.spent, RANKS / 200);
    sx_pending_send_due(client); /* in another turn: it has used up this one */
    cr_expect_eq(answers_next(&answers, 2), PMIX_ERR_NOT_FOUND);
    answers_end(&answers, client);
    bare_deinit(&server);
}
