/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.c - arm, look again, sleep; publish, look at who sleeps, ring.
 *
 *     client: wake_wanted := n + 1   A0        server: tail, bell := news      P0
 *             fence                  F                 fence                   F
 *             load tail, bell        A1                load wake_wanted        P1
 *
 * The two fences are seq_cst, so at least one side sees the other: either the client finds the news
 * before it sleeps, or the server finds it asleep and rings.  The ring itself is a byte in a
 * socket, sent before wake_rung says so (S0): whoever sees the word finds the byte. */
#include "ring/sleeper.h"

static void fence(void)
{
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
/* It cannot follow fences; what they order here are atomics, in which it looks for no race. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    atomic_thread_fence(memory_order_seq_cst); /* F */
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

bool sx_sleeper_is_awake(const struct sx_lane_line *line, const struct sx_board_slot *slot)
{
    /* acquire: S0 -> here, the byte is in the socket.  relaxed: the client's own word. */
    return atomic_load_explicit(&slot->wake_rung, memory_order_acquire) ==
           atomic_load_explicit(&line->wake_wanted, memory_order_relaxed);
}

void sx_sleeper_classes(struct sx_lane_line *line, uint32_t class_bits)
{
    /* relaxed: ordered by the fence. */
    if (atomic_load_explicit(&line->wake_classes, memory_order_relaxed) != class_bits) {
        atomic_store_explicit(&line->wake_classes, class_bits, memory_order_relaxed);
        fence();
    }
}

void sx_sleeper_arm(struct sx_lane_line *line)
{
    /* relaxed: the client is the only writer. */
    const uint32_t wanted = atomic_load_explicit(&line->wake_wanted, memory_order_relaxed);

    atomic_store_explicit(&line->wake_wanted, wanted + 1, memory_order_release); /* A0 */
    fence();
}

bool sx_sleeper_is_due(const struct sx_lane_line *line, const struct sx_board_slot *slot,
                       uint32_t class_bits, uint32_t *ret_wanted)
{
    fence();
    const uint32_t wanted = atomic_load_explicit(&line->wake_wanted,
                                                 memory_order_acquire); /* P1 <- A0 */

    *ret_wanted = wanted;
    /* relaxed: the server's own word; the classes are ordered by the fence. */
    return wanted != atomic_load_explicit(&slot->wake_rung, memory_order_relaxed) &&
           (atomic_load_explicit(&line->wake_classes, memory_order_relaxed) & class_bits) != 0;
}

void sx_sleeper_rung(struct sx_board_slot *slot, uint32_t wanted)
{
    atomic_store_explicit(&slot->wake_rung, wanted, memory_order_release); /* S0 */
}
