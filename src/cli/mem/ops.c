/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ops.c - print the table of open operations (docs/layout.md, section 8).
 *
 * A row may change while it is read (seqlock): it is copied, and dropped when its number was odd or
 * has changed.  Bounded by the rows below used_bytes, and by a number of tries for each. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "cli/mem/mem.h"

#define ROW_BYTES 1024u
#define ROW_WORDS (ROW_BYTES / 8)
#define TRIES 100u
#define PROCS_OFF 48u
#define MISSING_OFF 80u
#define TEXT_OFF 336u

/* Return: false when the row at @off could not be copied unchanged in any try. */
static bool row_copy(struct sx_bytes *segment, uint64_t off, uint64_t copy[ROW_WORDS])
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        copy[0] = sx_bytes_u64(segment, off);
        for (unsigned i = 1; i < ROW_WORDS; i++) {
            copy[i] = sx_bytes_u64(segment, off + 8 * i);
        }
        if (copy[0] % 2 == 0 && copy[0] == sx_bytes_u64(segment, off)) {
            return true;
        }
        sched_yield();
    }
    return false;
}

/* The string at @off of the text. */
static void text_print(struct sx_bytes *row, uint16_t off)
{
    const uint64_t left = off < ROW_BYTES - TEXT_OFF ? ROW_BYTES - TEXT_OFF - off : 0;
    const uint8_t *const text = sx_bytes_at(row, TEXT_OFF + off, left);

    if (text == NULL || memchr(text, '\0', left) == NULL) {
        row->bad = true;
        return;
    }
    sx_mem_text_print(text, strlen((const char *)text));
}

static void proc_print(struct sx_bytes *row, uint64_t off, uint16_t nspace_off)
{
    const uint32_t rank = sx_bytes_u32(row, off);

    putchar(' ');
    text_print(row, nspace_off);
    printf(rank == UINT32_MAX - 1 ? ".*" : ".%" PRIu32, rank);
}

static void row_print(uint64_t index, struct sx_bytes *row)
{
    static const char *const presences[] = { "never came", "here", "left" };
    const uint16_t flags = sx_bytes_u16(row, 26);
    const uint16_t id_off = sx_bytes_u16(row, 40);
    const uint8_t procs = sx_bytes_u8(row, 44), missing = sx_bytes_u8(row, 45);

    printf("  row %-4" PRIu64 " %s", index, sx_mem_collective_name(sx_bytes_u16(row, 24)));
    if (id_off != 0) {
        putchar(' ');
        text_print(row, id_off);
    }
    printf(", since %" PRIu64 " ns, until %" PRIu64 ", %" PRIu32 " of %" PRIu32 "%s%s; of %" PRIu32
           ":",
           sx_bytes_u64(row, 8), sx_bytes_u64(row, 16), sx_bytes_u32(row, 32),
           sx_bytes_u32(row, 28), (flags & 1) != 0 ? ", with the host" : "",
           (flags & 2) != 0 ? ", callers told" : "", sx_bytes_u32(row, 36));
    for (uint64_t off = PROCS_OFF, end = off + 8 * procs; off < end && !row->bad; off += 8) {
        row->bad = row->bad || end > MISSING_OFF;
        proc_print(row, off, sx_bytes_u16(row, off + 4));
    }
    if (missing > 0) {
        printf("; missing:");
    }
    for (uint64_t off = MISSING_OFF, end = off + 16 * missing; off < end && !row->bad; off += 16) {
        const uint8_t presence = sx_bytes_u8(row, off + 10);

        row->bad = row->bad || end > TEXT_OFF;
        proc_print(row, off, sx_bytes_u16(row, off + 8));
        printf(" (%s, pid %" PRIu32 ")", presence < SX_COUNT(presences) ? presences[presence] : "?",
               sx_bytes_u32(row, off + 4));
    }
    putchar('\n');
}

void sx_mem_ops_dump(struct sx_bytes segment)
{
    const uint64_t rows_off = sx_bytes_u64(&segment, SX_MEM_BODY_OFF);
    const uint64_t row_count = sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 8);

    printf("  %" PRIu64 " rows, for operations that are open for more than %" PRIu64 " ns; %" PRIu64
           " have none\n",
           row_count, sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 16),
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 24));
    segment.bad = segment.bad || sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 12) != ROW_BYTES ||
                  rows_off % 8 != 0;
    for (uint64_t i = 0; !segment.bad && i < row_count; i++) {
        uint64_t copy[ROW_WORDS];
        struct sx_bytes row = { .at = (const uint8_t *)copy, .size = sizeof(copy) };

        if (!sx_range_fits(rows_off + ROW_BYTES * i, ROW_BYTES, segment.size)) {
            break; /* the row was never in use */
        }
        if (!row_copy(&segment, rows_off + ROW_BYTES * i, copy)) {
            printf("  row %-4" PRIu64 " is being written\n", i);
        } else if (sx_bytes_u16(&row, 24) != 0) {
            row_print(i, &row);
            sx_mem_bad_print(&row);
        }
    }
    sx_mem_bad_print(&segment);
}
