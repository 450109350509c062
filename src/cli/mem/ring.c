/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ring.c - print boards, lanes and rings (docs/layout.md, sections 4 to 6).
 *
 * A ring may advance while it is read: each record is copied, and dropped if the writer was about
 * to overwrite it.  Bounded by the slots of the board and the bytes between the positions. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/mem/mem.h"

#define SX_MEM_LIFE_TID 0x3fffffffu
#define SX_MEM_LIFE_DIED 0x40000000u
#define SX_MEM_MESSAGE_MAX 16384u
#define SX_MEM_RECORD_MAX 4096u
#define SX_MEM_FILLER 0xffffu
#define SX_MEM_PUT_LAST 0x01u
#define SX_MEM_ARRIVE_COLLECT 0x01u

enum message_kind {
    MESSAGE_PUT = 1,
    MESSAGE_COMMIT_END,
    MESSAGE_ARRIVE,
    MESSAGE_CURSOR,
    MESSAGE_NOTIFY
};
enum record_kind { RECORD_DONE = 1, RECORD_EVENT, RECORD_STORE };

void sx_mem_bad_print(const struct sx_bytes *bytes)
{
    if (bytes->bad) {
        printf("  (the segment contradicts itself here)\n");
    }
}

static void life_print(const char *who, uint32_t word)
{
    if ((word & SX_MEM_LIFE_TID) == 0) {
        printf("  %s has ended\n", who);
    } else if ((word & SX_MEM_LIFE_DIED) != 0) {
        printf("  %s has died (thread %" PRIu32 ")\n", who, word & SX_MEM_LIFE_TID);
    } else {
        printf("  %s is alive (thread %" PRIu32 ")\n", who, word & SX_MEM_LIFE_TID);
    }
}

/* ---- board ----------------------------------------------------------------------------------- */

void sx_mem_board_dump(struct sx_bytes segment)
{
    const uint32_t epoch = sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 64);
    const uint64_t slot_count = sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 68);
    const uint64_t slots_off = sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 72);

    life_print("the server", sx_bytes_u32(&segment, sx_bytes_u32(&segment, SX_MEM_BODY_OFF)));
    printf("  sleep epoch %" PRIu32 " (%s), %" PRIu64 " slots\n", epoch,
           epoch % 2 != 0 ? "asleep" : "awake", slot_count);
    printf("  kept events take %" PRIu64 " bytes, %" PRIu64 " went for want of room\n",
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 96),
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 104));
    printf("  the longest turn of its loop took %" PRIu64 " units of work, the most for one client "
           "in a turn %" PRIu64 "\n",
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 112),
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 120));
    for (uint64_t i = 0; i < slot_count && slots_off + 64 * (i + 1) <= segment.size; i++) {
        const uint64_t off = slots_off + 64 * i;
        const uint32_t state = sx_bytes_u32(&segment, off + 16);
        if (state == 0) {
            continue;
        }
        printf("  slot %-6" PRIu64 " %-8s bell %" PRIu32 ", lane read to %" PRIu64 "%s\n", i,
               state == 1   ? "live"
               : state == 2 ? "dropped"
                            : "?",
               sx_bytes_u32(&segment, off) + sx_bytes_u32(&segment, off + 4),
               sx_bytes_u64(&segment, off + 24),
               sx_bytes_u32(&segment, off + 20) != 0 ? ", data wanted" : "");
    }
    sx_mem_bad_print(&segment);
}

/* ---- the contents of messages and records ---------------------------------------------------- */

static void hex_print(struct sx_bytes *bytes, uint64_t off)
{
    for (; off < bytes->size; off++) {
        printf("%02x", sx_bytes_u8(bytes, off));
    }
}

static void put_print(struct sx_bytes *message)
{
    const struct sx_mem_cell cell = sx_mem_cell_at(message, 0);
    const uint16_t key_len = sx_bytes_u16(message, 16);
    const uint8_t *const key = sx_bytes_at(message, 24, key_len);
    const struct sx_bytes body = sx_bytes_part(message, 24 + sx_align_up(key_len, 8), cell.len);

    if (!message->bad) {
        printf("put ");
        sx_mem_text_print(key, key_len);
        printf(" %s ", sx_mem_scope_name(sx_bytes_u8(message, 18)));
        sx_mem_value_print(&cell, body);
        printf("%s", (sx_bytes_u8(message, 19) & SX_MEM_PUT_LAST) != 0 ? ", commit end" : "");
    }
}

