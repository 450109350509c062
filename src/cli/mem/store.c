/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store.c - print a store: every value of every column (docs/layout.md, section 3).
 *
 * Bounded by the slots of the dictionary and the cells of the chunks, which are all below the
 * published end. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/mem/mem.h"

/* ---- membership ------------------------------------------------------------------------------ */

/* Print a named list of processes (docs/layout.md, "Named lists of processes").
 *
 * Bounded by the members, which are in the record. */

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

/* ---- store ----------------------------------------------------------------------------------- */

#define SX_MEM_MOVED 0xffffu
#define SX_MEM_ROW_JOB (UINT32_MAX - 1)
#define SX_MEM_REALM_MEMBERS 5u
#define SX_MEM_REALM_SETS 6u

#define SX_MEM_KEY_MAX 511u

struct column {
    uint16_t realm;
    char key[SX_MEM_KEY_MAX + 1]; /* made printable: clients choose keys */
};

static void row_name(const struct column *column, uint32_t row, char name[24])
{
    static const char *const realms[] = { "rank",      "node",    "app",  "session",
                                          "qualified", "members", "sets", "published" };
    const char *const realm = column->realm < SX_COUNT(realms) ? realms[column->realm] : "?";

    if (row == SX_MEM_ROW_JOB) {
        snprintf(name, 24, "%s", column->realm == 0 ? "job" : realm);
    } else {
        snprintf(name, 24, "%s %" PRIu32, realm, row);
    }
}

/* Print the value of the cell at @off, if there is one. */
static void cell_dump(struct sx_bytes *segment, const struct column *column, uint32_t row,
                      uint64_t off)
{
    struct sx_mem_cell cell = sx_mem_cell_at(segment, off);
    char name[24];

    if (cell.type == SX_MEM_MOVED) {
        const uint64_t word0 = sx_bytes_u64(segment, off);
        cell = sx_mem_cell_at(segment, (word0 >> 16) * 8);
        if (cell.type == SX_MEM_MOVED) {
            segment->bad = true;
        }
    }
    if (segment->bad || (cell.type == 0 && cell.len == 0 && cell.flags == 0)) {
        return;
    }
    struct sx_bytes body = { .at = NULL };
    if (cell.len != 0) {
        body = sx_bytes_part(segment, cell.bits, cell.len);
    }
    row_name(column, row, name);
    printf("  %-12s %-24s %-8s ", name, column->key, sx_mem_scope_name(cell.flags >> 4 & 15u));
    const bool is_list = column->realm == SX_MEM_REALM_MEMBERS ||
                         column->realm == SX_MEM_REALM_SETS;

    if (is_list && row == SX_MEM_ROW_JOB) {
        sx_mem_membership_print(body);
    } else {
        sx_mem_value_print(&cell, body);
    }
    putchar('\n');
}

static void chunk_dump(struct sx_bytes *segment, const struct column *column, uint64_t chunk,
                       uint32_t first_row, uint32_t cell_count)
{
    for (uint32_t i = 0; i < cell_count && !segment->bad; i++) {
        cell_dump(segment, column, first_row + i, chunk + UINT64_C(16) * i);
    }
}

static void column_dump(struct sx_bytes *segment, uint64_t off)
{
    struct column column = { .realm = sx_bytes_u16(segment, off + 12) };
    const uint16_t key_len = sx_bytes_u16(segment, off + 14);
    const uint8_t *const key = sx_bytes_at(segment, off + 48, (uint64_t)key_len + 1);
    const uint64_t directory = sx_bytes_u64(segment, off);
    const uint32_t single_row = sx_bytes_u32(segment, off + 8);
    const uint64_t row_count = sx_bytes_u32(segment, SX_MEM_BODY_OFF + 8);
    const uint32_t shift = sx_bytes_u32(segment, SX_MEM_BODY_OFF + 12);

    if (segment->bad || shift > 8 || key_len > SX_MEM_KEY_MAX) {
        segment->bad = true;
        return;
    }
    for (uint16_t i = 0; i < key_len; i++) {
        column.key[i] = (char)(key[i] > 0x20 && key[i] < 0x7f ? key[i] : '?');
    }
    cell_dump(segment, &column, SX_MEM_ROW_JOB, off + 16);
    if (sx_bytes_u64(segment, off + 32) != 0) {
        cell_dump(segment, &column, single_row, off + 32);
    }
    for (uint64_t row = 0; directory != 0 && row < row_count && !segment->bad;
         row += UINT64_C(1) << shift) {
        const uint64_t chunk = sx_bytes_u64(segment, directory + (row >> shift) * 8);
        if (chunk != 0) {
            chunk_dump(segment, &column, chunk, (uint32_t)row, 1u << shift);
        }
    }
}

void sx_mem_store_dump(struct sx_bytes segment)
{
    const uint64_t dictionary = sx_bytes_u64(&segment, SX_MEM_BODY_OFF);
    const uint64_t slots_off = dictionary & ~UINT64_C(63), shift = dictionary & 63;

    printf("  %" PRIu64 " columns, %" PRIu32 " rows, dictionary of 2^%" PRIu64 " slots at %" PRIu64
           "\n",
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 16),
           sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 8), shift, slots_off);
    for (uint64_t i = 0; i < UINT64_C(1) << shift && !segment.bad; i++) {
        if (sx_bytes_u64(&segment, slots_off + 16 * i) == 0) {
            continue;
        }
        column_dump(&segment, sx_bytes_u64(&segment, slots_off + 16 * i + 8));
    }
    sx_mem_bad_print(&segment);
}
