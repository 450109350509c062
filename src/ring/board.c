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
 * message, or the client finds the server asleep and rings.  The data_wanted flag uses the same
 * pair. */
#include "ring/board.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

#define SX_BOARD_HEADER_END (SX_SEGMENT_BODY_OFF + sizeof(struct sx_board_header))
#define SX_BOARD_SLOTS_BYTES ((uint64_t)SX_BOARD_SLOT_MAX * sizeof(struct sx_board_slot))

/* The life word ends the first page; the second is the server's own, in its mapping (life.h), and a
 * hole for all others; then come the slots. */
struct places {
    size_t page_bytes;
    uint32_t life_off;
    uint64_t slots_off;
};

static struct places places_of_this_machine(void)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

    return (struct places){ .page_bytes = page_bytes,
                            .life_off = (uint32_t)(page_bytes - SX_LIFE_SHOWN_BYTES),
                            .slots_off = 2 * page_bytes };
}

static struct sx_board_header *header_of(const struct sx_segment *seg)
{
    return (struct sx_board_header *)(void *)(seg->base + SX_SEGMENT_BODY_OFF);
}

static pmix_status_t board_format(struct sx_board *board, const struct places *at)
{
    struct sx_board_header *const header = header_of(&board->seg);

    board->header = header;
    board->life = (pthread_mutex_t *)(void *)(board->seg.base + at->life_off);
    board->life_word = sx_life_word(board->life);
    board->slots = (struct sx_board_slot *)(void *)(board->seg.base + at->slots_off);
    board->slot_count = SX_BOARD_SLOT_MAX;
    header->life_off = at->life_off;
    header->slot_count = SX_BOARD_SLOT_MAX;
    header->slots_off = at->slots_off;
    header->server_pid = sx_segment_header(&board->seg)->creator_pid;
    header->server_start_ticks = sx_segment_header(&board->seg)->creator_start_ticks;
    /* relaxed: covered by the magic's release in sx_segment_publish. */
    atomic_store_explicit(&sx_segment_header(&board->seg)->used_bytes, at->slots_off,
                          memory_order_relaxed);
    const pmix_status_t rc = sx_life_links_hide(board->seg.base + at->page_bytes, at->page_bytes);

    return rc == PMIX_SUCCESS ? sx_life_init(board->life) : rc;
}

pmix_status_t sx_board_create(struct sx_board *board, const char *name,
                              const struct sx_placement *placement)
{
    const struct places at = places_of_this_machine();
    const uint64_t size_bytes = sx_align_up(at.slots_off + SX_BOARD_SLOTS_BYTES, at.page_bytes);
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_BOARD,
        .nspace = name,
        .size_bytes = size_bytes,
        .size_min_bytes = size_bytes,
        .generation = 1,
        .placement = placement,
    };
    pmix_status_t rc;

    *board = SX_BOARD_NULL;
    rc = sx_segment_create(&board->seg, &options);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_segment_back(&board->seg, at.slots_off);
    if (rc != PMIX_SUCCESS) {
        goto fail;
    }
    board->slot_free = calloc(SX_BOARD_SLOT_MAX, sizeof(*board->slot_free));
    if (board->slot_free == NULL) {
        rc = SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no memory for the list of %d client slots",
                      SX_BOARD_SLOT_MAX);
        goto fail;
    }
    rc = board_format(board, &at);
    if (rc != PMIX_SUCCESS) {
        goto fail;
    }
    sx_segment_publish(&board->seg);
    return PMIX_SUCCESS;
fail:
    sx_board_deinit(board);
    return rc;
}