/* Return: the offset of the list's end. */
static uint64_t procs_print(struct sx_bytes *message, uint64_t off, uint32_t proc_count)
{
    for (uint32_t i = 0; i < proc_count && !message->bad; i++) {
        const uint32_t rank = sx_bytes_u32(message, off);
        const uint32_t len = sx_bytes_u32(message, off + 4);
        const uint8_t *const name = sx_bytes_at(message, off + 8, len);
        if (name != NULL) {
            putchar(' ');
            sx_mem_text_print(name, len);
            printf(rank == UINT32_MAX - 1 ? ".*" : ".%" PRIu32, rank);
        }
        off += 8 + sx_align_up(len, 8);
    }
    return off;
}

static void infos_print(struct sx_bytes *message, uint64_t off)
{
    if (!message->bad) {
        const struct sx_mem_cell cell = sx_mem_cell_at(message, off);
        putchar(' ');
        sx_mem_value_print(&cell, sx_bytes_part(message, off + 16, cell.len));
    }
}

static void event_flags_print(uint8_t flags)
{
    static const char *const names[] = { "not for default handlers", "not to be kept",
                                         "of the environment", "to be asked for" };

    for (uint32_t i = 0; i < SX_COUNT(names); i++) {
        if ((flags & 1u << i) != 0) {
            printf(", %s", names[i]);
        }
    }
}

static void event_print(struct sx_bytes *event, uint64_t off)
{
    static const char *const ranges[] = { "undefined", "rm",     "local",  "namespace",
                                          "session",   "global", "custom", "process" };
    const uint32_t rank = sx_bytes_u32(event, off + 12);
    const uint8_t range = sx_bytes_u8(event, off + 16);
    const uint8_t flags = sx_bytes_u8(event, off + 17);
    const uint16_t source_len = sx_bytes_u16(event, off + 18);
    const uint32_t target_count = sx_bytes_u32(event, off + 20);
    const uint32_t affected_count = sx_bytes_u32(event, off + 24);
    const uint32_t info_size = sx_bytes_u32(event, off + 28);

    printf("event %" PRIu64 ", code %" PRId32 ", range %s", sx_bytes_u64(event, off),
           (int32_t)sx_bytes_u32(event, off + 8), range < SX_COUNT(ranges) ? ranges[range] : "?");
    event_flags_print(flags);
    if (event->bad || (flags & 0x08u) != 0) {
        return; /* the rest is in another place */
    }
    const uint8_t *const source = sx_bytes_at(event, off + 32, source_len);

    if (source != NULL && source_len > 0) {
        printf(", from ");
        sx_mem_text_print(source, source_len);
        printf(".%" PRIu32, rank);
    }
    off += 32 + sx_align_up(source_len, 8);
    if (target_count > 0) {
        printf(", for");
    }
    off = procs_print(event, off, target_count);
    if (affected_count > 0) {
        printf(", about");
    }
    off = procs_print(event, off, affected_count);
    if (info_size > 0) {
        infos_print(event, off);
    }
}

const char *sx_mem_collective_name(unsigned kind)
{
    static const char *const names[] = { "?",          "fence",           "connect",
                                         "disconnect", "group construct", "group destruct" };

    return kind < SX_COUNT(names) ? names[kind] : "?";
}

static void arrive_print(struct sx_bytes *message)
{
    const bool collects = (sx_bytes_u8(message, 1) & SX_MEM_ARRIVE_COLLECT) != 0;
    const uint32_t proc_count = sx_bytes_u32(message, 8);

    printf("arrive %s%s, op %" PRIu32 ":", sx_mem_collective_name(sx_bytes_u8(message, 0)),
           collects ? ", collecting" : "", sx_bytes_u32(message, 4));
    const uint64_t off = procs_print(message, 16, proc_count);

    if (sx_bytes_u32(message, 12) != 0) {
        infos_print(message, off);
    }
}

