/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_test.c - what a connect makes, which namespace a disconnect means, and what is left of it
 * when members go.  The processes are made up: no answer is looked at. */
#include "server/collective/connect.h"

#include <shmix.h>

#include "../hosted.h"
#include "../opened.h"
#include "server/collective/arrival.h"
#include "server/collective/collective.h"
#include "server/model/membership.h"

#define JOB "job"
#define RANKS 3u

static void begin(void)
{
    hosted_begin();
    hosted_job_of(JOB, RANKS + 1, RANKS + 1);
}

TestSuite(connect, .init = begin, .fini = hosted_end);

static struct sx_client *client_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, JOB), rank);
}

/* @rank comes to a connect or a disconnect of all of @nspace, of the ranks 0 to 2 for NULL. */
static void arrive(struct sx_server *server, uint32_t rank, uint32_t kind, const char *nspace,
                   const char *id)
{
    static uint32_t op;
    const struct sx_lane_arrive head = { .kind = (uint8_t)kind, .op = ++op };
    pmix_proc_t procs[RANKS];
    _Alignas(8) char message[2048];
    pmix_info_t info;
    size_t size;

    for (uint32_t i = 0; i < RANKS; i++) {
        PMIx_Load_procid(&procs[i], nspace != NULL ? nspace : JOB,
                         nspace != NULL ? PMIX_RANK_WILDCARD : i);
    }
    PMIx_Info_load(&info, PMIX_CONNECT_ID, id, PMIX_STRING);
    struct sx_draft draft = {
        .signature = &sx_arrive_body,
        .head = &head,
        .nspace = "",
        .parts = { [SX_ARRIVE_PROCS] = { procs, nspace != NULL ? 1 : RANKS },
                   [SX_ARRIVE_INFOS] = { &info, id != NULL } },
    };

    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(message));
    cr_assert_eq(sx_body_write(&draft, message), PMIX_SUCCESS);
    cr_assert_eq(sx_collective_arrive(server, client_of(server, rank),
                                      opened(&sx_arrive_body, message, size)),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
}

/* Return: the newest list; NULL when there is none. */
static struct sx_membership_entry *newest(const struct sx_server *server)
{
    struct sx_membership_entry *it = sx_memberships_next(server, NULL), *last = it;

    for (; it != NULL; it = sx_memberships_next(server, it)) {
        last = it->published.head.subject >> SX_MEMBERSHIP_ROW_BITS >
                       last->published.head.subject >> SX_MEMBERSHIP_ROW_BITS
                   ? it
                   : last;
    }
    return last;
}

static struct sx_membership_entry *connected(struct sx_server *server, const char *id)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        client_of(server, rank)->state = SX_CLIENT_CONNECTED;
        arrive(server, rank, SX_COLLECTIVE_CONNECT, NULL, id);
    }
    return newest(server);
}

/* What @rank means with {@nspace, WILDCARD}, or with the ranks 0 to 2.  Return: as
 * sx_disconnect_aim; its name is in @ret. */
static pmix_status_t aim(struct sx_server *server, uint32_t rank, const char *nspace,
                         const char *id, pmix_nspace_t ret)
{
    pmix_proc_t procs[RANKS];
    struct sx_arrival arrival = { .kind = SX_COLLECTIVE_DISCONNECT,
                                  .procs = procs,
                                  .proc_count = nspace != NULL ? 1 : RANKS,
                                  .options = { .id = id } };

    for (uint32_t i = 0; i < RANKS; i++) {
        PMIx_Load_procid(&procs[i], nspace != NULL ? nspace : JOB,
                         nspace != NULL ? PMIX_RANK_WILDCARD : i);
    }
    const pmix_status_t rc = sx_disconnect_aim(server, client_of(server, rank), &arrival);

    if (rc == PMIX_SUCCESS) {
        cr_expect_eq(arrival.proc_count, 1);
        cr_expect_eq(procs[0].rank, PMIX_RANK_WILDCARD);
        PMIx_Load_nspace(ret, procs[0].nspace);
    }
    return rc;
}