pmix_status_t sx_board_live(struct sx_board *board)
{
    const pmix_status_t rc = sx_life_hold(board->life);

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
    if (sx_life_release(board->life)) {
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
        const uint64_t end = board->header->slots_off +
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
        /* R0 -> A0 (sx_segment_attach): the memory exists before used_bytes covers it. */
        atomic_store_explicit(&sx_segment_header(&board->seg)->used_bytes, end,
                              memory_order_release);
    }
    /* relaxed: the client receives its slot number by a message, after all of this. */
    atomic_store_explicit(&slot->data_wanted, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->lane_head, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->events_lost, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->pid, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->claims,
                          atomic_load_explicit(&slot->claims, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    /* R1 -> A1 (readers of slots): a live slot is a fresh one. */
    atomic_store_explicit(&slot->state, SX_SLOT_LIVE, memory_order_release);
    *ret_index = index;
    return PMIX_SUCCESS;
}

void sx_board_slot_notify(struct sx_board *board, uint32_t index,
                          const struct sx_board_client *client)
{
    struct sx_board_slot *const slot = &board->slots[index];

    /* relaxed: covered by the release of the process. */
    atomic_store_explicit(&slot->uid, client->uid, memory_order_relaxed);
    atomic_store_explicit(&slot->rank, client->rank, memory_order_relaxed);
    atomic_store_explicit(&slot->role, client->role | client->library << 8, memory_order_relaxed);
    /* R2 -> A2 (sx_board_slot_client): the pid publishes all of these fields. */
    atomic_store_explicit(&slot->pid, client->pid, memory_order_release);
}

bool sx_board_slot_client(const struct sx_board *board, uint32_t index, struct sx_board_client *ret)
{
    const uint64_t end = board->header->slots_off + (index + UINT64_C(1)) * sizeof(board->slots[0]);
    const struct sx_board_slot *const slot = &board->slots[index];

    /* relaxed: slots that were never given are not read, because that would take memory for
     * them. */
    if (end >
        atomic_load_explicit(&sx_segment_header(&board->seg)->used_bytes, memory_order_relaxed)) {
        return false;
    }
    /* A1 <- R1 (sx_board_slot_claim) */
    const uint32_t claims = atomic_load_explicit(&slot->claims, memory_order_acquire);

    /* A2 <- R2 (sx_board_slot_notify) */
    ret->pid = atomic_load_explicit(&slot->pid, memory_order_acquire);
    /* acquire: the load of the state stays behind them. */
    ret->uid = atomic_load_explicit(&slot->uid, memory_order_acquire);
    ret->rank = atomic_load_explicit(&slot->rank, memory_order_acquire);
    const uint32_t role = atomic_load_explicit(&slot->role, memory_order_acquire);

    ret->role = role & 0xff;
    ret->library = role >> 8;
    return sx_board_slot_lives(slot, claims) && ret->pid != 0;
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
    _Atomic uint32_t *const word = &board->slots[index].data_wanted;
    /* relaxed: the loop thread is the only writer. */
    const uint32_t lost = atomic_load_explicit(word, memory_order_relaxed) & ~SX_SLOT_DATA_WANTED;

    /* S0: seq_cst, before the caller's load of the lane's tail (S1: sx_lane_pending, _take). */
    atomic_store_explicit(word, lost | (wanted ? SX_SLOT_DATA_WANTED : 0), memory_order_seq_cst);
}

void sx_board_slot_lose_value(struct sx_board *board, uint32_t index)
{
    sx_assert(index < board->slot_next);
    _Atomic uint32_t *const word = &board->slots[index].data_wanted;
    /* relaxed: the loop thread is the only writer; a process that must see the count receives the
     * end of a collective, or an answer, later. */
    const uint32_t now = atomic_load_explicit(word, memory_order_relaxed);

    if (now >> SX_SLOT_VALUES_SHIFT < UINT32_MAX >> SX_SLOT_VALUES_SHIFT) {
        atomic_store_explicit(word, now + (1u << SX_SLOT_VALUES_SHIFT), memory_order_relaxed);
    }
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

static void keep_most(_Atomic uint64_t *most, uint64_t units)
{
    /* relaxed: figures for reports, written by the loop thread alone. */
    if (units > atomic_load_explicit(most, memory_order_relaxed)) {
        atomic_store_explicit(most, units, memory_order_relaxed);
    }
}

void sx_board_work(struct sx_board *board, uint64_t turn_units, uint64_t share_units)
{
    keep_most(&board->header->turn_units_max, turn_units);
    keep_most(&board->header->share_units_max, share_units);
}

/* Read the places of parts from the header of @board, once, and check them. */
static pmix_status_t board_judge(struct sx_board *board)
{
    const struct sx_board_header *const header = header_of(&board->seg);
    const uint64_t size_bytes = board->seg.size_bytes;

    if (size_bytes < SX_BOARD_HEADER_END) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a board of only %" PRIu64 " bytes", size_bytes);
    }
    const uint64_t slots_off = header->slots_off;
    const uint32_t slot_count = header->slot_count, life_off = header->life_off;

    if (slot_count == 0 || slot_count > SX_BOARD_SLOT_MAX || slots_off < SX_BOARD_HEADER_END ||
        slots_off % SX_CACHELINE_BYTES != 0 ||
        !sx_range_fits(slots_off, (uint64_t)slot_count * sizeof(struct sx_board_slot),
                       size_bytes)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a board with %u slots at %" PRIu64 " in %" PRIu64 " bytes", slot_count,
                        slots_off, size_bytes);
    }
    if (life_off < SX_BOARD_HEADER_END || life_off % sizeof(uint32_t) != 0 ||
        !sx_range_fits(life_off, SX_LIFE_SHOWN_BYTES, slots_off)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a board with its life word at %u and slots at %" PRIu64, life_off,
                        slots_off);
    }
    board->header = header_of(&board->seg);
    board->life_word = (const _Atomic uint32_t *)(const void *)(board->seg.base + life_off);
    board->slots = (struct sx_board_slot *)(void *)(board->seg.base + slots_off);
    board->slot_count = slot_count;
    return PMIX_SUCCESS;
}

pmix_status_t sx_board_attach(struct sx_board *board, int fd)
{
    *board = SX_BOARD_NULL;
    pmix_status_t rc = sx_segment_attach(&board->seg, fd, SX_SEGMENT_BOARD);

    if (rc == PMIX_SUCCESS) {
        rc = board_judge(board);
        if (rc != PMIX_SUCCESS) {
            sx_board_deinit(board);
        }
    }
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
    /* acquire: the server's stores before its end are visible to a process that sees the end. */
    const uint32_t word = atomic_load_explicit(board->life_word, memory_order_acquire);

    if (sx_life_word_lives(word)) {
        return true;
    }
    sx_life_notify(board->life_word);
    return false;
}

uint32_t sx_board_life_seen(const struct sx_board *board)
{
    const uint32_t word = atomic_load_explicit(board->life_word, memory_order_acquire);

    return sx_life_word_lives(word) ? word : ~word;
}

void sx_board_deinit(struct sx_board *board)
{
    free(board->slot_free);
    board->slot_free = NULL;
    sx_board_end(board);
    /* A word that another thread of this process still holds is linked into that thread's list
     * through this memory: leave it mapped. */
    if (board->live_pid == 0 || board->live_pid != getpid()) {
        sx_segment_deinit(&board->seg);
    }
    *board = SX_BOARD_NULL;
}
