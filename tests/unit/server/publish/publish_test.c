/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish_test.c - what a lookup and a publication make the server look at, and in whose turns. */
#include "server/publish/publish.h"

#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>

#include "../answers.h"
#include "../bare.h"
#include "../opened.h"
#include "base/value/flat.h"
#include "control/loop_engine.h"
#include "server/port/port.h"
#include "server/publish/lookup.h"

#define RANKS 6u
#define STEP_MAX (2u * SX_SHARE_STEP_UNITS * 32u) /* rows that a step may look at */

static struct sx_server server;
static struct sx_client *clients[RANKS];
static struct answers answers[RANKS];

static void begin(void)
{
    struct sx_nspace *nspace;

    bare_init(&server);
    bare_loop(&server);
    sx_publish_init(&server);
    nspace = bare_job(&server, "job", RANKS, RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        clients[rank] = bare_connect(&server, nspace, rank);
        clients[rank]->uid = 1000;
        answers_begin(&answers[rank], &server, clients[rank]);
    }
}

static void end(void)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        sx_pending_client_gone(&server, clients[rank]);
        answers_end(&answers[rank], clients[rank]);
    }
    sx_publish_deinit(&server);
    bare_deinit(&server);
}

TestSuite(publish, .init = begin, .fini = end);

/* Process @rank of @nspace, a process of the same user, has published @key for @range. */
static void have(const char *nspace, pmix_rank_t rank, const char *key, pmix_data_range_t range)
{
    struct sx_party by = { .uid = 1000 };
    const struct sx_publish_options options = { .range = range, .persistence = PMIX_PERSIST_APP };
    pmix_info_t info;

    PMIx_Load_procid(&by.who.proc, nspace, rank);
    cr_assert_eq(PMIx_Info_load(&info, key, "value", PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(sx_published_add(&server.publish.published, &by, &options, &info, 1),
                 PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&info);
}

/* Rank @rank looks for @count keys; @waits: until all are there. */
static void look(uint32_t rank, uint32_t id, const pmix_info_t keys[], size_t count, bool waits)
{
    pmix_info_t wait = { .value = { .type = PMIX_BOOL, .data.flag = true } };
    size_t keys_size = 0, infos_size = 0;

    PMIx_Load_key(wait.key, PMIX_WAIT);
    cr_assert_eq(sx_flat_infos_size(keys, count, &keys_size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_size(&wait, waits ? 1 : 0, &infos_size), PMIX_SUCCESS);
    const size_t size = sizeof(struct sx_publish_keys) + keys_size + infos_size;
    uint8_t *const bytes = calloc(1, size);
    const struct sx_publish_keys head = { .keys_size = keys_size, .infos_size = infos_size };

    cr_assert_not_null(bytes);
    memcpy(bytes, &head, sizeof(head));
    cr_assert_eq(sx_flat_infos_encode(keys, count, bytes + sizeof(head), keys_size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(&wait, waits ? 1 : 0, bytes + sizeof(head) + keys_size,
                                      infos_size),
                 PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_LOOKUP, id, bytes, size);

    cr_assert(sx_publish_on_lookup(&server, clients[rank], &frame, 0));
    free(bytes);
}

static void publish(uint32_t rank, const char *key)
{
    struct sx_publish head = { .infos_size = 0 };
    _Alignas(8) uint8_t bytes[4096];
    pmix_info_t info;
    size_t size;

    cr_assert_eq(PMIx_Info_load(&info, key, "value", PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_size(&info, 1, &size), PMIX_SUCCESS);
    head.infos_size = size;
    memcpy(bytes, &head, sizeof(head));
    cr_assert_eq(sx_flat_infos_encode(&info, 1, bytes + sizeof(head), size), PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_PUBLISH, 1, bytes, sizeof(head) + size);

    cr_assert(sx_publish_on_publish(&server, clients[rank], &frame, 0));
    PMIX_INFO_DESTRUCT(&info);
}

static pmix_info_t *keys_new(size_t count, const char *format)
{
    pmix_info_t *const keys = PMIx_Info_create(count);

    cr_assert_not_null(keys);
    for (size_t i = 0; i < count; i++) {
        snprintf(keys[i].key, sizeof(keys[i].key), format, (unsigned)i);
    }
    return keys;
}

Test(publish, a_key_that_is_named_often_is_looked_for_once)
{
    enum { OFTEN = 1000, ROWS = 200 };
    pmix_info_t *const keys = keys_new(OFTEN, "key");

    for (pmix_rank_t rank = 0; rank < ROWS; rank++) {
        have("elsewhere", rank, "key", PMIX_RANGE_PROC_LOCAL);
    }
    have("elsewhere", ROWS, "key", PMIX_RANGE_GLOBAL);
    const uint64_t before = server.publish.published.walked;

    look(1, 7, keys, OFTEN, false);
    cr_expect_eq(answers_next(&answers[1], 7), PMIX_SUCCESS);
    cr_expect_lt(server.publish.published.walked - before, 2 * ROWS, "%lu",
                 (unsigned long)(server.publish.published.walked - before));
    PMIx_Info_free(keys, OFTEN);
}

/* The first pair has the value; the others have its number. */
Test(publish, a_value_is_sent_once_however_often_its_key_is_named)
{
    enum { OFTEN = 1000 };
    pmix_info_t *const keys = keys_new(OFTEN, "other"), *info;
    size_t count;

    for (size_t i = 1; i < OFTEN; i++) {
        PMIx_Load_key(keys[i].key, "key");
    }
    have("elsewhere", 3, "key", PMIX_RANGE_GLOBAL);
    have("elsewhere", 4, "other", PMIX_RANGE_GLOBAL);
    look(1, 7, keys, OFTEN, false);
    cr_expect_eq(answers_next(&answers[1], 7), PMIX_SUCCESS);
    const struct sx_reply *const reply = answers[1].frame.body;

    cr_assert_eq(sx_flat_infos_decode(reply + 1, answers[1].frame.body_size - sizeof(*reply), &info,
                                      &count),
                 PMIX_SUCCESS);
    cr_assert_eq(count, 2 * OFTEN);
    for (size_t i = 0; i < OFTEN; i++) {
        const pmix_info_t *const pair = &info[2 * i];

        cr_expect_str_eq(pair[1].key, i == 0 ? "other" : "key");
        cr_expect_eq(pair[0].value.type, i < 2 ? PMIX_PROC : PMIX_SIZE, "pair %zu", i);
        cr_expect(i < 2 || pair[0].value.data.size == 1, "pair %zu", i);
        cr_expect_eq(pair[1].value.type, i < 2 ? PMIX_STRING : PMIX_UNDEF, "pair %zu", i);
    }
    PMIX_INFO_FREE(info, count);
    PMIx_Info_free(keys, OFTEN);
}

Test(publish, a_range_of_many_processes_is_searched_not_walked)
{
    enum { TARGETS = 3500 };
    static pmix_proc_t procs[TARGETS];
    const struct sx_publish_options options = { .range = PMIX_RANGE_CUSTOM,
                                                .targets = { .all = procs, .count = TARGETS } };
    struct sx_party by = { .uid = 1000 }, asker = { .uid = 1000 };
    const struct sx_lookup_options look_for = { .range = PMIX_RANGE_GLOBAL };
    pmix_info_t info[2];

    for (uint32_t i = 0; i < TARGETS; i++) {
        PMIx_Load_procid(&procs[i], i % 2 == 0 ? "b" : "a", TARGETS - i);
    }
    PMIx_Load_procid(&procs[17], "all", PMIX_RANK_WILDCARD);
    PMIx_Load_procid(&by.who.proc, "by", 0);
    sx_published_targets_sort(&options.targets);
    pmix_data_array_t array = { .type = PMIX_PROC, .size = TARGETS, .array = procs };

    cr_assert_eq(PMIx_Info_load(&info[0], "key", "value", PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&info[1], PMIX_EVENT_CUSTOM_RANGE, &array, PMIX_DATA_ARRAY),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_published_add(&server.publish.published, &by, &options, info, 2), PMIX_SUCCESS);
    for (uint32_t i = 0; i < TARGETS; i++) {
        asker.who.proc = (pmix_proc_t){ .rank = TARGETS - i };
        memcpy(asker.who.proc.nspace, i % 2 == 0 ? "b" : "a", 2);
        cr_expect_eq(sx_published_find(&server.publish.published, "key", &asker, &look_for) != NULL,
                     i != 17, "%u", i);
    }
    PMIx_Load_procid(&asker.who.proc, "all", 12345);
    const uint64_t before = server.publish.published.walked;

    cr_expect_not_null(sx_published_find(&server.publish.published, "key", &asker, &look_for));
    cr_expect_lt(server.publish.published.walked - before, TARGETS / 20);
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

Test(publish, much_to_look_at_goes_on_in_the_next_turns)
{
    enum { KEYS = 1000, JOBS = 50 };
    pmix_info_t *const keys = keys_new(KEYS, "key.%u");
    unsigned steps = 0;
    char name[16];

    for (unsigned job = 0; job < JOBS; job++) {
        snprintf(name, sizeof(name), "job.%u", job);
        for (unsigned i = 0; i < KEYS; i++) {
            have(name, 0, keys[i].key, PMIX_RANGE_NAMESPACE);
        }
    }
    uint64_t before = server.publish.published.walked;

    look(1, 7, keys, KEYS, false);
    cr_expect(answers_none(&answers[1]));
    while (!sx_list_empty(&clients[1]->share.works)) {
        cr_assert_leq(server.publish.published.walked - before, STEP_MAX);
        before = server.publish.published.walked;
        sx_share_work_step(clients[1]);
        steps++;
    }
    cr_expect_gt(steps, 1);
    clients[1]->share.units = 1;
    if (!sx_list_empty(&clients[1]->share.due)) {
        sx_pending_send_due(clients[1]);
    }
    cr_expect_eq(answers_next(&answers[1], 7), PMIX_ERR_NOT_FOUND);
    PMIx_Info_free(keys, KEYS);
}

/* Rank @rank takes back @count keys, or all (0). */
static void take_back(uint32_t rank, uint32_t id, const pmix_info_t keys[], size_t count)
{
    size_t keys_size = 0, infos_size = 0;

    cr_assert_eq(sx_flat_infos_size(keys, count, &keys_size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_size(NULL, 0, &infos_size), PMIX_SUCCESS);
    const size_t size = sizeof(struct sx_publish_keys) + keys_size + infos_size;
    uint8_t *const bytes = calloc(1, size);
    const struct sx_publish_keys head = { .keys_size = keys_size, .infos_size = infos_size };

    cr_assert_not_null(bytes);
    memcpy(bytes, &head, sizeof(head));
    cr_assert_eq(sx_flat_infos_encode(keys, count, bytes + sizeof(head), keys_size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(NULL, 0, bytes + sizeof(head) + keys_size, infos_size),
                 PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_UNPUBLISH, id, bytes, size);

    cr_assert(sx_publish_on_unpublish(&server, clients[rank], &frame, 0));
    free(bytes);
}

/* By their names, and all at once; one of the names is nobody's. */
Test(publish, many_that_are_taken_back_go_in_the_next_turns)
{
    enum { KEYS = 1000, WITHOUT = 3 };
    pmix_info_t *const keys = keys_new(KEYS, "key.%u");

    for (int named = 1; named >= 0; named--) {
        for (unsigned i = 0; i < KEYS; i++) {
            if (!named || i != WITHOUT) {
                have("job", 1, keys[i].key, PMIX_RANGE_SESSION);
            }
        }
        uint64_t before = server.publish.published.walked;
        unsigned steps = 0;

        take_back(1, 7, named ? keys : NULL, named ? KEYS : 0);
        cr_expect_gt(server.publish.published.keys.count, 0);
        cr_expect(answers_none(&answers[1]));
        for (; !sx_list_empty(&clients[1]->share.works); steps++) {
            cr_assert_leq(server.publish.published.walked - before, STEP_MAX);
            before = server.publish.published.walked;
            sx_share_work_step(clients[1]);
        }
        cr_expect_gt(steps, 2);
        clients[1]->share.units = 1;
        if (!sx_list_empty(&clients[1]->share.due)) {
            sx_pending_send_due(clients[1]);
        }
        cr_expect_eq(answers_next(&answers[1], 7), named ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS);
        cr_expect_eq(server.publish.published.keys.count, 0);
        cr_expect_eq(server.port.pendings.count, 0);
    }
    PMIx_Info_free(keys, KEYS);
}

/* ---- large answers --------------------------------------------------------------------------- */

#define LARGE_KEYS 64u
#define LARGE_BYTES (64u << 10)

static void have_large(unsigned number, pmix_persistence_t persistence)
{
    static char bytes[LARGE_BYTES];
    struct sx_party by = { .uid = 1000 };
    const struct sx_publish_options options = { .range = PMIX_RANGE_SESSION,
                                                .persistence = persistence };
    const pmix_byte_object_t value = { .bytes = bytes, .size = sizeof(bytes) };
    char key[16];
    pmix_info_t info;

    PMIx_Load_procid(&by.who.proc, "elsewhere", number);
    memset(bytes, (int)number, sizeof(bytes));
    snprintf(key, sizeof(key), "large.%u", number);
    cr_assert_eq(PMIx_Info_load(&info, key, &value, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    cr_assert_eq(sx_published_add(&server.publish.published, &by, &options, &info, 1),
                 PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&info);
}

static void written_look(void *arg, uint64_t now_ns)
{
    struct sx_timer *const again = arg;

    if (server.port.pendings.count == 0) {
        sx_loop_stop(server.loop);
    } else {
        cr_assert_eq(sx_timer_add(server.loop, again, now_ns + 1000), PMIX_SUCCESS);
    }
}

/* Run the loop until nothing is pending. */
static void written_await(void)
{
    struct sx_timer again = { .fn = written_look };

    again.arg = &again;
    cr_assert_eq(sx_timer_add(server.loop, &again, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
}

/* A lookup of 4 MiB is searched in steps, and what it has found is written beside the loop. */
static void look_for_large(uint32_t rank, const pmix_info_t keys[])
{
    look(rank, 7, keys, LARGE_KEYS, false);
    cr_expect(answers_none(&answers[rank]), "it is not written in the turn");
    while (!sx_list_empty(&clients[rank]->share.works)) {
        sx_share_work_step(clients[rank]);
        cr_expect(answers_none(&answers[rank]), "nor in a later one");
    }
    cr_expect_eq(server.port.pendings.count, 1);
}

/* What is taken back, or goes, while it is written is there in full; what is read once is for
 * one. */
Test(publish, a_large_answer_is_written_beside_the_loop)
{
    pmix_info_t *const keys = keys_new(LARGE_KEYS, "large.%u"), *info = NULL;
    size_t count;

    for (unsigned i = 0; i < LARGE_KEYS; i++) {
        have_large(i, i == 0 ? PMIX_PERSIST_FIRST_READ : PMIX_PERSIST_APP);
    }
    look_for_large(1, keys);
    look(2, 8, keys, 1, false);
    cr_expect_eq(answers_next(&answers[2], 8), PMIX_ERR_NOT_FOUND, "another one reads it");
    sx_published_app_gone(&server.publish.published, "elsewhere", 0);
    cr_expect(sx_published_over_step(&server.publish.published, UINT64_MAX));
    cr_expect_eq(server.publish.published.keys.count, 1);
    written_await();
    clients[1]->share.units = 1;
    if (!sx_list_empty(&clients[1]->share.due)) {
        sx_pending_send_due(clients[1]);
    }
    cr_expect_eq(answers_next(&answers[1], 7), PMIX_SUCCESS);
    const struct sx_reply *const reply = answers[1].frame.body;

    cr_assert_eq(sx_flat_infos_decode(reply + 1, answers[1].frame.body_size - sizeof(*reply), &info,
                                      &count),
                 PMIX_SUCCESS);
    cr_assert_eq(count, 2 * LARGE_KEYS);
    for (unsigned i = 0; i < LARGE_KEYS; i++) {
        const pmix_info_t *const pair = &info[2 * i];

        cr_expect_eq(pair[0].value.data.proc->rank, i);
        cr_assert_eq(pair[1].value.data.bo.size, LARGE_BYTES);
        cr_expect_eq(pair[1].value.data.bo.bytes[LARGE_BYTES - 1], (char)i);
    }
    cr_expect_eq(server.publish.published.keys.count, 0);
    cr_expect_eq(clients[1]->found_bytes, 0);
    PMIX_INFO_FREE(info, count);
    PMIx_Info_free(keys, LARGE_KEYS);
}

/* Who has asked goes while it is written: what was to be read once is still there. */
Test(publish, a_large_answer_that_nobody_wants_any_more_leaves_nothing)
{
    pmix_info_t *const keys = keys_new(LARGE_KEYS, "large.%u");

    for (unsigned i = 0; i < LARGE_KEYS; i++) {
        have_large(i, PMIX_PERSIST_FIRST_READ);
    }
    look_for_large(1, keys);
    sx_pending_client_gone(&server, clients[1]);
    cr_expect_eq(server.port.pendings.count, 0);
    cr_expect_eq(clients[1]->found_bytes, 0);
    sx_answers_stop(&server);
    bare_call(&server, bare_stop, server.loop);
    look(2, 8, keys, 1, false);
    cr_expect_eq(answers_next(&answers[2], 8), PMIX_SUCCESS);
    cr_expect_eq(server.publish.published.keys.count, LARGE_KEYS - 1);
    PMIx_Info_free(keys, LARGE_KEYS);
}

/* Of 1,280 who wait the publication itself serves the first 1,024; the others do in their turns. */
Test(publish, of_many_who_wait_the_first_are_served_at_once)
{
    enum { EACH = 256, SERVED = 1024, WAITING = (RANKS - 1) * EACH };
    pmix_info_t *const key = keys_new(1, "key");
    unsigned steps = 0;

    for (uint32_t rank = 1; rank < RANKS; rank++) {
        for (uint32_t i = 0; i < EACH; i++) {
            look(rank, 10 + i, key, 1, true);
        }
    }
    cr_assert_eq(server.port.pendings.count, WAITING);
    const uint64_t before = server.publish.published.walked;

    publish(0, "key");
    cr_expect_eq(server.port.pendings.count, WAITING - SERVED);
    cr_expect_lt(server.publish.published.walked - before, 4 * WAITING);
    while (!sx_list_empty(&clients[RANKS - 1]->share.works)) {
        sx_share_work_step(clients[RANKS - 1]);
        steps++;
    }
    cr_expect_eq(steps, WAITING - SERVED);
    cr_expect_eq(server.port.pendings.count, 0);
    PMIx_Info_free(key, 1);
}

/* What a lookup has found may have gone before it has found enough. */
Test(publish, what_has_gone_meanwhile_is_not_found)
{
    pmix_info_t *const keys = keys_new(2, "key.%u");
    struct sx_party by = { .uid = 1000 };

    PMIx_Load_procid(&by.who.proc, "elsewhere", 0);
    have("elsewhere", 0, "key.0", PMIX_RANGE_SESSION);
    look(1, 7, keys, 2, true);
    cr_assert_eq(sx_published_withdraw(&server.publish.published, &by, "key.0", PMIX_RANGE_SESSION),
                 PMIX_SUCCESS);
    publish(0, "key.1");
    while (!sx_list_empty(&clients[1]->share.works)) {
        sx_share_work_step(clients[1]);
    }
    cr_expect_eq(server.port.pendings.count, 1);
    publish(0, "key.0");
    cr_expect_eq(server.port.pendings.count, 0);
    PMIx_Info_free(keys, 2);
}

/* ---- jobs that end --------------------------------------------------------------------------- */

#define MANY 1000u

static struct sx_published_row *row_of(unsigned number)
{
    char key[32];

    snprintf(key, sizeof(key), "many.%u", number);
    return sx_published_next(&server.publish.published, key, NULL);
}

static struct sx_timer rows_timer;

static void rows_look(void *arg, uint64_t now_ns)
{
    (void)arg;
    if (server.publish.over_posted || server.publish.leave.is_posted) {
        cr_assert_eq(sx_timer_add(server.loop, &rows_timer, now_ns), PMIX_SUCCESS);
    } else {
        sx_loop_stop(server.loop);
    }
}

/* Run the loop until the rows that are over have gone, and lookups that have ended. */
static void rows_run(void)
{
    rows_timer = (struct sx_timer){ .fn = rows_look };
    cr_assert_eq(sx_timer_add(server.loop, &rows_timer, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
}

Test(publish, what_ends_with_a_job_goes_in_steps_and_is_found_no_more)
{
    const struct sx_published *const all = &server.publish.published;
    struct sx_nspace *const job = bare_job(&server, "elsewhere", 1, 1);
    char key[32];
    const uint64_t posts = atomic_load(&server.loop->posts_run);

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "many.%u", i);
        have("elsewhere", 0, key, PMIX_RANGE_GLOBAL);
    }
    sx_publish_nspace_gone(&server, job);
    cr_expect_gt(all->keys.count, MANY / 2, "%zu are left", all->keys.count);
    for (unsigned i = 0; i < MANY; i++) {
        cr_assert_null(row_of(i), "%u", i);
    }
    have("another", 0, "many.999", PMIX_RANGE_GLOBAL);
    rows_run();
    const uint64_t steps = atomic_load(&server.loop->posts_run) - posts;

    cr_expect_gt(steps, 3, "%llu", (unsigned long long)steps);
    cr_expect_lt(steps, 20, "%llu", (unsigned long long)steps);
    cr_expect(sx_list_empty(&all->ending));
    cr_expect_not_null(row_of(999));
}

Test(publish, the_server_ends_before_all_of_it_has_gone)
{
    struct sx_nspace *const job = bare_job(&server, "elsewhere", 1, 1);
    char key[32];

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(key, sizeof(key), "many.%u", i);
        have("elsewhere", 0, key, PMIX_RANGE_GLOBAL);
    }
    sx_publish_nspace_gone(&server, job);
    sx_publish_deinit(&server);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(server.publish.published.keys.count, 0);
}

/* ---- many keys that lookups wait for --------------------------------------------------------- */

enum { ENDING = 7, KEYS_EACH = 1000, OF_ANOTHER = 1 };

/* Rank 1 waits in many lookups of keys of their own, and rank 2 for one of those keys. */
static void wait_for_many(void)
{
    char format[32];

    for (unsigned i = 0; i < ENDING; i++) {
        snprintf(format, sizeof(format), "wait.%u.%%u", i);
        pmix_info_t *const keys = keys_new(KEYS_EACH, format);

        look(1, 10 + i, keys, KEYS_EACH, true);
        while (!sx_list_empty(&clients[1]->share.works)) {
            sx_share_work_step(clients[1]);
        }
        PMIx_Info_free(keys, KEYS_EACH);
    }
    pmix_info_t *const key = keys_new(OF_ANOTHER, "wait.6.%u");

    look(2, 7, key, OF_ANOTHER, true);
    PMIx_Info_free(key, OF_ANOTHER);
    cr_assert_eq(server.port.pendings.count, ENDING + 1);
    cr_assert_eq(server.publish.lookups.count, ENDING * KEYS_EACH);
}

Test(publish, lookups_that_end_leave_their_keys_in_steps)
{
    const uint32_t *const counts = clients[1]->pending_counts;
    const uint64_t posts = atomic_load(&server.loop->posts_run);

    wait_for_many();
    sx_pending_client_gone(&server, clients[1]);
    cr_expect_eq(server.port.pendings.count, 1);
    cr_expect_eq(server.publish.lookups.count, ENDING * KEYS_EACH - SX_LOOKUP_STEP_KEYS);
    cr_expect_eq(counts[SX_PENDING_LOOKUP], ENDING - SX_LOOKUP_STEP_KEYS / KEYS_EACH,
                 "they count as long as they take memory");
    publish(0, "wait.6.0"); /* for those who wait still */
    cr_expect_eq(answers_next(&answers[2], 7), PMIX_SUCCESS);
    cr_expect_eq(server.publish.lookups.count, ENDING * KEYS_EACH - SX_LOOKUP_STEP_KEYS);
    rows_run();
    const uint64_t steps = atomic_load(&server.loop->posts_run) - posts;

    cr_expect_geq(steps, (ENDING * KEYS_EACH - 1) / SX_LOOKUP_STEP_KEYS);
    cr_expect_leq(steps, ENDING);
    cr_expect_eq(server.publish.lookups.count, 0);
    cr_expect_eq(counts[SX_PENDING_LOOKUP], 0);
    cr_expect_eq(clients[1]->pending_bytes[SX_PENDING_LOOKUP], 0);
}

/* Their answers are sent later, and they are counted until both are over. */
Test(publish, lookups_may_leave_their_keys_before_they_are_answered)
{
    wait_for_many();
    sx_share_charge(&server, clients[1], 2 * SX_TURN_UNITS); /* no answer in this turn */
    SX_LIST_EACH(it, &clients[1]->pendings) {
        sx_pending_answer(SX_LIST_ENTRY(it, struct sx_pending, link), PMIX_ERR_TIMEOUT);
    }
    rows_run();
    cr_expect_eq(clients[1]->pending_counts[SX_PENDING_LOOKUP], ENDING);
    for (unsigned i = 0; i < ENDING; i++) {
        sx_pending_send_due(clients[1]);
        cr_expect_eq(answers_next(&answers[1], 10 + i), PMIX_ERR_TIMEOUT);
    }
    cr_expect_eq(clients[1]->pending_counts[SX_PENDING_LOOKUP], 0);
    cr_expect_eq(clients[1]->pending_bytes[SX_PENDING_LOOKUP], 0);
}

Test(publish, the_server_ends_before_all_lookups_have_gone)
{
    wait_for_many();
    sx_pending_client_gone(&server, clients[1]);
    sx_pending_client_gone(&server, clients[2]);
    sx_publish_deinit(&server);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(clients[1]->pending_counts[SX_PENDING_LOOKUP], 0);
    cr_expect_eq(clients[1]->reference_count, 1);
}