static pmix_status_t disconnects(struct sx_server *server, void *arg)
{
    pmix_nspace_t name, meant;

    (void)arg;
    cr_expect_eq(aim(server, 0, NULL, NULL, meant), PMIX_ERR_INVALID_OPERATION, "not connected");
    cr_expect_eq(aim(server, 0, "nobody's", NULL, meant), PMIX_ERR_NOT_FOUND);
    PMIx_Load_nspace(name, sx_membership_name(&connected(server, NULL)->published));
    cr_expect_eq(aim(server, RANKS, name, NULL, meant), PMIX_ERR_NOT_A_MEMBER, "no member");
    cr_assert_eq(aim(server, 0, name, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, name);
    cr_assert_eq(aim(server, 0, NULL, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, name);
    cr_expect_eq(aim(server, 0, NULL, "another", meant), PMIX_ERR_INVALID_OPERATION);

    arrive(server, 0, SX_COLLECTIVE_DISCONNECT, name, NULL);
    cr_expect_eq(aim(server, 0, name, NULL, meant), PMIX_ERR_INVALID_OPERATION, "twice, by name");
    cr_expect_eq(aim(server, 0, NULL, NULL, meant), PMIX_ERR_INVALID_OPERATION, "twice, by words");
    cr_expect_not_null(sx_memberships_find(server, name), "the others are connected still");
    arrive(server, 1, SX_COLLECTIVE_DISCONNECT, NULL, NULL);
    arrive(server, 2, SX_COLLECTIVE_DISCONNECT, name, NULL);
    cr_expect_null(sx_memberships_find(server, name));
    cr_expect_eq(aim(server, 0, name, NULL, meant), PMIX_ERR_NOT_FOUND);
    return PMIX_SUCCESS;
}

Test(connect, is_taken_back_once_by_its_name_or_its_words)
{
    hosted_call(disconnects, NULL);
}

static pmix_status_t several(struct sx_server *server, void *arg)
{
    pmix_nspace_t names[3], meant;

    (void)arg;
    PMIx_Load_nspace(names[0], sx_membership_name(&connected(server, NULL)->published));
    PMIx_Load_nspace(names[1], sx_membership_name(&connected(server, NULL)->published));
    PMIx_Load_nspace(names[2], sx_membership_name(&connected(server, "by id")->published));
    cr_expect_str_neq(names[0], names[1]);
    cr_assert_eq(aim(server, 1, NULL, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, names[0], "the oldest");
    cr_assert_eq(aim(server, 1, NULL, "by id", meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, names[2]);
    arrive(server, 1, SX_COLLECTIVE_DISCONNECT, names[0], NULL);
    cr_assert_eq(aim(server, 1, NULL, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, names[1], "the oldest that it has not called for");
    return PMIX_SUCCESS;
}

Test(connect, by_words_the_oldest_is_meant_that_the_caller_has_not_called_for)
{
    hosted_call(several, NULL);
}

static pmix_status_t members_go(struct sx_server *server, void *arg)
{
    pmix_nspace_t name;
    pmix_proc_t member;

    (void)arg;
    struct sx_membership_entry *const entry = connected(server, NULL);

    PMIx_Load_nspace(name, sx_membership_name(&entry->published));
    for (uint32_t rank = 0; rank + 1 < RANKS; rank++) {
        client_of(server, rank)->state = SX_CLIENT_DEAD;
        sx_connect_client_gone(server, client_of(server, rank));
        cr_assert_eq(sx_memberships_find(server, name), entry);
        cr_expect_eq(sx_membership_size(&entry->published), RANKS, "a gap");
        cr_expect_eq(sx_membership_member(&entry->published, rank, &member), PMIX_ERR_NOT_FOUND);
        cr_expect_eq(sx_membership_rank(&entry->published, JOB, 2), 2, "which moves nobody");
    }
    client_of(server, 2)->state = SX_CLIENT_DEAD;
    sx_connect_client_gone(server, client_of(server, 2));
    cr_expect_null(sx_memberships_find(server, name), "nobody is left");
    cr_expect_null(newest(server));
    return PMIX_SUCCESS;
}

Test(connect, members_that_go_leave_gaps_and_the_last_takes_it_away)
{
    hosted_call(members_go, NULL);
}
