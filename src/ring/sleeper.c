/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.c - the client sleeps, checks again, polls; the server publishes, checks for a sleeper,
 * rings.
 *
 *     client: wake_wanted := n + 1   A0        server: tail, bell := news      P0
 *             sx_barrier             F                 sx_barrier              F
 *             load tail, bell        A1                load wake_wanted        P1
 *
 * The two fences are seq_cst, so at least one side sees the other: either the client finds the news
 * before it sleeps, or the server finds it asleep and rings.
 *
 *     client: poll, the byte is there          server: wake_rung := n + 1      B0
 *             load wake_rung         B1                send a byte
 *             take the byte          B2
 *
 * A sleeper that the byte has woken sees the word (B0 -> B1, through the socket), takes the byte
 * out and may sleep again: one ring is one wake.  If it sees the word before the byte has come, it
 * does not sleep yet, since that byte would wake it once more: it polls, and the byte wakes it. */
#include "ring/sleeper.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/util.h"

/* ---- client --------------------------------------------------------------------------------- */

/* All that is in the socket.  Return: as recv(). */
static ssize_t bytes_take(int fd)
{
    char bytes[16]; /* there is one */
    ssize_t got;

    do {
        got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    return got;
}

enum sx_sleep sx_sleeper_sleep(struct sx_lane_line *line, const struct sx_board_slot *slot, int fd)
{
    /* relaxed: the client is the only writer. */
    const uint32_t wanted = atomic_load_explicit(&line->wake_wanted, memory_order_relaxed);

    /* acquire: the server's stores before its answer are visible. */
    if (atomic_load_explicit(&slot->wake_rung, memory_order_acquire) != wanted) { /* B1 <- B0 */
        return SX_SLEEP_NOTHING_NEW;
    }
    const ssize_t got = bytes_take(fd); /* B2 */
    if (got < 0) {
        return SX_SLEEP_NOTHING_NEW;
    }
    atomic_store_explicit(&line->wake_wanted, wanted + 1, memory_order_release); /* A0 */
    sx_barrier();
    return got == 0 ? SX_SLEEP_ENDED : SX_SLEEP_BEGUN;
}

void sx_sleeper_classes(struct sx_lane_line *line, uint32_t class_bits)
{
    /* relaxed: ordered by the fence. */
    if (atomic_load_explicit(&line->wake_classes, memory_order_relaxed) != class_bits) {
        atomic_store_explicit(&line->wake_classes, class_bits, memory_order_relaxed);
        sx_barrier();
    }
}

/* ---- server --------------------------------------------------------------------------------- */

/* A socket that is full is readable already; one whose other end is closed has no process to wake.
 * Return: false when memory is short. */
static bool byte_send(int fd)
{
    ssize_t sent;

    do {
        sent = send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0 || (errno != ENOBUFS && errno != ENOMEM);
}

bool sx_sleeper_open(const struct sx_lane_line *line, struct sx_board_slot *slot, int fd)
{
    /* relaxed: the answer that carries the socket comes after both. */
    atomic_store_explicit(&slot->wake_rung,
                          atomic_load_explicit(&line->wake_wanted, memory_order_relaxed),
                          memory_order_relaxed);
    return byte_send(fd);
}

bool sx_sleeper_ring(const struct sx_lane_line *line, struct sx_board_slot *slot,
                     uint32_t class_bits, int fd)
{
    /* relaxed: the server's own word. */
    const uint32_t rung = atomic_load_explicit(&slot->wake_rung, memory_order_relaxed);

    sx_barrier();
    const uint32_t wanted = atomic_load_explicit(&line->wake_wanted,
                                                 memory_order_acquire); /* P1 <- A0 */
    /* relaxed: ordered by the fence. */
    if (wanted == rung ||
        (atomic_load_explicit(&line->wake_classes, memory_order_relaxed) & class_bits) == 0) {
        return true;
    }
    atomic_store_explicit(&slot->wake_rung, wanted, memory_order_release); /* B0 -> B1 */
    if (byte_send(fd)) {
        return true;
    }
    atomic_store_explicit(&slot->wake_rung, rung, memory_order_release);
    return false;
}
