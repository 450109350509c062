/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_block_test.c - the bytes of a client's event: what is taken, what of it is believed, and
 * what is a breach; and those of the host's. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "../block_build.h"
#include "../opened.h"
#include "../proc_list.h"
#include "base/util.h"
#include "base/value/value.h"
#include "server/model/event_log.h"

static const pmix_proc_t sender = { .nspace = "job", .rank = 3 };
static struct proc_list list; /* and what is before and behind it */

static struct sx_event *head(void)
{
    return (struct sx_event *)(void *)list.bytes;
}

/* An event as the client writes it: two targets, one affected process, one info. */
static void whole_event(void)
{
    pmix_info_t info;
    size_t info_size;

    list = (struct proc_list){ .size = sizeof(struct sx_event) };
    *head() = (struct sx_event){ .number = 99,
                                 .code = -7,
                                 .source_rank = 1000,
                                 .range = PMIX_RANGE_CUSTOM,
                                 .flags = 0xff,
                                 .source_len = 5,
                                 .target_count = 2,
                                 .affected_count = 1 };
    memcpy(list.bytes + list.size, "liar!", 5);
    list.size += 8;
    proc_list_add(&list, 1, "job");
    proc_list_add(&list, PMIX_RANK_WILDCARD, "other.job");
    proc_list_add(&list, 3, "job");
    memset(&info, 0, sizeof(info));
    PMIX_INFO_LOAD(&info, PMIX_EVENT_TEXT_MESSAGE, "hello", PMIX_STRING);
    cr_assert_eq(sx_flat_infos_size(&info, 1, &info_size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(&info, 1, list.bytes + list.size, info_size), PMIX_SUCCESS);
    head()->info_size = (uint32_t)info_size;
    list.size += info_size;
    PMIX_INFO_DESTRUCT(&info);
}

/* Judged in memory of exactly its size, so that a sanitizer sees a step too far. */
static pmix_status_t judge(size_t length, struct sx_event_block **ret)
{
    char *exact = malloc(length + (length == 0));

    cr_assert_not_null(exact);
    memcpy(exact, list.bytes, length);
    struct sx_opened body;
    const pmix_status_t rc = sx_body_open(&body, &sx_event_body, exact, length) != NULL
                                 ? PMIX_ERR_UNPACK_FAILURE
                                 : sx_event_block_judge(&sender, &body, ret);

    free(exact);
    return rc;
}

/* EV40, EV53: the source is the connection's, the infos are the sender's. */
Test(event_block, takes_what_the_sender_may_say_and_nothing_more)
{
    struct sx_event_block *block = NULL;
    pmix_proc_t source, *procs = NULL;
    pmix_info_t *info = NULL;
    size_t count = 0;

    whole_event();
    cr_assert_eq(judge(list.size, &block), PMIX_SUCCESS);
    const struct sx_event *event = sx_event_block_head(block);

    sx_event_block_source(block, &source);
    cr_assert_str_eq(source.nspace, "job");
    cr_assert_eq(source.rank, 3);
    cr_assert_eq(event->number, 0);
    cr_assert_eq(event->code, -7);
    cr_assert_eq(event->flags, SX_EVENT_NON_DEFAULT | SX_EVENT_DO_NOT_CACHE | SX_EVENT_STAYS_LOCAL);
    cr_assert(block->is_job);

    cr_assert_eq(sx_event_block_procs(block, SX_EVENT_TARGETS, &procs, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 2);
    cr_assert_str_eq(procs[1].nspace, "other.job");
    free(procs);
    cr_assert_eq(sx_event_block_procs(block, SX_EVENT_AFFECTED, &procs, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 1);
    cr_assert_eq(procs[0].rank, 3);
    free(procs);
    cr_assert_eq(sx_event_block_infos(block, &info, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 1);
    cr_assert_str_eq(info[0].value.data.string, "hello");
    PMIX_INFO_FREE(info, count);
    sx_event_block_release(block);
}

/* EV49: exactly those; a wildcard is the whole namespace. */
Test(event_block, aims_at_its_targets_only)
{
    struct sx_event_block *block = NULL;

    whole_event();
    cr_assert_eq(judge(list.size, &block), PMIX_SUCCESS);
    cr_assert(sx_event_block_aims_at(block, "job", 1));
    cr_assert_not(sx_event_block_aims_at(block, "job", 2));
    cr_assert(sx_event_block_aims_at(block, "job", PMIX_RANK_WILDCARD));
    cr_assert(sx_event_block_aims_at(block, "other.job", 7));
    cr_assert_not(sx_event_block_aims_at(block, "other.jo", 7));
    cr_assert_not(sx_event_block_aims_at(block, "jo", 1));
    sx_event_block_release(block);
}

Test(event_block, refuses_every_shortened_event)
{
    struct sx_event_block *block = NULL;

    whole_event();
    for (size_t length = 0; length < list.size; length++) {
        cr_assert_eq(judge(length, &block), PMIX_ERR_UNPACK_FAILURE, "%zu of %zu bytes", length,
                     list.size);
    }
}

Test(event_block, refuses_counts_and_lengths_that_lie)
{
    static const uint32_t lies[] = { 3, 1000, UINT32_MAX / 16, UINT32_MAX - 7, UINT32_MAX };
    struct sx_event_block *block = NULL;

    for (size_t i = 0; i < SX_COUNT(lies); i++) {
        whole_event();
        head()->target_count = lies[i];
        cr_assert_eq(judge(list.size, &block), PMIX_ERR_UNPACK_FAILURE);
        whole_event();
        head()->affected_count = lies[i];
        cr_assert_eq(judge(list.size, &block), PMIX_ERR_UNPACK_FAILURE);
        whole_event();
        head()->info_size = lies[i];
        cr_assert_eq(judge(list.size, &block), PMIX_ERR_UNPACK_FAILURE);
        whole_event();
        memcpy(list.bytes + sizeof(struct sx_event) + 8 + 4, &lies[i], 4); /* a target's name */
        cr_assert(lies[i] == 3 || judge(list.size, &block) == PMIX_ERR_UNPACK_FAILURE);
    }
    whole_event();
    head()->source_len = UINT16_MAX;
    cr_assert_eq(judge(list.size, &block), PMIX_ERR_UNPACK_FAILURE);
}

/* EV44, EV50. */
Test(event_block, refuses_ranges_that_stay_at_home_or_are_none)
{
    static const uint8_t bad[] = { PMIX_RANGE_PROC_LOCAL, 8, 100, PMIX_RANGE_INVALID };
    struct sx_event_block *block = NULL;

    for (size_t i = 0; i < SX_COUNT(bad); i++) {
        whole_event();
        head()->range = bad[i];
        cr_assert_eq(judge(list.size, &block), PMIX_ERR_UNPACK_FAILURE);
    }
    list = (struct proc_list){ .size = sizeof(struct sx_event) };
    head()->range = PMIX_RANGE_CUSTOM;
    cr_assert_eq(judge(list.size, &block), PMIX_ERR_BAD_PARAM);
    head()->range = PMIX_RANGE_GLOBAL;
    cr_assert_eq(judge(list.size, &block), PMIX_SUCCESS);
    cr_assert_not(block->is_job);
    sx_event_block_release(block);
}

/* Any byte may be wrong: refused or taken, but read within bounds and again in the same way. */
Test(event_block, survives_any_wrong_byte)
{
    unsigned seed = 1;

    for (int i = 0; i < 20000; i++) {
        struct sx_event_block *block = NULL;
        pmix_info_t *info = NULL;
        pmix_proc_t *procs = NULL;
        size_t count = 0;

        whole_event();
        for (int flips = 1 + rand_r(&seed) % 3; flips > 0; flips--) {
            list.bytes[(size_t)rand_r(&seed) % list.size] = (char)rand_r(&seed);
        }
        if (judge(list.size, &block) != PMIX_SUCCESS) {
            continue;
        }
        cr_assert_eq(sx_event_block_infos(block, &info, &count), PMIX_SUCCESS);
        PMIX_INFO_FREE(info, count);
        cr_assert_eq(sx_event_block_procs(block, SX_EVENT_TARGETS, &procs, &count), PMIX_SUCCESS);
        free(procs);
        cr_assert_eq(sx_event_block_procs(block, SX_EVENT_AFFECTED, &procs, &count), PMIX_SUCCESS);
        free(procs);
        sx_event_block_release(block);
    }
}

/* EV57: the host's words become the same list.bytes. */
Test(event_block, builds_what_it_would_accept)
{
    pmix_proc_t targets[2] = { { .nspace = "job", .rank = 1 },
                               { .nspace = "other", .rank = PMIX_RANK_WILDCARD } };
    pmix_data_array_t array = { .type = PMIX_PROC, .size = 2, .array = targets };
    const pmix_proc_t manager = { .rank = PMIX_RANK_UNDEF };
    struct sx_event_block *block = NULL;
    struct sx_event_block *again = NULL;
    pmix_proc_t source;
    pmix_info_t info[2];

    memset(info, 0, sizeof(info));
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_CUSTOM_RANGE, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_NON_DEFAULT, NULL, PMIX_BOOL);
    cr_assert_eq(block_build(-231, &manager, PMIX_RANGE_SESSION, info, 2, &block), PMIX_SUCCESS);
    sx_event_block_source(block, &source);
    cr_assert_str_eq(source.nspace, "");
    cr_assert_eq(source.rank, PMIX_RANK_UNDEF);
    cr_assert_eq(sx_event_block_head(block)->range, PMIX_RANGE_CUSTOM);
    cr_assert_eq(sx_event_block_head(block)->flags, SX_EVENT_NON_DEFAULT);
    cr_assert(sx_event_block_aims_at(block, "other", 5));
    cr_assert_not(sx_event_block_aims_at(block, "job", 5));
    cr_assert_eq(sx_event_block_judge(&sender, opened(&sx_event_body, block->bytes, block->size),
                                      &again),
                 PMIX_SUCCESS);
    sx_event_block_release(again);
    sx_event_block_release(block);

    info[0].value.type = PMIX_UNDEF; /* EV50 */
    cr_assert_eq(block_build(-1, &manager, PMIX_RANGE_CUSTOM, info, 1, &block), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(block_build(-1, &manager, PMIX_RANGE_CUSTOM, NULL, 0, &block), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(block_build(-1, &manager, PMIX_RANGE_INVALID, NULL, 0, &block),
                 PMIX_ERR_BAD_PARAM);
    info[0].value.type = PMIX_DATA_ARRAY;
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
}

/* What an event of the host is made of, and the directive that spoils it. */
static const struct {
    const char *why, *key;
    pmix_value_t value;
    pmix_status_t want;
} wishes[] = {
    { "a flag", PMIX_EVENT_DO_NOT_CACHE, { .type = PMIX_BOOL, .data.flag = true }, PMIX_SUCCESS },
    { "no process", PMIX_EVENT_AFFECTED_PROC, { .type = PMIX_PROC }, PMIX_ERR_BAD_PARAM },
    { "no processes", PMIX_EVENT_AFFECTED_PROCS, { .type = PMIX_UINT32 }, PMIX_ERR_BAD_PARAM },
    { "a pointer", "p", { .type = PMIX_POINTER, .data.ptr = &list }, PMIX_ERR_NOT_SUPPORTED },
};

Test(event_block, is_not_built_of_what_is_no_directive_or_cannot_travel)
{
    for (size_t i = 0; i < SX_COUNT(wishes); i++) {
        struct sx_event_block *block = NULL;
        pmix_info_t info = { .value = wishes[i].value };

        memcpy(info.key, wishes[i].key, strlen(wishes[i].key));
        cr_expect_eq(block_build(-1, &sender, PMIX_RANGE_GLOBAL, &info, 1, &block), wishes[i].want,
                     "%s", wishes[i].why);
        sx_event_block_release(block);
    }
}

Test(event_block, is_built_up_to_its_largest_size)
{
    char *const bytes = calloc(1, SX_EVENT_BYTES_MAX);
    pmix_byte_object_t object = { .bytes = bytes };
    pmix_info_t info = { .key = "k", .value = { .type = PMIX_BYTE_OBJECT } };
    struct sx_event_block *block = NULL;

    cr_assert_eq(block_build(-1, &sender, PMIX_RANGE_GLOBAL, &info, 1, &block), PMIX_SUCCESS);
    object.size = (SX_EVENT_BYTES_MAX - block->size) & ~(size_t)7;
    sx_event_block_release(block);
    info.value.data.bo = object;
    cr_assert_eq(block_build(-1, &sender, PMIX_RANGE_GLOBAL, &info, 1, &block), PMIX_SUCCESS);
    cr_expect_leq(block->size, SX_EVENT_BYTES_MAX);
    sx_event_block_release(block);
    info.value.data.bo.size = SX_EVENT_BYTES_MAX;
    const int kept = dup(STDERR_FILENO);
    char line[512] = "";
    int ends[2];

    cr_assert(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    cr_expect_eq(block_build(-1, &sender, PMIX_RANGE_GLOBAL, &info, 1, &block),
                 PMIX_ERR_OUT_OF_RESOURCE);
    cr_assert(dup2(kept, STDERR_FILENO) >= 0 && close(ends[1]) == 0);
    cr_expect_geq(read(ends[0], line, sizeof(line) - 1), 0);
    cr_expect_not_null(strstr(line, "at most 4194304 go in one message"), "the host reads: %s",
                       line);
    free(bytes);
}
