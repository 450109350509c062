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

/* ---- many Gets end at once ------------------------------------------------------------------- */

#define MANY 900u /* of each of three that ask */
#define ASKERS 3u

static const uint32_t askers[ASKERS] = { 0, 2, 3 };

/* What the answers say: some of each kind, whichever way they end. */
static struct {
    unsigned answers, found, not_found, timed_out;
    const struct sx_pending_kind *kind;
} ends;

static void end_counts(struct sx_pending *pending)
{
    ends.answers++;
    ends.found += pending->status == PMIX_SUCCESS;
    ends.not_found += pending->status == PMIX_ERR_NOT_FOUND;
    ends.timed_out += pending->status == PMIX_ERR_TIMEOUT;
    ends.kind->closed(pending);
}

static const struct sx_pending_kind counted_kind = { .quota = SX_PENDING_GET,
                                                     .closed = end_counts };

static struct sx_wait *counted_wait(struct sx_server *server, uint32_t asker, uint32_t id,
                                    const char *key)
{
    struct sx_wait *const wait = wait_for(server, asker, id, 1, key);

    ends.kind = wait->pending.kind;
    wait->pending.kind = &counted_kind;
    return wait;
}

/* Many wait for rank 1: for the same key, and for keys of their own. */
static void many_wait(struct sx_server *server)
{
    char key[32];

    for (uint32_t i = 0; i < ASKERS * MANY; i++) {
        snprintf(key, sizeof(key), "key.%u", i);
        counted_wait(server, askers[i % ASKERS], 1 + i, i % 2 == 0 ? "same" : key);
    }
}

/* How many wait in the eyes of their clients. */
static unsigned open_count(struct sx_server *server)
{
    unsigned count = 0;

    for (size_t i = 0; i < ASKERS; i++) {
        count += client_of(server, askers[i])->pending_counts[SX_PENDING_GET];
    }
    return count;
}

static pmix_status_t open_get(struct sx_server *server, void *arg)
{
    *(unsigned *)arg = open_count(server);
    return PMIX_SUCCESS;
}

static void wait_for_open(unsigned want)
{
    unsigned count = want + 1;

    while (count != want) { /* bounded by the alarm */
        hosted_call(open_get, &count);
    }
}

static pmix_status_t end_of_many(struct sx_server *server, void *arg)
{
    struct sx_client *const target = client_of(server, 1);

    (void)arg;
    many_wait(server);
    struct sx_wait *const late = counted_wait(server, 0, ASKERS * MANY + 1, "late");
    sx_gets_client_gone(server, target);
    cr_expect_eq(ends.answers, SX_WAITING_STEP);
    cr_expect_eq(open_count(server), ASKERS * MANY + 1 - SX_WAITING_STEP);
    cr_expect_eq(target->waiter_count, 0, "its next process need not ring");
    cr_expect(sx_list_empty(&sx_nspace_find(server, NSPACE)->awaited));
    cr_expect_eq(sx_wait_status(late, PMIX_ERR_TIMEOUT), PMIX_ERR_NOT_FOUND);
    /* What the next process puts is for those who ask from now on. */
    counted_wait(server, 2, ASKERS * MANY + 2, "same");
    counted_wait(server, 2, ASKERS * MANY + 3, "never");
    cr_expect_eq(target->waiter_count, 2);
    put(server, 1, "same");
    cr_assert_eq(sx_modex_commit(server, target), PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

Test(waiting, the_end_of_a_rank_answers_a_thousand_a_turn)
{
    hosted_call(end_of_many, NULL);
    wait_for_open(1);
    cr_expect_eq(ends.not_found, ASKERS * MANY + 1);
    cr_expect_eq(ends.found, 1);
}

static pmix_status_t commit_of_many(struct sx_server *server, void *arg)
{
    struct sx_client *const target = client_of(server, 1);

    (void)arg;
    many_wait(server);
    put(server, 1, "same");
    cr_assert_eq(sx_modex_commit(server, target), PMIX_SUCCESS);
    cr_expect_eq(ends.answers, SX_WAITING_STEP);
    cr_expect_eq(target->waiter_count, ASKERS * MANY - SX_WAITING_STEP);
    sx_gets_client_gone(server, target); /* found is found */
    cr_expect_eq(ends.answers, SX_WAITING_STEP);
    return PMIX_SUCCESS;
}

Test(waiting, a_commit_answers_a_thousand_a_turn)
{
    hosted_call(commit_of_many, NULL);
    wait_for_open(0);
    cr_expect_eq(ends.found, ASKERS * MANY / 2);
    cr_expect_eq(ends.not_found, ASKERS * MANY / 2);
}

static bool is_even(struct sx_wait *wait, void *arg)
{
    (void)arg;
    return wait->pending.id % 2 == 0;
}

static pmix_status_t some_of_many(struct sx_server *server, void *arg)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, NSPACE);

    (void)arg;
    many_wait(server);
    sx_awaited_end_some(sx_awaited_find(server, nspace, 1), is_even, NULL, PMIX_ERR_TIMEOUT);
    cr_expect_eq(ends.answers, SX_WAITING_STEP);
    sx_pending_client_gone(server, client_of(server, 0));
    cr_expect_eq(ends.timed_out, SX_WAITING_STEP, "those of a client that has gone are dropped");
    return PMIX_SUCCESS;
}

Test(waiting, each_that_ends_has_a_status_of_its_own)
{
    hosted_call(some_of_many, NULL);
    wait_for_open((ASKERS - 1) * MANY / 2);
    PMIx_server_deregister_nspace(NSPACE, NULL, NULL);
    cr_expect_eq(ends.answers, ASKERS * MANY, "%u", ends.answers);
}

static pmix_status_t job_ends(struct sx_server *server, void *arg)
{
    many_wait(server);
    sx_gets_client_gone(server, client_of(server, 1));
    return open_get(server, arg);
}

Test(waiting, answers_outlive_the_job)
{
    unsigned open = 0;

    hosted_job_of("other", ASKERS, ASKERS);
    hosted_call(job_ends, &open);
    cr_expect_eq(open, ASKERS * MANY - SX_WAITING_STEP);
    PMIx_server_deregister_nspace(NSPACE, NULL, NULL);
    cr_expect_eq(ends.answers, ASKERS * MANY);
}
