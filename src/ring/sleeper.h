/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper.h - a client that sleeps in poll(2), and whether it is to be written to: the doorbell the
 * other way round.
 *
 *     client's line:  wake_wanted, how often it went to sleep; wake_classes, what for (as bits)
 *     server's slot:  wake_rung, the wake_wanted that the server has answered
 *
 * Equal: the client is awake, or has been rung; the server does nothing.  Different: it sleeps, and
 * the next news of its classes rings it, once.  A client that never arms costs a comparison.
 *
 * Who frees it if its holder is killed here?  The words go with lane and slot. */
#ifndef SX_RING_SLEEPER_H
#define SX_RING_SLEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/board.h"
#include "ring/lane.h"

/* ---- client; the caller serialises ---------------------------------------------------------- */

/* Whether the server has rung for the last sleep, or there was none yet: empty the socket, arm. */
bool sx_sleeper_is_awake(const struct sx_lane_line *line, const struct sx_board_slot *slot);
/* What to be woken for from now on; look for news after it. */
void sx_sleeper_classes(struct sx_lane_line *line, uint32_t class_bits);
/* Sleep from now on; look for news after it. */
void sx_sleeper_arm(struct sx_lane_line *line);

/* ---- server --------------------------------------------------------------------------------- */

/* After news of @class_bits was published: is the client to be rung?  Its words are believed
 * nothing: whatever they say, it is rung at most once a call. */
bool sx_sleeper_is_due(const struct sx_lane_line *line, const struct sx_board_slot *slot,
                       uint32_t class_bits, uint32_t *ret_wanted);
/* It was, for @wanted. */
void sx_sleeper_rung(struct sx_board_slot *slot, uint32_t wanted);

#endif
