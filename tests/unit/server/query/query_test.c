/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_test.c - what one call makes the server walk: each thing once, a step a turn, and paid. */
#include "server/query/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <pmix.h>

#include "../answers.h"
#include "../bare.h"
#include "../opened.h"
#include "base/call/query.h"
#include "base/value/flat.h"

#define ID 7u
#define PROCS 5000u
#define SETS 3000u
#define STEP_MAX (SX_SHARE_STEP_UNITS + 100) /* the last part of a step may be more */

static struct sx_server server;
static struct sx_client *client;
static struct answers answers;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    sx_list_init(&server.registry.nspaces);
    client = bare_connect(&server, bare_job(&server, "job", PROCS, 1), 0);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
}

static void end(void)
{
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(server.port.pendings.count, 0);
    cr_expect_eq(client->pending_counts[SX_PENDING_HOST], 0);
    answers_end(&answers, client);
    sx_pendings_deinit(&server);
    sx_memberships_deinit(&server);
    bare_deinit(&server);
}

TestSuite(query, .init = begin, .fini = end);

/* ---- asking
 * ----------------------------------------------------------------------------------- */

static uint64_t charged; /* since the call */

/* The call, or one step of it, is done: the last may be more, by the size of the answer. */
static void charge_take(int64_t before)
{
    const int64_t units = before - client->share.units;

    cr_expect(units <= STEP_MAX || sx_list_empty(&client->share.works), "%lld units at once",
              (long long)units);
    charged += (uint64_t)units;
    server.turn.number += 1 + (uint64_t)units / SX_TURN_UNITS; /* it has paid */
    cr_assert(sx_share_affords(&server, client));
}

/* The first step of a query of @key, @count times. */
static void ask(const char *key, size_t count)
{
    char **const keys = calloc(count + 1, sizeof(*keys));
    pmix_info_t qualifier = { .key = PMIX_NSPACE,
                              .value = { .type = PMIX_STRING, .data.string = (char *)"job" } };
    pmix_query_t query = { .keys = keys, .qualifiers = &qualifier, .nqual = 1 };
    pmix_data_array_t array = { .type = PMIX_QUERY, .size = 1, .array = &query };
    const pmix_info_t info = { .key = "queries",
                               .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_query_head head;
    size_t size;

    for (size_t i = 0; i < count; i++) {
        keys[i] = (char *)(uintptr_t)key;
    }
    cr_assert_eq(sx_flat_infos_size(&info, 1, &size), PMIX_SUCCESS);
    uint8_t *const body = malloc(sizeof(head) + size);

    head.info_size = size;
    memcpy(body, &head, sizeof(head));
    cr_assert_eq(sx_flat_infos_encode(&info, 1, body + sizeof(head), size), PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_QUERY, ID, body, sizeof(head) + size);
    const int64_t before = client->share.units;

    charged = 0;
    cr_expect(sx_query_on_query(&server, client, &frame, 0));
    charge_take(before);
    free(body);
    free(keys);
}

/* Return: how many further steps there were; no answer came before the last. */
static unsigned steps_do(void)
{
    unsigned steps = 0;

    for (; !sx_list_empty(&client->share.works); steps++) {
        const int64_t before = client->share.units;

        cr_expect(answers_none(&answers));
        sx_share_work_step(client);
        charge_take(before);
    }
    return steps;
}

/* The results, which are freed with PMIx_Info_free. */
static pmix_info_t *results(pmix_status_t status, size_t *ret_count)
{
    pmix_info_t *info = NULL;

    if (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
        sx_share_forgive(client);
    }
    const struct sx_reply *const reply = answers_next(&answers, ID) == status ? answers.frame.body
                                                                              : NULL;

    cr_assert_not_null(reply, "another status than %s", PMIx_Error_string(status));
    cr_assert_eq(sx_flat_infos_decode(reply + 1, answers.frame.body_size - sizeof(*reply), &info,
                                      ret_count),
                 PMIX_SUCCESS);
    return info;
}

static void sets_add(size_t count)
{
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, 0);
    char name[32];

    for (size_t i = 0; i < count; i++) {
        const struct sx_membership_options options = {
            .name = name, .kind = SX_MEMBERSHIP_PSET, .procs = &proc, .proc_count = 1
        };
        struct sx_membership_entry *entry;

        snprintf(name, sizeof(name), "set.%05zu", i);
        cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    }
}

/* ---- each thing once
 * -------------------------------------------------------------------------- */

Test(query, finds_once_what_is_named_again)
{
    size_t count;

    ask(PMIX_DAEMON_MEMORY, SX_QUERY_KEYS_MAX);
    (void)steps_do();
    pmix_info_t *const info = results(PMIX_SUCCESS, &count);

    cr_assert_eq(count, SX_QUERY_KEYS_MAX);
    cr_expect_eq(info[0].value.type, PMIX_FLOAT);
    for (size_t i = 1; i < count; i++) {
        cr_expect_eq(info[i].value.type, PMIX_UNDEF, "key %zu", i);
    }
    PMIx_Info_free(info, count);
}

