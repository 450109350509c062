/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.h - a client that sleeps in poll(2), and whether it is to be written to: the doorbell the
 * other way round.
 *
 *     client's line:  wake_wanted, how often it went to sleep; wake_classes, what for (as bits)
 *     server's slot:  wake_rung, the wake_wanted that the server has answered
 *     a socket:       one byte from the server for each answer
 *
 * Equal: the client is awake, or a byte has been sent to it, or is about to be; the server does
 * nothing.  Different: it sleeps, and the next news of its classes rings it, once.  A client that
 * never sleeps costs a comparison.
 *
 * Who frees it if its holder is killed here?  The words go with lane and slot, and whoever is left
 * finds the socket's other end closed. */
#ifndef SX_RING_SLEEPER_H
#define SX_RING_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/board.h"
#include "ring/lane.h"

/* ---- client; the caller serialises ---------------------------------------------------------- */

enum sx_sleep {
    SX_SLEEP_NOTHING_NEW, /* it sleeps already, or its byte is still to come: poll(2) waits */
    SX_SLEEP_BEGUN,       /* the socket is empty, and it sleeps from now on: look for news */
    SX_SLEEP_ENDED,       /* the server has closed the socket */
};

/* Sleep from now on if the last sleep has been answered; @fd is the client's end of the socket,
 * which does not block.  One comparison while it was not. */
enum sx_sleep sx_sleeper_sleep(struct sx_lane_line *line, const struct sx_board_slot *slot, int fd);
/* What to be woken for from now on; look for news after it. */
void sx_sleeper_classes(struct sx_lane_line *line, uint32_t class_bits);

/* ---- server; @fd is its end of the socket, which does not block ----------------------------- */

/* The client has not slept yet: its socket is readable, and it looks.  Return: false when there is
 * no memory for a byte. */
bool sx_sleeper_open(const struct sx_lane_line *line, struct sx_board_slot *slot, int fd);

/* News of @class_bits has been published: ring a client that sleeps for it.  Its words are believed
 * nothing: whatever they say, it is rung at most once a call.  Return: false when it has to be rung
 * and there is no memory for the byte: it sleeps as before, so call this again. */
bool sx_sleeper_ring(const struct sx_lane_line *line, struct sx_board_slot *slot,
                     uint32_t class_bits, int fd);

#endif
