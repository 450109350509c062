/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_relay_test.c - the mark of an event on its way: what is written is read, by its sender and
 * by others, and what no server wrote is none. */
#include "server/event/event_route.h"

#include <stdlib.h>

#include "../bare.h"
#include "../block_build.h"

static struct sx_server server, other;

static void begin(void)
{
    setenv("SHMIX_LOG", "none", 1); /* much is refused */
    bare_init(&server);
    bare_init(&other);
    sx_event_relay_init(&server);
    sx_event_relay_init(&other);
}

static void end(void)
{
    bare_deinit(&server);
    bare_deinit(&other);
}

TestSuite(event_relay, .init = begin, .fini = end);

static const pmix_info_t *find(const pmix_info_t info[], size_t ninfo, const char *key)
{
    const pmix_info_t *found = NULL;

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, key) == 0) {
            cr_expect_null(found, "%s is there twice", key);
            found = &info[i];
        }
    }
    return found;
}

/* What the host is given of an event with a text, a mark of somebody's own, and a range. */
static pmix_info_t *relayed(pmix_data_range_t range, size_t *ret_ninfo)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    const uint8_t liar = PMIX_RANGE_RM;
    struct sx_event_block *block = NULL;
    pmix_info_t info[3], *all = NULL;

    PMIx_Info_load(&info[0], SX_EVENT_RELAY_KEY, "liar 1 1", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_EVENT_TEXT_MESSAGE, "hello", PMIX_STRING);
    PMIx_Info_load(&info[2], PMIX_RANGE, &liar, PMIX_UINT8);
    cr_assert_eq(block_build(-2000, &source, range, info, 3, &block), PMIX_SUCCESS);
    block->session = 17;
    cr_assert_eq(sx_event_relay_infos(&server, block, &all, ret_ninfo), PMIX_SUCCESS);
    sx_event_block_release(block);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    return all;
}

static const pmix_proc_t from = { .nspace = "job", .rank = 0 };

Test(event_relay, is_read_by_its_sender_and_by_others)
{
    static const pmix_data_range_t ranges[] = { PMIX_RANGE_RM, PMIX_RANGE_SESSION,
                                                PMIX_RANGE_GLOBAL };

    for (size_t i = 0; i < SX_COUNT(ranges); i++) {
        struct sx_event_block *block = NULL;
        struct sx_event_relay relay;
        size_t ninfo;
        pmix_info_t *const info = relayed(ranges[i], &ninfo);

        cr_expect_eq(ninfo, 4);
        cr_assert(sx_event_relay_read(&server, info, ninfo, &relay));
        cr_expect(relay.own);
        cr_assert(sx_event_relay_read(&other, info, ninfo, &relay));
        cr_expect_not(relay.own);
        cr_assert_eq(sx_event_relay_open(&relay, &from, &block), PMIX_SUCCESS);
        cr_expect_eq(sx_event_block_head(block)->range, ranges[i]);
        cr_expect_eq(block->session, 17);
        sx_event_block_release(block);
        cr_expect_eq(find(info, ninfo, PMIX_RANGE)->value.data.uint8, ranges[i]);
        cr_expect_str_eq(find(info, ninfo, PMIX_EVENT_PROXY)->value.data.proc->nspace, "host");
        PMIx_Info_free(info, ninfo);
    }
}

/* A host may lose all but the mark. */
Test(event_relay, brings_the_event_as_it_was)
{
    const pmix_proc_t targets[] = { { "job", 3 }, { "group", PMIX_RANK_WILDCARD } };
    const struct sx_notify_options options = { .range = PMIX_RANGE_CUSTOM,
                                               .targets = { targets, 2 } };
    struct sx_event_block *sent = NULL, *come = NULL;
    struct sx_event_relay relay;
    pmix_info_t text, *info;
    size_t ninfo;

    PMIx_Info_load(&text, PMIX_EVENT_TEXT_MESSAGE, "hello", PMIX_STRING);
    cr_assert_eq(sx_event_block_build(-2000, &from, &options, &text, 1, &sent), PMIX_SUCCESS);
    sent->has_user = true;
    sent->user = 1001;
    cr_assert_eq(sx_event_relay_infos(&server, sent, &info, &ninfo), PMIX_SUCCESS);
    cr_assert(sx_event_relay_read(&other, find(info, ninfo, SX_EVENT_RELAY_KEY), 1, &relay));
    cr_assert_eq(sx_event_relay_open(&relay, &from, &come), PMIX_SUCCESS);
    cr_assert_eq(come->size, sent->size);
    cr_expect_arr_eq(come->bytes, sent->bytes, sent->size);
    cr_expect(sx_event_block_aims_at(come, "group", 7));
    cr_expect(come->has_user && come->user == 1001, "whose it is");
    PMIx_Info_free(info, ninfo);
    PMIx_Info_destruct(&text);
    sx_event_block_release(sent);
    sx_event_block_release(come);
}

Test(event_relay, is_none_where_no_server_wrote_it)
{
    struct sx_event_block *block = NULL;
    struct sx_event_relay relay;
    pmix_info_t info;
    size_t ninfo;

    PMIx_Info_load(&info, SX_EVENT_RELAY_KEY, "liar 1 1", PMIX_STRING);
    cr_expect_not(sx_event_relay_read(&server, &info, 1, &relay), "a text");
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, SX_EVENT_RELAY_KEY, &(pmix_byte_object_t){ NULL, 99 }, PMIX_BYTE_OBJECT);
    cr_expect_not(sx_event_relay_read(&server, &info, 1, &relay), "bytes of nothing");
    cr_expect_not(sx_event_relay_read(&server, NULL, 0, &relay), "nothing at all");

    pmix_info_t *const all = relayed(PMIX_RANGE_GLOBAL, &ninfo);
    const pmix_info_t *const mark = find(all, ninfo, SX_EVENT_RELAY_KEY);

    info = *mark;
    for (info.value.data.bo.size = 0; info.value.data.bo.size < mark->value.data.bo.size;
         info.value.data.bo.size++) {
        if (sx_event_relay_read(&server, &info, 1, &relay)) {
            cr_expect_eq(sx_event_relay_open(&relay, &from, &block), PMIX_ERR_UNPACK_FAILURE,
                         "%zu of %zu", info.value.data.bo.size, mark->value.data.bo.size);
        }
    }
    PMIx_Info_free(all, ninfo);
}

Test(event_relay, of_two_servers_differs)
{
    cr_expect_eq(strlen(server.relay_origin), 32);
    cr_expect_str_neq(server.relay_origin, other.relay_origin);
}
