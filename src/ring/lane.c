/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lane.c - bytes from one client to the server, copied first and judged after.
 *
 *     head (server's board)                tail (client's line)
 *   ---|====== messages, in order ===========|------ room ------ (up to head + SX_LANE_BYTES)
 *
 * Entered from the client's submit paths (append, doorbell) and from the server's loop (take).  The
 * server reads nothing here twice: one load of the tail, one of each word of a message.  A hostile
 * client can only make the server drop the client, or ring that client's own bell.
 *
 * Two Dekker pairs, all seq_cst: S and T (board.c) keep a sleeping server from missing a message;
 * U and V keep a producer that found the lane full from missing the room.  It stores room_wanted
 * (U0), then loads the head (U1); the server stores the head (V0), then loads room_wanted (V1). */
#include "ring/lane.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "ring/record.h"
#include "ring/words.h"

#define SX_LANE_MASK (SX_LANE_BYTES - 1)
#define SX_LANE_SEGMENT_BYTES ((uint64_t)SX_LANE_DATA_OFF + SX_LANE_BYTES)

struct sx_lane_message {
    uint32_t len;
    uint32_t kind;
};
static_assert(sizeof(struct sx_lane_message) == SX_WORD_BYTES, "one word, so it never wraps");
static_assert(sizeof(struct sx_lane_message) + SX_LANE_MESSAGE_MAX <= SX_LANE_BYTES / 2,
              "room for two messages of any size");
static_assert(SX_LANE_MESSAGE_MAX % SX_WORD_BYTES == 0, "so that padding stays below it");

static struct sx_lane_line *line_of(const struct sx_segment *seg, uint32_t slot)
{
    return (struct sx_lane_line *)(void *)(seg->base + SX_LANE_LINE_OFF(slot));
}

/* The bytes of the lane that a message of @len bytes takes. */
static uint64_t span_of(size_t len)
{
    return sizeof(struct sx_lane_message) + sx_align_up(len, SX_WORD_BYTES);
}

/* ---- producer ----------------------------------------------------------------------------- */

pmix_status_t sx_lane_attach(struct sx_lane *lane, int fd, const struct sx_board *board,
                             uint32_t slot, int doorbell_fd)
{
    struct sx_lane_geometry geometry;
    pmix_status_t rc;

    *lane = SX_LANE_NULL;
    if (slot >= board->slot_count) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "slot %u of a board with %u", slot, board->slot_count);
    }
    rc = sx_segment_attach(&lane->seg, fd, SX_SEGMENT_LANE);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (lane->seg.size_bytes < SX_LANE_SEGMENT_BYTES) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "a lane of only %llu bytes",
                      (unsigned long long)lane->seg.size_bytes);
        goto fail;
    }
    memcpy(&geometry, lane->seg.base + SX_LANE_GEOMETRY_OFF, sizeof(geometry));
    if (geometry.data_off != SX_LANE_DATA_OFF || geometry.data_bytes != SX_LANE_BYTES ||
        geometry.line_off != SX_LANE_LINE_OFF(slot) || geometry.slot != slot) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "lane of slot %u with %u bytes, ours is slot %u with %u",
                      geometry.slot, geometry.data_bytes, slot, SX_LANE_BYTES);
        goto fail;
    }
    lane->line = line_of(&lane->seg, slot);
    lane->data = lane->seg.base + SX_LANE_DATA_OFF;
    lane->board = board;
    lane->slot = slot;
    lane->doorbell_fd = doorbell_fd;
    return PMIX_SUCCESS;
fail:
    sx_lane_detach(lane);
    return rc;
}

pmix_status_t sx_lane_live(struct sx_lane *lane)
{
    const pmix_status_t rc = sx_life_hold(&lane->line->life);

    if (rc == PMIX_SUCCESS) {
        lane->live_pid = getpid();
    }
    return rc;
}

void sx_lane_detach(struct sx_lane *lane)
{
    const bool holding = lane->live_pid != 0 && lane->live_pid == getpid();

    if (lane->doorbell_fd >= 0) {
        close(lane->doorbell_fd);
    }
    /* Held by another thread: the memory is part of that thread's list and has to stay. */
    if (!holding || sx_life_release(&lane->line->life)) {
        sx_segment_deinit(&lane->seg);
    }
    *lane = SX_LANE_NULL;
}

/* True when @need more bytes fit.  The server's head is read only when the last value does not
 * suffice: a stale head only makes the room smaller. */
static bool has_room(struct sx_lane *lane, uint64_t need)
{
    const _Atomic uint64_t *const head = &lane->board->slots[lane->slot].lane_head;

    if (lane->tail_private + need - lane->head_seen <= SX_LANE_BYTES) {
        return true;
    }
    /* A1 <- R1, V0 (sx_lane_take): the server has copied what we are about to overwrite. */
    lane->head_seen = atomic_load_explicit(head, memory_order_acquire);
    if (lane->tail_private + need - lane->head_seen <= SX_LANE_BYTES) {
        return true;
    }
    /* U0, then U1: seq_cst, so that either the client sees the room or the server sees room_wanted
     * (V1). */
    atomic_store_explicit(&lane->line->room_wanted, ++lane->room_wanted, memory_order_seq_cst);
    lane->head_seen = atomic_load_explicit(head, memory_order_seq_cst);
    return lane->tail_private + need - lane->head_seen <= SX_LANE_BYTES;
}

