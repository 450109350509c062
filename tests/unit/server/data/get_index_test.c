/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_index_test.c - a Get is found by what it waits for; nobody looks at the others.  No process
 * of the job is connected, so answers go nowhere: what is counted is who waits still. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../hosted.h"
#include "../opened.h"
#include "server/data/data.h"
#include "server/data/get_index.h"
#include "server/model/state.h"

#define NSPACE "waiting"
#define RANKS 4u
#define KEYS 300u

static void begin(void)
{
    hosted_begin();
    hosted_job_of(NSPACE, RANKS, RANKS);
}

TestSuite(waiting, .init = begin, .fini = hosted_end);

static struct sx_client *client_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, NSPACE), rank);
}

static struct sx_wait *wait_for(struct sx_server *server, uint32_t asker, uint32_t id,
                                uint32_t rank, const char *key)
{
    const struct sx_wait_what what = {
        .nspace = sx_nspace_find(server, NSPACE), .rank = rank, .realm = SX_REALM_JOB, .key = key
    };
    struct sx_wait *wait = sx_wait_add(server, client_of(server, asker), id, &what);

    cr_assert_not_null(wait);
    return wait;
}

/* What @rank's lane would bring. */
static void put(struct sx_server *server, uint32_t rank, const char *key)
{
    _Alignas(8) char message[256] = { 0 };
    struct sx_lane_put *head = (void *)message;
    pmix_status_t kept;

    head->cell.type = PMIX_UINT32;
    head->cell.bits = 7;
    head->key_len = (uint16_t)strlen(key);
    head->scope = PMIX_GLOBAL;
    memcpy(head + 1, key, strlen(key));
    cr_assert_eq(sx_modex_put(server, client_of(server, rank),
                              opened(&sx_put_body, message,
                                     sizeof(*head) + (size_t)sx_align_up(strlen(key), 8)),
                              &kept),
                 PMIX_SUCCESS);
    cr_assert_eq(kept, PMIX_SUCCESS);
}

static pmix_status_t by_key(struct sx_server *server, void *arg)
{
    struct sx_client *target = client_of(server, 1);
    struct sx_client *asker = client_of(server, 0);

    (void)arg;
    wait_for(server, 0, 1, 1, "first");
    wait_for(server, 0, 2, 1, "second");
    wait_for(server, 2, 1, 1, "first");
    wait_for(server, 0, 3, 3, "first");
    wait_for(server, 0, 4, 1, ""); /* anything */
    cr_expect_eq(asker->pending_counts[SX_PENDING_GET], 4);
    cr_expect_eq(target->waiter_count, 4);
    put(server, 1, "first");
    cr_expect_eq(target->waiter_count, 4, "answered with the commit, not before");
    cr_assert_eq(sx_modex_commit(server, target), PMIX_SUCCESS);
    cr_expect_eq(target->waiter_count, 1);
    cr_expect_eq(client_of(server, 2)->pending_counts[SX_PENDING_GET], 0);
    cr_expect(sx_pending_uses(server, asker, 2));
    cr_expect(sx_pending_uses(server, asker, 3));
    cr_expect_not(sx_pending_uses(server, asker, 1));
    cr_expect_not(sx_pending_uses(server, asker, 4));
    put(server, 3, "another");
    cr_assert_eq(sx_modex_commit(server, client_of(server, 3)), PMIX_SUCCESS);
    cr_expect_eq(asker->pending_counts[SX_PENDING_GET], 2);
    sx_pending_client_gone(server, asker);
    cr_expect_eq(asker->pending_counts[SX_PENDING_GET], 0);
    cr_expect_eq(target->waiter_count, 0);
    cr_expect(sx_list_empty(&sx_nspace_find(server, NSPACE)->awaited));
    return PMIX_SUCCESS;
}

Test(waiting, a_commit_answers_who_waits_for_what_was_put)
{
    hosted_call(by_key, NULL);
}

static pmix_status_t rank_goes(struct sx_server *server, void *arg)
{
    struct sx_client *target = client_of(server, 1);

    (void)arg;
    wait_for(server, 0, 1, 1, "a");
    wait_for(server, 0, 2, 1, "b");
    wait_for(server, 0, 3, 2, "a");
    sx_gets_client_gone(server, target);
    cr_expect_eq(client_of(server, 0)->pending_counts[SX_PENDING_GET], 1);
    cr_expect_eq(target->waiter_count, 0);
    cr_expect(sx_pending_uses(server, client_of(server, 0), 3));
    sx_gets_nspace_gone(server, sx_nspace_find(server, NSPACE));
    cr_expect_eq(client_of(server, 0)->pending_counts[SX_PENDING_GET], 0);
    return PMIX_SUCCESS;
}

Test(waiting, a_rank_that_goes_ends_the_waits_for_it_and_no_others)
{
    hosted_call(rank_goes, NULL);
}

/* Whatever follows a link of these, or reads one, does not come back; but a table's other nodes may
 * be its neighbours. */
static void make_garbage(struct sx_wait *wait, struct sx_wait *ret_copy)
{
    *ret_copy = *wait;
    memset(wait, 0xff, sizeof(*wait));
    wait->pending.node = ret_copy->pending.node;
}

/* Rank 1 commits while one client waits for one of its keys and another for hundreds, of it and of
 * others; those are not to be touched, and what they lie in is not to be walked. */
static pmix_status_t untouched(struct sx_server *server, void *arg)
{
    static struct sx_wait *waits[2 * KEYS], copies[2 * KEYS];
    struct sx_nspace *nspace = sx_nspace_find(server, NSPACE);
    struct sx_client *target = client_of(server, 1);
    struct sx_awaited *awaited;
    char key[32];

    (void)arg;
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "never.%u", i);
        waits[2 * i] = wait_for(server, 0, 2 * i + 1, 1, key);
        waits[2 * i + 1] = wait_for(server, 0, 2 * i + 2, 3, key);
    }
    wait_for(server, 2, 1, 1, "once");
    for (size_t i = 0; i < SX_COUNT(waits); i++) {
        make_garbage(waits[i], &copies[i]);
    }
    awaited = sx_awaited_find(server, nspace, 1);
    const struct sx_list keys = awaited->keys, ranks = nspace->awaited;
    awaited->keys = nspace->awaited = (struct sx_list){ NULL, NULL };
    cr_assert_eq(sx_modex_commit(server, target), PMIX_SUCCESS);
    awaited->keys = keys; /* a key that is found leaves its neighbours */
    put(server, 1, "once");
    const struct sx_list fewer = awaited->keys;
    awaited->keys = (struct sx_list){ NULL, NULL };
    cr_assert_eq(sx_modex_commit(server, target), PMIX_SUCCESS);
    awaited->keys = fewer;
    nspace->awaited = ranks;
    for (size_t i = 0; i < SX_COUNT(waits); i++) {
        const struct sx_table_node node = waits[i]->pending.node;

        *waits[i] = copies[i];
        waits[i]->pending.node = node;
    }
    cr_expect_eq(client_of(server, 2)->pending_counts[SX_PENDING_GET], 0);
    cr_expect_eq(target->waiter_count, KEYS);
    sx_pending_client_gone(server, client_of(server, 0));
    return PMIX_SUCCESS;
}

Test(waiting, a_commit_touches_nobody_who_waits_for_something_else)
{
    hosted_call(untouched, NULL);
}
