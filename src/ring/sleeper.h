/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.h - a client that sleeps in poll(2), and whether the server has to write to it: a
 * doorbell from server to client.
 *
 *     client's line:  wake_wanted, how often it went to sleep; wake_classes, what for (as bits)
 *     server's slot:  wake_rung, the wake_wanted that the server has answered
 *     a socket:       one byte from the server for each answer
 *
 * If wake_wanted and wake_rung are equal, the client is awake, or a byte has been sent to it or is
 * about to be sent.  The server does nothing.  If they differ, the client sleeps, and the next news
 * of its classes rings it, once.  A client that never sleeps costs one comparison.
 *
 * Recovery after a kill: the words are freed with the lane and the slot.  The surviving process
 * finds the other end of the socket closed. */
#ifndef SX_RING_SLEEPER_H
#define SX_RING_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/board.h"
#include "ring/lane.h"

/* ---- client; the caller serialises ---------------------------------------------------------- */

enum sx_sleep {
    SX_SLEEP_NOTHING_NEW, /* it sleeps already, or its byte is still under way: poll(2) waits */
    SX_SLEEP_BEGUN,       /* the socket is empty, and it sleeps from now on: check for news */
    SX_SLEEP_ENDED,       /* the server has closed the socket */
};

/* Sleep from now on, if the last sleep has been answered.  @fd is the client's end of the
 * socket, which does not block.  Costs one comparison if the last sleep has not been
 * answered. */
enum sx_sleep sx_sleeper_sleep(struct sx_lane_line *line, const struct sx_board_slot *slot, int fd);
/* Set the classes that wake the client from now on.  Check for news afterwards. */
void sx_sleeper_classes(struct sx_lane_line *line, uint32_t class_bits);

/* ---- server; @fd is its end of the socket, which does not block ----------------------------- */

/* The client has not slept yet.  Make its socket readable, so that it checks for news.  Return:
 * false when there is no memory for a byte. */
bool sx_sleeper_open(const struct sx_lane_line *line, struct sx_board_slot *slot, int fd);

/* News of @class_bits has been published: ring the client if it sleeps for them.  The client's
 * words are not trusted: whatever their values, the client is rung at most once per call.  Return:
 * false when it has to be rung and there is no memory for the byte.  It sleeps as before, so call
 * this again. */
bool sx_sleeper_ring(const struct sx_lane_line *line, struct sx_board_slot *slot,
                     uint32_t class_bits, int fd);

#endif