/* Plain stores: until the tail covers these bytes no process reads them. */
static uint64_t copy_in(struct sx_lane *lane, uint64_t at, const void *bytes, size_t len)
{
    const size_t off = (size_t)(at & SX_LANE_MASK);
    const size_t first = len < SX_LANE_BYTES - off ? len : SX_LANE_BYTES - off;

    if (len != 0) {
        memcpy(lane->data + off, bytes, first);
        memcpy(lane->data, (const uint8_t *)bytes + first, len - first);
    }
    return at + len;
}

pmix_status_t sx_lane_append(struct sx_lane *lane, uint32_t kind, const struct iovec *iov,
                             int iov_count)
{
    struct sx_lane_message message = { .kind = kind };
    size_t len;
    uint64_t at = lane->tail_private;

    if (!sx_words_iov_size(iov, iov_count, SX_LANE_MESSAGE_MAX, &len)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a lane message of more than %u bytes; larger data goes by a descriptor",
                        SX_LANE_MESSAGE_MAX);
    }
    if (!has_room(lane, span_of(len))) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    message.len = (uint32_t)len;
    at = copy_in(lane, at, &message, sizeof(message));
    for (int i = 0; i < iov_count; i++) {
        at = copy_in(lane, at, iov[i].iov_base, iov[i].iov_len);
    }
    lane->tail_private += span_of(len);
    /* R0 -> A0 (sx_lane_take): the bytes are visible before the tail that announces them. */
    atomic_store_explicit(&lane->line->tail, lane->tail_private, memory_order_release);
    return PMIX_SUCCESS;
}

