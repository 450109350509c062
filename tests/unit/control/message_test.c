/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* message_test.c - every kind accepts its bounds and refuses, with a reason, what lies outside. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "../base/bodies.h"
#include "base/message/payloads.h"
#include "base/util.h"
#include "control/message.h"

#define HEADER sizeof(struct sx_frame_header)

/* Judge a frame in memory of exactly its size, so that a sanitizer sees any read past it. */
static const char *judge(uint16_t kind, uint16_t flags, uint64_t body_size, size_t size,
                         int fd_count, bool from_client)
{
    const struct sx_frame_header header = {
        .kind = kind, .flags = flags, .id = 1, .body_size = body_size
    };
    uint8_t *frame = calloc(1, size == 0 ? 1 : size);
    const char *why = NULL;

    cr_assert_not_null(frame);
    memcpy(frame, &header, size < HEADER ? size : HEADER);
    const pmix_status_t rc = sx_frame_check(frame, size, fd_count, from_client, &why);

    free(frame);
    cr_expect_eq(rc, why == NULL ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
    return why;
}

static const char *judge_plain(uint16_t kind, uint64_t body_size, int fd_count)
{
    return judge(kind, 0, body_size, HEADER + body_size, fd_count,
                 sx_message_spec(kind)->from_client);
}

Test(message, every_kind_has_a_row_and_nothing_else_has)
{
    for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
        const struct sx_message_spec *spec = sx_message_spec((uint16_t)kind);

        cr_expect_eq(spec != NULL, kind >= SX_MSG_HELLO && kind < SX_MSG_SPEC_MAX);
        if (spec != NULL) {
            cr_expect(spec->from_client != spec->from_server, "%s", spec->name);
            cr_expect_leq(spec->body->head_size, spec->body_max, "%s", spec->name);
            cr_expect_leq(spec->body_max, SX_FRAME_MAX - HEADER, "%s", spec->name);
            cr_expect_leq(spec->fds_min, spec->fds_max, "%s", spec->name);
        } else {
            cr_expect_not_null(judge((uint16_t)kind, 0, 0, HEADER, 0, true));
        }
    }
}

/* Whoever sends a request has its price in the table, and its largest message is not free. */
Test(message, every_request_has_a_cost)
{
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        const struct sx_message_spec *spec = sx_message_spec(kind);

        if (spec->from_client) {
            cr_expect_gt(sx_message_cost(kind, 0), 0u, "%s", spec->name);
            cr_expect(spec->bulk_max == 0 || sx_message_cost(kind, spec->bulk_max) >=
                                                 sx_message_cost(kind, 0) + spec->bulk_max / 1024,
                      "%s", spec->name);
        }
    }
    cr_expect_eq(sx_message_cost(SX_MSG_SPEC_MAX, 100), 0u);
}

/* The sender hears of it before the receiver has to refuse it. */
Test(message, what_is_too_large_is_notified_to_its_sender)
{
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        const struct sx_message_spec *spec = sx_message_spec(kind);
        const uint64_t max = spec->bulk_max != 0 ? spec->bulk_max : spec->body_max;

        cr_expect_eq(sx_message_size_judge(kind, max), PMIX_SUCCESS, "%s", spec->name);
        if (spec->bulk_max != 0) {
            cr_expect_eq(sx_message_size_judge(kind, max + 1), PMIX_ERR_OUT_OF_RESOURCE, "%s",
                         spec->name);
        }
    }
}

/* One message has all kinds of collective operations. */
Test(message, of_an_arrival_is_refused_as_no_fence_alone)
{
    const char *const things[] = { sx_message_spec(SX_MSG_ARRIVE_BULK)->thing,
                                   sx_arrive_body.parts[SX_ARRIVE_INFOS].thing };

    for (size_t i = 0; i < SX_COUNT(things); i++) {
        cr_expect(strstr(things[i], "fence") != NULL && strstr(things[i], "connect") != NULL &&
                      strstr(things[i], "group") != NULL,
                  "%s", things[i]);
    }
}

