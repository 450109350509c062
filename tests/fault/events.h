/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.h - publishers that number what they publish, and readers that account for all of it.
 *
 * An event carries its number and, with a body, bytes that the number decides, so that a reader
 * notices what is torn.  What readers and publishers have done stands in fault_shared:
 *
 *     event_sent   published: PMIx_Notify_event has returned
 *     event_count  handed to the handler, each with a higher number than the one before
 *     event_last   the number of the last one
 *     event_lost   said to be lost by SHMIX_ERR_EVENTS_LOST
 *     event_ended  how often the reader was told that a process or the server is gone
 *
 * At rest event_count + event_lost is what was published. */
#ifndef SX_TESTS_FAULT_EVENTS_H
#define SX_TESTS_FAULT_EVENTS_H

#include "fault.h"

#define EVENTS_CODE (PMIX_EXTERNAL_ERR_BASE - 7)

/* Publish number @number with @body_size bytes (0: none) to the ranks of this namespace.  Return:
 * as PMIx_Notify_event. */
pmix_status_t events_publish(uint64_t number, size_t body_size);
/* Publish @count events from @first on as publisher @who; fails unless all succeed. */
void events_publish_many(int who, uint64_t first, uint64_t count, size_t body_size);

/* Register handlers that keep the words of @who; fails the process when an event is torn, or not
 * newer than the one before.  @code: what else ends the story (event_ended), 0: nothing. */
void events_read(int who, pmix_status_t code);
/* The next event may have any number: the publisher begins anew. */
void events_read_afresh(int who);

/* Whether reader @who has heard of all @count events, or of their loss. */
bool events_accounted(int who, uint64_t count);

/* How many events a case publishes: SHMIX_FAULT_EVENTS, or @usual. */
uint64_t events_how_many(uint64_t usual);

#endif