static void doorbell_write(const struct sx_lane *lane)
{
    const uint64_t one = 1;

    /* EAGAIN: the counter is full, so the bell rings already. */
    while (write(lane->doorbell_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

void sx_lane_doorbell(struct sx_lane *lane)
{
    uint32_t epoch;

    /* T0, then T1: seq_cst, against S0 and S1 of a server that falls asleep.  The tail is stored
     * once more, because the append had no need to order it against later loads. */
    atomic_store_explicit(&lane->line->tail, lane->tail_private, memory_order_seq_cst);
    epoch = atomic_load_explicit(&lane->board->header->sleep_epoch, memory_order_seq_cst);
    if (epoch % 2 == 0 || epoch == lane->epoch_rung) {
        return;
    }
    lane->epoch_rung = epoch;
    doorbell_write(lane);
}

void sx_lane_handled(struct sx_lane *lane, uint64_t seq)
{
    /* R-handled -> A-handled (event_handled.c): what the handlers did comes before. */
    atomic_store_explicit(&lane->line->handled, seq, memory_order_release);
    doorbell_write(lane); /* even if the server is awake: it has requested this, and checks after
                             the ring */
}

void sx_lane_beat(struct sx_lane *lane)
{
    /* relaxed: a count that is read once a period. */
    atomic_fetch_add_explicit(&lane->line->beats, 1, memory_order_relaxed);
}

void sx_lane_sign(struct sx_lane *lane, unsigned index)
{
    /* relaxed: as above. */
    atomic_fetch_add_explicit(&lane->line->signs[index], 1, memory_order_relaxed);
}

bool sx_lane_data_wanted(struct sx_lane *lane)
{
    /* T0, then T1: as above, against S0 in sx_board_slot_want_data. */
    atomic_store_explicit(&lane->line->tail, lane->tail_private, memory_order_seq_cst);
    return (atomic_load_explicit(&lane->board->slots[lane->slot].data_wanted,
                                 memory_order_seq_cst) &
            SX_SLOT_DATA_WANTED) != 0;
}

uint32_t sx_lane_values_lost(const struct sx_lane *lane)
{
    /* relaxed: the reader has received the end of an operation that came after the values. */
    return atomic_load_explicit(&lane->board->slots[lane->slot].data_wanted,
                                memory_order_relaxed) >>
           SX_SLOT_VALUES_SHIFT;
}

/* ---- consumer ----------------------------------------------------------------------------- */

pmix_status_t sx_lane_create(struct sx_lane_reader *lane, const char *name, struct sx_board *board,
                             uint32_t slot_index, const struct sx_placement *placement)
{
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_LANE,
        .nspace = name,
        .size_bytes = sx_align_up(SX_LANE_SEGMENT_BYTES, SX_PAGE_BYTES),
        .size_min_bytes = sx_align_up(SX_LANE_SEGMENT_BYTES, SX_PAGE_BYTES),
        .generation = 1,
        .client_writable = true,
        .placement = placement,
    };
    const struct sx_lane_geometry geometry = {
        .data_off = SX_LANE_DATA_OFF,
        .data_bytes = SX_LANE_BYTES,
        .line_off = SX_LANE_LINE_OFF(slot_index),
        .slot = slot_index,
    };
    pmix_status_t rc;

    sx_assert(slot_index < board->slot_next);
    *lane = SX_LANE_READER_NULL;
    rc = sx_segment_create(&lane->seg, &options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_segment_back(&lane->seg, options.size_bytes);
    if (rc != PMIX_SUCCESS) {
        goto fail;
    }
    memcpy(lane->seg.base + SX_LANE_GEOMETRY_OFF, &geometry, sizeof(geometry));
    lane->line = line_of(&lane->seg, slot_index);
    lane->life_word = &lane->line->life_word;
    lane->data = lane->seg.base + SX_LANE_DATA_OFF;
    lane->slot = &board->slots[slot_index];
    rc = sx_life_init(&lane->line->life);
    if (rc != PMIX_SUCCESS) {
        goto fail;
    }
    /* relaxed: covered by the magic's release in sx_segment_publish. */
    atomic_store_explicit(&sx_segment_header(&lane->seg)->used_bytes, options.size_bytes,
                          memory_order_relaxed);
    sx_segment_publish(&lane->seg);
    return PMIX_SUCCESS;
fail:
    sx_lane_destroy(lane);
    return rc;
}

void sx_lane_destroy(struct sx_lane_reader *lane)
{
    sx_segment_deinit(&lane->seg);
    *lane = SX_LANE_READER_NULL;
}

uint64_t sx_lane_tail(const struct sx_lane_reader *lane)
{
    /* S1: seq_cst, after S0 (sx_board_sleep, sx_board_slot_want_data); T0 is its partner. */
    return atomic_load_explicit(&lane->line->tail, memory_order_seq_cst);
}

bool sx_lane_pending(const struct sx_lane_reader *lane)
{
    return sx_lane_tail(lane) != lane->head;
}

/* Copy @len bytes that may wrap; each word is read once. */
static void copy_out(const struct sx_lane_reader *lane, uint64_t at, void *buf, size_t len)
{
    const size_t off = (size_t)(at & SX_LANE_MASK);
    const size_t first = len < SX_LANE_BYTES - off ? len : SX_LANE_BYTES - off;
    const _Atomic uint64_t *const words = (const _Atomic uint64_t *)(const void *)lane->data;

    sx_words_load_bytes(buf, words + off / SX_WORD_BYTES, first);
    sx_words_load_bytes((uint8_t *)buf + first, words, len - first);
}

/* Give room back up to the private head.  @empty: no message is left, so ring a producer that waits
 * for room.  Before that no ring is needed, because the server goes on taking. */
static void give_room(struct sx_lane_reader *lane, bool empty)
{
    uint32_t wanted;

    if (!empty) {
        /* R1 -> A1 (has_room): the server's reads of these bytes are finished. */
        atomic_store_explicit(&lane->slot->lane_head, lane->head, memory_order_release);
        return;
    }
    /* V0, then V1: seq_cst, against U0 and U1 in has_room. */
    atomic_store_explicit(&lane->slot->lane_head, lane->head, memory_order_seq_cst);
    wanted = atomic_load_explicit(&lane->line->room_wanted, memory_order_seq_cst);
    if (wanted != lane->room_rung) {
        lane->room_rung = wanted;
        sx_door_ring(&lane->slot->bell, SX_BELL_ALL, 1);
    }
}

pmix_status_t sx_lane_take(struct sx_lane_reader *lane, void *buf, uint32_t *ret_kind,
                           uint32_t *ret_len)
{
    /* A0 <- R0 (sx_lane_append): the messages below this tail are complete.  S1, so seq_cst: a
     * caller that has just said that it wants data may take at once, without sx_lane_pending. */
    const uint64_t tail = atomic_load_explicit(&lane->line->tail, memory_order_seq_cst);
    const uint64_t fill = tail - lane->head;
    struct sx_lane_message message;

    if (fill == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    /* Of a tail below the head the difference is huge.  Not raised: the caller has its own line. */
    if (fill > SX_LANE_BYTES || fill % SX_WORD_BYTES != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    copy_out(lane, lane->head, &message, sizeof(message));
    if (message.len > SX_LANE_MESSAGE_MAX || span_of(message.len) > fill) {
        return PMIX_ERR_BAD_PARAM;
    }
    copy_out(lane, lane->head + sizeof(message), buf, message.len);
    lane->head += span_of(message.len);
    give_room(lane, lane->head == tail);
    *ret_kind = message.kind;
    *ret_len = message.len;
    return PMIX_SUCCESS;
}

/* ---- the table of lane messages: record.h --------------------------------------------------- */

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