Test(message, every_kind_keeps_its_bounds)
{
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        const struct sx_message_spec *spec = sx_message_spec(kind);
        const bool client = spec->from_client;
        const int fds = spec->fds_max;

        cr_expect_null(judge_plain(kind, spec->body->head_size, fds), "%s smallest", spec->name);
        cr_expect_null(judge_plain(kind, spec->body_max, fds), "%s largest", spec->name);
        if (spec->body->head_size > 0) {
            cr_expect_not_null(judge_plain(kind, spec->body->head_size - 1, fds), "%s shorter",
                               spec->name);
        }
        cr_expect_not_null(judge_plain(kind, spec->body_max + 1, fds), "%s longer", spec->name);
        cr_expect_not_null(judge_plain(kind, spec->body->head_size, fds + 1), "%s more fds",
                           spec->name);
        cr_expect_not_null(judge(kind, 0, spec->body->head_size, HEADER + spec->body->head_size,
                                 fds, !client),
                           "%s the other way", spec->name);
        for (int bit = 1; bit < 16; bit++) {
            cr_expect_eq(judge(kind, (uint16_t)(1u << bit), spec->body->head_size,
                               HEADER + spec->body->head_size, fds, client) == NULL,
                         kind == SX_MSG_REPLY && 1u << bit == SX_FRAME_MORE, "%s flag %d",
                         spec->name, bit);
        }
        cr_expect_not_null(judge(kind, 0, spec->body->head_size + 1, HEADER + spec->body->head_size,
                                 fds, client),
                           "%s truncated", spec->name);
        cr_expect_not_null(judge(kind, 0, UINT64_MAX, HEADER + spec->body->head_size, fds, client),
                           "%s absurd", spec->name);
        for (size_t size = 0; size < HEADER; size++) {
            cr_expect_not_null(judge(kind, 0, spec->body->head_size, size, fds, client),
                               "%s cut to %zu", spec->name, size);
        }
        cr_expect_not_null(judge(kind, 0, SX_FRAME_MAX + 1 - HEADER, SX_FRAME_MAX + 1, fds, client),
                           "%s oversized", spec->name);
    }
}

Test(message, bulk_is_for_the_kinds_that_allow_it_and_has_bounds)
{
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        const struct sx_message_spec *spec = sx_message_spec(kind);
        const bool client = spec->from_client;
        /* A server's comes with a descriptor more; a client's in pieces, without any. */
        const int fds = client ? 0 : spec->fds_max + 1;
        const uint64_t max = client && spec->bulk_max > SX_WINDOW_BYTES ? SX_WINDOW_BYTES
                                                                        : spec->bulk_max;

        cr_expect_eq(judge(kind, SX_FRAME_BULK, 10000, HEADER, fds, client) == NULL,
                     spec->bulk_max != 0, "%s", spec->name);
        cr_expect_eq(judge(kind, SX_FRAME_BULK, max, HEADER, fds, client) == NULL,
                     spec->bulk_max != 0, "%s", spec->name);
        cr_expect_eq(judge(kind, SX_FRAME_BULK | SX_FRAME_MORE, max, HEADER, fds, client) == NULL,
                     client && spec->bulk_max != 0, "%s", spec->name);
        cr_expect_eq(judge(kind, SX_FRAME_MORE, spec->body->head_size,
                           HEADER + spec->body->head_size, 0, client) == NULL,
                     kind == SX_MSG_REPLY, "%s", spec->name);
        cr_expect_not_null(judge(kind, SX_FRAME_BULK, 10000, HEADER, fds + 1, client));
        cr_expect(client || judge(kind, SX_FRAME_BULK, 10000, HEADER, 0, client) != NULL);
        cr_expect_not_null(judge(kind, SX_FRAME_BULK, max + 1, HEADER, fds, client));
        cr_expect_not_null(judge(kind, SX_FRAME_BULK, 0, HEADER, fds, client));
        cr_expect_not_null(judge(kind, SX_FRAME_BULK, 8, HEADER + 8, fds, client));
    }
}

Test(message, a_welcome_has_all_descriptors_or_none)
{
    const int all = sx_message_spec(SX_MSG_WELCOME)->fds_max;

    for (int fds = 0; fds <= all; fds++) {
        cr_expect_eq(judge_plain(SX_MSG_WELCOME, sizeof(struct sx_welcome), fds) == NULL,
                     fds == 0 || fds == all);
    }
}

/* ---- bodies ------------------------------------------------------------------------------- */

Test(message, every_body_keeps_the_bounds_of_its_signature)
{
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        body_judge(sx_message_spec(kind)->name, sx_message_spec(kind)->body);
    }
}

/* Whatever the bytes, the judges read nothing outside them and give a reason for each refusal. */
Test(message, judges_any_bytes)
{
    unsigned seed = 42;
    int passed = 0;

    for (int i = 0; i < 100000; i++) {
        const size_t size = (size_t)rand_r(&seed) % 700;
        uint8_t *frame = malloc(size == 0 ? 1 : size);
        struct sx_frame_header header = { .kind = (uint16_t)(rand_r(&seed) % 14) };
        const char *why = NULL;

        cr_assert_not_null(frame);
        for (size_t b = 0; b < size; b++) {
            frame[b] = (uint8_t)(rand_r(&seed) >> 8);
        }
        if (size >= HEADER && i % 2 == 0) { /* half of them with a plausible header */
            header.body_size = size - HEADER;
            memcpy(frame, &header, sizeof(header));
        }
        if (sx_frame_check(frame, size, rand_r(&seed) % 3, i % 4 < 2, &why) == PMIX_SUCCESS) {
            memcpy(&header, frame, sizeof(header));
            if ((header.flags & SX_FRAME_BULK) == 0) {
                passed += body_open(sx_message_spec(header.kind)->body, frame + HEADER,
                                    size - HEADER) == NULL;
            }
        } else {
            cr_assert_not_null(why);
        }
        free(frame);
    }
    cr_expect_gt(passed, 0, "some of them were plausible");
}