static void message_print(uint32_t kind, struct sx_bytes message)
{
    switch (kind) {
    case MESSAGE_PUT:
        put_print(&message);
        break;
    case MESSAGE_COMMIT_END:
        printf("commit end");
        break;
    case MESSAGE_ARRIVE:
        arrive_print(&message);
        break;
    case MESSAGE_CURSOR:
        printf("cursor %" PRIu64, sx_bytes_u64(&message, 0));
        break;
    case MESSAGE_NOTIFY:
        event_print(&message, 0);
        break;
    default:
        printf("kind %" PRIu32 ", %" PRIu64 " bytes ", kind, message.size);
        hex_print(&message, 0);
    }
    printf("%s\n", message.bad ? " (no such message)" : "");
}

static void record_print(uint16_t kind, struct sx_bytes record)
{
    const uint64_t body = 24;

    printf("  record %" PRIu64 " class %u: ", sx_bytes_u64(&record, 8), sx_bytes_u16(&record, 6));
    if (kind == RECORD_DONE) {
        const uint32_t count = sx_bytes_u32(&record, body + 4);
        const uint64_t subject = sx_bytes_u64(&record, body + 8);
        printf("done, status %" PRId32, (int32_t)sx_bytes_u32(&record, body));
        if (subject != 0) {
            printf(", subject %#" PRIx64, subject);
        }
        putchar(':');
        for (uint32_t i = 0; i < count && !record.bad; i++) {
            printf(" slot %" PRIu32 " op %" PRIu32, sx_bytes_u32(&record, body + 16 + 8 * i),
                   sx_bytes_u32(&record, body + 20 + 8 * i));
        }
    } else if (kind == RECORD_STORE) {
        printf("store generation %" PRIu64, sx_bytes_u64(&record, body));
    } else if (kind == RECORD_EVENT) {
        event_print(&record, body);
    } else {
        printf("kind %u, %" PRIu64 " bytes ", kind, record.size - body);
        hex_print(&record, body);
    }
    printf("%s\n", record.bad ? " (no such record)" : "");
}

/* ---- lane ------------------------------------------------------------------------------------ */

/* Copy @len bytes at a position of the circular data; they may wrap. */
static bool circle_copy(struct sx_bytes *data, uint64_t position, uint8_t *to, uint64_t len)
{
    if (data->size == 0 || len > data->size) {
        return false;
    }
    for (uint64_t i = 0; i < len; i++) {
        to[i] = sx_bytes_u8(data, (position + i) % data->size);
    }
    return true;
}

static void messages_dump(struct sx_bytes *data, uint64_t head, uint64_t tail)
{
    static uint8_t copy[SX_MEM_MESSAGE_MAX];

    if (tail - head > data->size) {
        printf("  the tail lies %" PRIu64 " bytes past the head: impossible\n", tail - head);
        return;
    }
    while (head < tail) {
        uint8_t start[8] = { 0 };
        uint32_t len, kind;

        circle_copy(data, head, start, sizeof(start));
        memcpy(&len, start, 4);
        memcpy(&kind, start + 4, 4);
        if (len > sizeof(copy) || 8 + sx_align_up(len, 8) > tail - head) {
            printf("  message of %" PRIu32 " bytes where %" PRIu64 " are left: impossible\n", len,
                   tail - head);
            return;
        }
        circle_copy(data, head + 8, copy, len);
        printf("  at %" PRIu64 ": ", head);
        message_print(kind, (struct sx_bytes){ .at = copy, .size = len });
        head += 8 + sx_align_up(len, 8);
    }
}

