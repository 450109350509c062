/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* board.c - one page set that the server writes and every client of it reads.
 *
 * A slot: FREE --claim--> LIVE --(server stores DROPPED)--> abandon --> FREE.  Its bell counts on
 * through all its owners, so a sleeper of the one before never mistakes a new ring for an old one.
 *
 * Sleep and doorbell (labels S and T here, in lane.c and in no third place): the server stores an
 * odd epoch (S0), then loads every tail (S1); a client stores its tail (T0), then loads the epoch
 * (T1).  All four are seq_cst, so at least one side sees the other: either the server finds the
 * message, or the client finds the server asleep and rings.  A wish for data is the same pair. */
#include "ring/board.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

#define SX_BOARD_SLOTS_OFF (SX_SEGMENT_BODY_OFF + sizeof(struct sx_board_header))
#define SX_BOARD_BYTES \
    (SX_BOARD_SLOTS_OFF + (uint64_t)SX_BOARD_SLOT_MAX * sizeof(struct sx_board_slot))
static_assert(SX_BOARD_SLOTS_OFF % SX_CACHELINE_BYTES == 0, "a slot is one cache line");

static struct sx_board_header *header_of(const struct sx_segment *seg)
{
    return (struct sx_board_header *)(void *)(seg->base + SX_SEGMENT_BODY_OFF);
}

pmix_status_t sx_board_create(struct sx_board *board, const char *name)
{
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_BOARD,
        .nspace = name,
        .size_bytes = sx_align_up(SX_BOARD_BYTES, SX_PAGE_BYTES),
        .size_min_bytes = sx_align_up(SX_BOARD_BYTES, SX_PAGE_BYTES),
        .generation = 1,
    };
    pmix_status_t rc;

    *board = SX_BOARD_NULL;
    rc = sx_segment_create(&board->seg, &options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_segment_back(&board->seg, SX_BOARD_SLOTS_OFF);
    if (rc != PMIX_SUCCESS) {
        goto fail;
    }
    board->slot_free = calloc(SX_BOARD_SLOT_MAX, sizeof(*board->slot_free));
    if (board->slot_free == NULL) {
        rc = SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no memory for the list of %d client slots",
                      SX_BOARD_SLOT_MAX);
        goto fail;
    }
    board->header = header_of(&board->seg);
    rc = sx_life_init(&board->header->life);
    if (rc != PMIX_SUCCESS) {
        goto fail;
    }
    board->slots = (struct sx_board_slot *)(void *)(board->seg.base + SX_BOARD_SLOTS_OFF);
    board->slot_count = SX_BOARD_SLOT_MAX;
    board->header->slot_count = SX_BOARD_SLOT_MAX;
    board->header->slots_off = SX_BOARD_SLOTS_OFF;
    board->header->server_pid = sx_segment_header(&board->seg)->creator_pid;
    board->header->server_start_ticks = sx_segment_header(&board->seg)->creator_start_ticks;
    /* relaxed: covered by the magic's release in sx_segment_publish. */
    atomic_store_explicit(&sx_segment_header(&board->seg)->used_bytes, SX_BOARD_SLOTS_OFF,
                          memory_order_relaxed);
    sx_segment_publish(&board->seg);
    return PMIX_SUCCESS;
fail:
    sx_board_deinit(board);
    return rc;
}

pmix_status_t sx_board_live(struct sx_board *board)
{
    const pmix_status_t rc = sx_life_hold(&board->header->life);

    if (rc == PMIX_SUCCESS) {
        board->live_pid = getpid();
    }
    return rc;
}

void sx_board_end(struct sx_board *board)
{
    /* A forked child has neither the word nor, as a rule, the mapping. */
    if (board->live_pid == 0 || board->live_pid != getpid()) {
        return;
    }
    if (sx_life_release(&board->header->life)) {
        board->live_pid = 0;
    }
}

