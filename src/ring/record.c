/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.c - the table of lane messages. */
#include "ring/record.h"

#include "base/util.h"

static const struct sx_signature nothing = { .head_size = 0 };

static const struct sx_lane_spec specs[] = {
    [SX_LANE_PUT] = { .name = "PUT", .body = &sx_put_body, .cost = 1, .cost_kib = 1 },
    [SX_LANE_COMMIT_END] = { .name = "COMMIT_END", .body = &nothing, .cost = 1, .cost_kib = 1 },
    [SX_LANE_ARRIVE] = { .name = "ARRIVE", .body = &sx_arrive_body, .cost = 4, .cost_kib = 10 },
    [SX_LANE_CURSOR] = { .name = "CURSOR", .body = &sx_cursor_body, .cost = 1, .cost_kib = 1 },
    [SX_LANE_NOTIFY] = { .name = "NOTIFY", .body = &sx_event_body, .cost = 1, .cost_kib = 2 },
};
static_assert(SX_COUNT(specs) == SX_LANE_SPEC_MAX, "every kind has its row");

const struct sx_lane_spec *sx_lane_spec(uint32_t kind)
{
    return kind < SX_COUNT(specs) && specs[kind].name != NULL ? &specs[kind] : NULL;
}

uint64_t sx_lane_cost(uint32_t kind, size_t size)
{
    const struct sx_lane_spec *const spec = sx_lane_spec(kind);

    return spec == NULL ? 1 : spec->cost + (uint64_t)size / 1024 * spec->cost_kib;
}
