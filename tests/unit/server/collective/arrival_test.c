/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrival_test.c - what a client's joining of a collective says, and what of it is refused. */
#include "server/collective/collective.h"

#include <pmix.h>

#include "../opened.h"
#include "../proc_list.h"
#include "base/clock.h"
#include "base/value/flat.h"
#include "control/message.h"
#include "ring/record.h"

static struct proc_list message;

static struct sx_lane_arrive *head(void)
{
    return (struct sx_lane_arrive *)(void *)message.bytes;
}

static void begin(void)
{
    message.size = sizeof(struct sx_lane_arrive);
    *head() = (struct sx_lane_arrive){ .kind = SX_COLLECTIVE_FENCE, .op = 17 };
}

TestSuite(arrival, .init = begin);

static void proc(uint32_t rank, const char *name)
{
    proc_list_add(&message, rank, name);
    head()->proc_count++;
}

static void infos(const pmix_info_t info[], size_t ninfo)
{
    size_t size;

    cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(info, ninfo, message.bytes + message.size, size),
                 PMIX_SUCCESS);
    head()->info_size = (uint32_t)size;
    message.size += size;
}

Test(arrival, says_by_a_flag_that_it_collects)
{
    static const struct {
        uint8_t flags;
        pmix_status_t status;
        bool collects;
    } rows[] = {
        { 0, PMIX_SUCCESS, false },
        { SX_ARRIVE_COLLECT, PMIX_SUCCESS, true },
        { SX_RECEIVES_LEADERS << 1, PMIX_ERR_BAD_PARAM, false },
        { 0x80, PMIX_ERR_BAD_PARAM, false },
    };
    struct sx_arrival arrival;

    proc(2, "a");
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        head()->flags = rows[i].flags;
        cr_expect_eq(sx_arrival_read(&arrival,
                                     opened(&sx_arrive_body, message.bytes, message.size)),
                     rows[i].status);
        cr_expect_eq(rows[i].status == PMIX_SUCCESS && arrival.options.collect, rows[i].collects);
        sx_arrival_clear(&arrival);
    }
}

Test(arrival, is_read_as_it_was_written)
{
    const int seconds = 3;
    struct sx_arrival arrival;
    pmix_info_t info;

    proc(2, "a");
    proc(PMIX_RANK_WILDCARD, "b");
    PMIx_Info_load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    infos(&info, 1);
    cr_assert_eq(sx_arrival_read(&arrival, opened(&sx_arrive_body, message.bytes, message.size)),
                 PMIX_SUCCESS);
    cr_expect_eq(arrival.kind, SX_COLLECTIVE_FENCE);
    cr_expect_eq(arrival.op, 17);
    cr_assert_eq(arrival.proc_count, 2);
    cr_expect_str_eq(arrival.procs[0].nspace, "a");
    cr_expect_eq(arrival.procs[1].rank, PMIX_RANK_WILDCARD);
    cr_assert_eq(arrival.ninfo, 1);
    cr_expect_str_eq(arrival.info[0].key, PMIX_TIMEOUT);
    cr_expect_geq(arrival.bytes, 2 * sizeof(pmix_proc_t) + sizeof(pmix_info_t));
    sx_arrival_clear(&arrival);
    sx_arrival_clear(&arrival);
}

/* The body is opened without a look into them. */
Test(arrival, with_directives_that_contradict_themselves_is_a_breach)
{
    const uint16_t type = PMIX_STRING;
    struct sx_arrival arrival;
    pmix_info_t info;

    proc(0, "job");
    PMIx_Info_load(&info, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    const size_t off = message.size;

    infos(&info, 1);
    memcpy(message.bytes + off + sizeof(struct sx_cell), &type, sizeof(type));
    cr_expect_eq(sx_arrival_read(&arrival, opened(&sx_arrive_body, message.bytes, message.size)),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_null(arrival.procs);
}

/* Directives that are few bytes here and much memory as an array: refused, yet no breach. */
Test(arrival, with_directives_that_would_fill_memory_is_refused)
{
    static pmix_info_t many[150];
    struct sx_arrival arrival;

    proc(0, "job");
    for (size_t i = 0; i < SX_COUNT(many); i++) {
        PMIx_Info_load(&many[i], "k", NULL, PMIX_BOOL);
    }
    infos(many, SX_COUNT(many));
    cr_expect_leq(head()->info_size, SX_ARRIVE_INFOS_MAX);
    cr_expect_eq(sx_arrival_read(&arrival, opened(&sx_arrive_body, message.bytes, message.size)),
                 PMIX_ERR_OUT_OF_RESOURCE);
    sx_arrival_clear(&arrival);
}

static const struct {
    const char *why, *first, *second;
    uint32_t first_rank, second_rank;
    bool good;
} orders[] = {
    { "by rank", "job", "job", 1, 2, true },
    { "by name, whatever the ranks", "a", "b", 9, 0, true },
    { "the wildcard behind the ranks", "job", "job", 0, PMIX_RANK_WILDCARD, true },
    { "twice the same", "job", "job", 1, 1, false },
    { "ranks the wrong way round", "job", "job", 2, 1, false },
    { "names the wrong way round", "b", "a", 0, 1, false },
};

Test(arrival, says_whether_its_processes_are_in_order_and_each_once)
{
    for (size_t i = 0; i < SX_COUNT(orders); i++) {
        struct sx_arrival arrival;

        begin();
        proc(orders[i].first_rank, orders[i].first);
        proc(orders[i].second_rank, orders[i].second);
        cr_expect_eq(sx_arrival_read(&arrival,
                                     opened(&sx_arrive_body, message.bytes, message.size)),
                     PMIX_SUCCESS);
        cr_expect_eq(arrival.in_order, orders[i].good, "%s", orders[i].why);
        sx_arrival_clear(&arrival);
    }
}