pmix_status_t sx_board_slot_claim(struct sx_board *board, uint32_t *ret_index)
{
    struct sx_board_slot *slot;
    uint32_t index;

    if (board->free_count != 0) {
        index = board->slot_free[--board->free_count];
        slot = &board->slots[index];
    } else {
        const uint64_t end = SX_BOARD_SLOTS_OFF +
                             ((uint64_t)board->slot_next + 1) * sizeof(struct sx_board_slot);
        pmix_status_t rc;

        if (board->slot_next == board->slot_count) {
            return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                            "all %u client slots of this server are taken", board->slot_count);
        }
        rc = sx_segment_back(&board->seg, end);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        index = board->slot_next++;
        slot = &board->slots[index];
        /* R0 -> A0 (sx_segment_attach): memory is there before it is said to be. */
        atomic_store_explicit(&sx_segment_header(&board->seg)->used_bytes, end,
                              memory_order_release);
    }
    /* relaxed: the client learns of its slot by a message, after all of this. */
    atomic_store_explicit(&slot->data_wanted, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->lane_head, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->claims,
                          atomic_load_explicit(&slot->claims, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    /* R1 -> A1 (whoever inspects slots): a live slot is a fresh one. */
    atomic_store_explicit(&slot->state, SX_SLOT_LIVE, memory_order_release);
    *ret_index = index;
    return PMIX_SUCCESS;
}

void sx_board_slot_abandon(struct sx_board *board, uint32_t index)
{
    sx_assert(index < board->slot_next);
    /* relaxed: the loop thread is the only writer. */
    sx_assert(atomic_load_explicit(&board->slots[index].state, memory_order_relaxed) !=
              SX_SLOT_FREE);
    atomic_store_explicit(&board->slots[index].state, SX_SLOT_FREE, memory_order_release);
    board->slot_free[board->free_count++] = index;
}

void sx_board_slot_want_data(struct sx_board *board, uint32_t index, bool wanted)
{
    sx_assert(index < board->slot_next);
    /* S0: seq_cst, before the caller's load of the lane's tail (S1: sx_lane_pending, _take). */
    atomic_store_explicit(&board->slots[index].data_wanted, wanted ? 1 : 0, memory_order_seq_cst);
}

void sx_board_sleep(struct sx_board *board)
{
    /* relaxed: the loop thread is the only writer. */
    const uint32_t epoch = atomic_load_explicit(&board->header->sleep_epoch, memory_order_relaxed);

    if (epoch % 2 == 0) {
        /* S0: seq_cst, before the caller's loads of the tails (S1 in sx_lane_pending). */
        atomic_store_explicit(&board->header->sleep_epoch, epoch + 1, memory_order_seq_cst);
    }
}

void sx_board_wake(struct sx_board *board)
{
    const uint32_t epoch = atomic_load_explicit(&board->header->sleep_epoch, memory_order_relaxed);

    if (epoch % 2 != 0) {
        /* relaxed: a client that still sees the odd value rings once too often, no more. */
        atomic_store_explicit(&board->header->sleep_epoch, epoch + 1, memory_order_relaxed);
    }
}

pmix_status_t sx_board_attach(struct sx_board *board, int fd)
{
    uint64_t slots_off;
    uint32_t slot_count;
    pmix_status_t rc;

    *board = SX_BOARD_NULL;
    rc = sx_segment_attach(&board->seg, fd, SX_SEGMENT_BOARD);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (board->seg.size_bytes < SX_BOARD_SLOTS_OFF) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "a board of only %llu bytes",
                      (unsigned long long)board->seg.size_bytes);
        goto fail;
    }
    board->header = header_of(&board->seg);
    slots_off = board->header->slots_off;
    slot_count = board->header->slot_count;
    if (slot_count == 0 || slot_count > SX_BOARD_SLOT_MAX || slots_off < SX_BOARD_SLOTS_OFF ||
        slots_off % SX_CACHELINE_BYTES != 0 ||
        !sx_range_fits(slots_off, (uint64_t)slot_count * sizeof(struct sx_board_slot),
                       board->seg.size_bytes)) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "a board with %u slots at %llu in %llu bytes", slot_count,
                      (unsigned long long)slots_off, (unsigned long long)board->seg.size_bytes);
        goto fail;
    }
    board->slots = (struct sx_board_slot *)(void *)(board->seg.base + slots_off);
    board->slot_count = slot_count;
    return PMIX_SUCCESS;
fail:
    sx_board_deinit(board);
    return rc;
}

bool sx_board_slot_lives(const struct sx_board_slot *slot, uint32_t claims)
{
    /* A1 <- R1 (sx_board_slot_claim): a live slot's claims are those that it was made live with, or
     * more. */
    return atomic_load_explicit(&slot->state, memory_order_acquire) == SX_SLOT_LIVE &&
           atomic_load_explicit(&slot->claims, memory_order_relaxed) == claims;
}

bool sx_board_server_lives(const struct sx_board *board)
{
    /* acquire: what the server stored before it went is visible to who hears that it went. */
    const uint32_t word = atomic_load_explicit(&board->header->life_word, memory_order_acquire);

    if (sx_life_word_lives(word)) {
        return true;
    }
    sx_life_tell(&board->header->life_word);
    return false;
}

uint32_t sx_board_life_seen(const struct sx_board *board)
{
    const uint32_t word = atomic_load_explicit(&board->header->life_word, memory_order_acquire);

    return sx_life_word_lives(word) ? word : ~word;
}

void sx_board_deinit(struct sx_board *board)
{
    free(board->slot_free);
    board->slot_free = NULL;
    sx_board_end(board);
    /* A word that some other thread of ours still holds is linked into that thread's list through
     * this memory: leave it mapped. */
    if (board->live_pid == 0 || board->live_pid != getpid()) {
        sx_segment_deinit(&board->seg);
    }
    *board = SX_BOARD_NULL;
}