void sx_mem_lane_dump(struct sx_bytes segment, struct sx_bytes board)
{
    const uint32_t data_bytes = sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 4);
    const uint32_t line_off = sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 8);
    const uint32_t slot = sx_bytes_u32(&segment, SX_MEM_BODY_OFF + 12);
    const uint64_t tail = sx_bytes_u64(&segment, line_off);
    struct sx_bytes data = sx_bytes_part(&segment, sx_bytes_u32(&segment, SX_MEM_BODY_OFF),
                                         data_bytes);

    printf("  slot %" PRIu32 ", written to %" PRIu64 ", room wanted %" PRIu32 "\n", slot, tail,
           sx_bytes_u32(&segment, line_off + UINT64_C(8)));
    life_print("the client", sx_bytes_u32(&segment, line_off + UINT64_C(64)));
    if (board.size == 0) {
        printf("  how far it was read is not known: the board of its server was not found\n");
    } else if (!segment.bad) {
        const uint64_t slots_off = sx_bytes_u64(&board, SX_MEM_BODY_OFF + 72);
        messages_dump(&data, sx_bytes_u64(&board, slots_off + UINT64_C(64) * slot + 24), tail);
        sx_mem_bad_print(&board);
    }
    sx_mem_bad_print(&segment);
}

/* ---- ring ------------------------------------------------------------------------------------ */

/* Copy the record at @position.  Return: its bytes (padded), 0 when it is not valid. */
static uint64_t record_copy(struct sx_bytes *data, uint64_t position, uint64_t tail,
                            uint64_t copy[SX_MEM_RECORD_MAX / 8])
{
    copy[0] = sx_bytes_u64(data, position % data->size);
    const uint32_t size = (uint32_t)copy[0];
    const bool filler = copy[0] >> 32 == SX_MEM_FILLER;
    const uint64_t span = sx_align_up(size, 8);

    if (data->bad || size > SX_MEM_RECORD_MAX || size < (filler ? 8u : 24u) ||
        span > tail - position) {
        return 0;
    }
    for (uint64_t i = 1; i < span / 8; i++) {
        copy[i] = sx_bytes_u64(data, (position + 8 * i) % data->size);
    }
    return span;
}

static void records_dump(struct sx_bytes *segment, struct sx_bytes *data)
{
    static uint64_t copy[SX_MEM_RECORD_MAX / 8];
    const uint64_t tail = sx_bytes_u64(segment, SX_MEM_BODY_OFF + 64);
    uint64_t position = sx_bytes_u64(segment, SX_MEM_BODY_OFF + 80);

    while (position < tail) {
        const uint64_t span = record_copy(data, position, tail, copy);
        const uint64_t oldest = sx_bytes_u64(segment, SX_MEM_BODY_OFF + 80);
        if (oldest > position) {
            printf("  ... the ring has moved on, %" PRIu64 " bytes were lost\n", oldest - position);
            position = oldest;
            continue;
        }
        if (span == 0 || (copy[0] >> 32 != SX_MEM_FILLER && copy[2] != position)) {
            data->bad = true;
            return;
        }
        if (copy[0] >> 32 != SX_MEM_FILLER) {
            record_print((uint16_t)(copy[0] >> 32), (struct sx_bytes){ .at = (const uint8_t *)copy,
                                                                       .size = (uint32_t)copy[0] });
        }
        position += span;
    }
}

void sx_mem_ring_dump(struct sx_bytes segment)
{
    const uint64_t data_bytes = sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 8);
    struct sx_bytes data = sx_bytes_part(&segment, sx_bytes_u64(&segment, SX_MEM_BODY_OFF),
                                         data_bytes);

    printf("  %" PRIu64 " records ever, oldest at %" PRIu64 ", written to %" PRIu64
           ", data of %" PRIu64 " bytes\n",
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 72),
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 80),
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 64), data_bytes);
    printf("  %" PRIu64 " events kept, %" PRIu64 " of them until all have had them\n",
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 912),
           sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 920));
    for (uint64_t i = 0; i < 32; i++) {
        const uint64_t count = sx_bytes_u64(&segment, SX_MEM_BODY_OFF + 128 + 8 * i);
        if (count != 0) {
            printf("  class %" PRIu64 ": %" PRIu64 " records\n", i, count);
        }
    }
    if (!data.bad && !segment.bad && data_bytes % 8 == 0 && data_bytes != 0) {
        records_dump(&segment, &data);
    }
    segment.bad = segment.bad || data.bad;
    sx_mem_bad_print(&segment);
}