/* What is large is copied, written and freed once. */
Test(query, sends_once_what_is_named_again)
{
    size_t count;

    sets_add(SETS / 10);
    ask(PMIX_QUERY_PSET_NAMES, SX_QUERY_KEYS_MAX);
    (void)steps_do();
    pmix_info_t *const info = results(PMIX_SUCCESS, &count);

    cr_assert_eq(count, SX_QUERY_KEYS_MAX);
    cr_expect_eq(strlen(info[0].value.data.string), SETS / 10 * sizeof("set.00000") - 1);
    cr_expect_eq(info[count - 1].value.type, PMIX_UNDEF);
    cr_expect_lt(answers.frame.body_size, SX_QUERY_KEYS_MAX * 100, "%zu bytes",
                 answers.frame.body_size);
    PMIx_Info_free(info, count);
}

static void written_look(void *arg, uint64_t now_ns)
{
    if (server.port.pendings.count == 0) {
        sx_loop_stop(server.loop);
    } else {
        cr_assert_eq(sx_timer_add(server.loop, arg, now_ns + 1000), PMIX_SUCCESS);
    }
}

/* The names of 3,000 sets, some 1.5 MB: they are written beside the loop. */
Test(query, writes_what_is_large_beside_the_loop)
{
    enum { NAME = 500 };
    const pmix_proc_t proc = sx_nspace_proc(client->nspace, 0);
    struct sx_timer look = { .fn = written_look, .arg = &look };
    struct sx_membership_entry *entry;
    char name[NAME + 1];
    size_t count;

    for (unsigned i = 0; i < SETS; i++) {
        const struct sx_membership_options options = {
            .name = name, .kind = SX_MEMBERSHIP_PSET, .procs = &proc, .proc_count = 1
        };

        snprintf(name, sizeof(name), "%0*u", NAME, i);
        cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    }
    ask(PMIX_QUERY_PSET_NAMES, 1);
    (void)steps_do();
    cr_expect(answers_none(&answers), "it is not written in a turn");
    cr_assert_eq(server.port.pendings.count, 1);
    cr_assert_eq(sx_timer_add(server.loop, &look, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
    pmix_info_t *const info = results(PMIX_SUCCESS, &count);

    cr_assert_eq(count, 1);
    cr_expect_eq(strlen(info[0].value.data.string), SETS * (NAME + 1) - 1);
    PMIx_Info_free(info, count);
}

Test(query, counts_sets_without_a_walk)
{
    size_t count;

    sets_add(SETS);
    ask(PMIX_QUERY_NUM_PSETS, 1);
    cr_expect_eq(steps_do(), 0);
    cr_expect_lt(charged, SX_TURN_ANSWER_UNITS);
    pmix_info_t *const info = results(PMIX_SUCCESS, &count);

    cr_expect_eq(info[0].value.data.size, SETS);
    PMIx_Info_free(info, count);
}

/* ---- a step a turn, and paid
 * ------------------------------------------------------------------ */

Test(query, walks_the_names_of_sets_in_several_turns)
{
    size_t count;

    sets_add(SETS + 3000);
    ask(PMIX_QUERY_PSET_NAMES, 1);
    cr_expect_geq(steps_do(), 1);
    cr_expect_geq(charged, (SETS + 3000) / 8);
    pmix_info_t *const info = results(PMIX_SUCCESS, &count);

    cr_expect_eq(strlen(info[0].value.data.string), (SETS + 3000) * sizeof("set.00000") - 1);
    PMIx_Info_free(info, count);
}

Test(query, makes_a_table_of_processes_in_several_turns)
{
    size_t count;

    ask(PMIX_QUERY_PROC_TABLE, 1);
    cr_expect_geq(steps_do(), PROCS / STEP_MAX);
    cr_expect_geq(charged, PROCS);
    pmix_info_t *const info = results(PMIX_SUCCESS, &count);
    const pmix_data_array_t *const table = info[0].value.data.darray;

    cr_assert_eq(table->size, PROCS);
    for (uint32_t rank = 0; rank < PROCS; rank++) {
        cr_expect_eq(((const pmix_proc_info_t *)table->array)[rank].proc.rank, rank);
    }
    PMIx_Info_free(info, count);
}

/* What one query of the server's memory costs; it is one step. */
static uint64_t cost_of_memory(void)
{
    size_t count;

    ask(PMIX_DAEMON_MEMORY, 1);
    cr_expect_eq(steps_do(), 0);
    PMIx_Info_free(results(PMIX_SUCCESS, &count), 1);
    return charged;
}

Test(query, of_memory_costs_the_same_however_much_there_is)
{
    const size_t size = 256u << 20;
    const uint64_t before = cost_of_memory();
    void *const memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    cr_assert_neq(memory, MAP_FAILED);
    cr_expect_geq(before, 20, "a read of /proc is paid for");
    cr_expect_eq(cost_of_memory(), before);
    munmap(memory, size);
}

Test(query, ends_when_one_call_has_had_enough)
{
    size_t count;

    ask(PMIX_QUERY_PROC_TABLE, SX_QUERY_KEYS_MAX);
    while (!sx_list_empty(&client->share.works)) {
        sx_share_work_step(client);
    }
    sx_share_forgive(client);
    pmix_info_t *const info = results(PMIX_ERR_PARTIAL_SUCCESS, &count);

    cr_expect_lt(count, 100);
    PMIx_Info_free(info, count);
}

Test(query, of_a_client_that_goes_is_dropped)
{
    ask(PMIX_QUERY_PROC_TABLE, 1);
    cr_expect_not(sx_list_empty(&client->share.works));
    sx_share_work_step(client);
    sx_pending_client_gone(&server, client);
}
