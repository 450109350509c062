/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.c - print a named list of processes (docs/layout.md, "Named lists of processes").
 *
 * Bounded by the members, which are in the record. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/mem/kinds.h"
#include "cli/mem/value.h"

#define HEAD_BYTES 64u
#define NSPACE_BYTES 16u
#define PLACE_BYTES 8u
#define GAP UINT32_MAX

static void name_print(struct sx_bytes *record, uint64_t off, uint32_t len)
{
    const uint8_t *const name = sx_bytes_at(record, off, len);

    if (name != NULL) {
        sx_mem_text_print(name, len);
    }
}

static void member_print(struct sx_bytes *record, uint64_t place, uint32_t nspace_count)
{
    const uint32_t nspace = sx_bytes_u32(record, place);

    if (nspace == GAP) {
        printf(" left");
        return;
    }
    if (nspace >= nspace_count) {
        record->bad = true;
        return;
    }
    const uint64_t at = HEAD_BYTES + (uint64_t)nspace * NSPACE_BYTES;

    putchar(' ');
    name_print(record, sx_bytes_u32(record, at), sx_bytes_u32(record, at + 4));
    printf(".%" PRIu32, sx_bytes_u32(record, place + 4));
}

/* The index contains the place of every member once, sorted by namespace and rank. */
static void index_check(struct sx_bytes *record, uint64_t places, uint32_t member_count,
                        uint32_t nspace_count, uint32_t index_count)
{
    const uint64_t index = places + (uint64_t)member_count * PLACE_BYTES;
    uint32_t seen = 0;

    for (uint32_t n = 0; n < nspace_count && !record->bad; n++) {
        const uint64_t nspace = HEAD_BYTES + (uint64_t)n * NSPACE_BYTES;
        const uint32_t first = sx_bytes_u32(record, nspace + 8);
        const uint32_t count = sx_bytes_u32(record, nspace + 12);
        int64_t before = -1;

        for (uint32_t i = 0; i < count && !record->bad; i++) {
            const uint64_t place = sx_bytes_u32(record, index + 4 * ((uint64_t)first + i));
            const uint64_t at = places + place * PLACE_BYTES;
            const uint32_t rank = sx_bytes_u32(record, at + 4);

            if (place >= member_count || sx_bytes_u32(record, at) != n || rank <= before) {
                record->bad = true;
            }
            before = rank;
        }
        seen += count;
    }
    record->bad = record->bad || seen != index_count;
}

void sx_mem_membership_print(struct sx_bytes record)
{
    static const char *const kinds[] = { "?", "connected", "group", "pset" };
    const uint32_t kind = sx_bytes_u32(&record, 8);
    const uint32_t nspace_count = sx_bytes_u32(&record, 48);
    const uint32_t member_count = sx_bytes_u32(&record, 52);
    const uint64_t places = HEAD_BYTES + (uint64_t)nspace_count * NSPACE_BYTES;

    printf("%s ", kinds[kind < SX_COUNT(kinds) ? kind : 0]);
    name_print(&record, sx_bytes_u32(&record, 40), sx_bytes_u32(&record, 44));
    printf(", subject %#" PRIx64 ", generation %" PRIu64 ", flags %#" PRIx32 ", context %" PRIu64
           ", %" PRIu32 " places:",
           sx_bytes_u64(&record, 0), sx_bytes_u64(&record, 16), sx_bytes_u32(&record, 12),
           sx_bytes_u64(&record, 24), member_count);
    for (uint32_t i = 0; i < member_count && !record.bad; i++) {
        member_print(&record, places + (uint64_t)i * PLACE_BYTES, nspace_count);
    }
    index_check(&record, places, member_count, nspace_count, sx_bytes_u32(&record, 56));
    if (record.bad) {
        printf(" (no such record)");
    }
}
