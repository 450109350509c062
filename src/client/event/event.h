/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.h - the handlers of this process, and the events that wait for them.
 *
 *     ring record, replay, own event --> queue --progress thread--> chain (base/call/chain.h)
 *     what a late handler has missed --> queue --------/
 *
 * Each handler hears of events in the order of the ring.  What a late one has missed is for that
 * handler alone and has a queue of its own, from which events are taken in turns; while a
 * registration is under way nothing is handed out, so nothing of it is delivered before its
 * acknowledgement or out of order. */
#ifndef SX_CLIENT_EVENT_EVENT_H
#define SX_CLIENT_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/handlers.h"
#include "base/list.h"
#include "client/link/intake.h"

/* What the pump finds of events. */
extern const struct sx_intake sx_event_intake;

/* The table, made at its first use. */
struct sx_handlers *sx_event_handlers(void);

/* False while no handler is registered: what is told then waits for the first one. */
bool sx_event_has_handlers(void);

/* There is a server now, at the end of @link: tell it of the handlers with ids below @before,
 * which hear what it has kept and will have for them. */
void sx_event_register_again(struct sx_link *link, size_t before);

/* Forget all handlers and all that waits.  The progress thread has stopped. */
void sx_event_deinit(void);

/* In the child of a fork: what waits is the parent's. */
void sx_event_forked(void);

/* Events that the ring of @link has had so far, of all classes that carry any. */
uint64_t sx_event_published(const struct sx_link *link);

/* ---- the queue ----------------------------------------------------------------------------- */

/* An event of this process's own making, for its own handlers only; everything is copied.
 * Return: as sx_event_encode. */
pmix_status_t sx_event_local(pmix_status_t code, const struct sx_notify_options *options,
                             const pmix_info_t info[], size_t ninfo);

/* The same for an event that is kept: each handler that comes later hears of it once. */
pmix_status_t sx_event_declare(pmix_status_t code, const pmix_info_t info[], size_t ninfo);
/* What has been declared, for the late handler @only, but for the one with number @in_hand.  Under
 * lock. */
void sx_event_declared_locked(size_t only, uint64_t in_hand);

/* The server is gone: tell the handlers.  Under lock. */
void sx_event_lost_locked(struct sx_link *link);
/* What the server sent cannot be read: say so, and tell the handlers (PMIX_ERR_COMM_FAILURE); what
 * comes while this waits to be handed out is part of it.  Nobody else hears of either event.  Under
 * lock. */
void sx_event_garbled_locked(struct sx_link *link, const char *what);

/* The server has counted @count events of ours as lost so far: tell the handlers.  Under lock. */
void sx_event_unreached_locked(struct sx_link *link, uint64_t count);

/* A record of the ring: struct sx_event and what follows it.  Under lock. */
void sx_event_record_locked(struct sx_link *link, const void *bytes, size_t size);
/* The ring has been read to where it was when `newest` of @link was counted.  Under lock. */
void sx_event_read_to_locked(struct sx_link *link);

/* A list of kept events (struct sx_event_list of EVENT_REGISTER), before those in @items.  Under
 * lock.  Return: the number before which more are to come; 0: none. */
uint64_t sx_event_kept_locked(struct sx_link *link, const void *bytes, size_t size,
                              struct sx_list *items);
/* They are for handler @only, which hears of newer ones than @upto from the ring.  Under lock. */
void sx_event_late_locked(struct sx_link *link, struct sx_list *items, size_t only, uint64_t upto);
/* Or they are for nobody. */
void sx_event_items_free(struct sx_list *items);

/* Take out the next event, as a task that hands it to its handlers.  Under lock.  Return: NULL when
 * nothing may be handed out now. */
struct sx_task *sx_event_take_locked(void);
/* Whether there is one to take out.  Under lock. */
bool sx_event_waits_locked(void);
/* Whether the handlers have been called for all that has been read.  Under lock. */
bool sx_event_all_handled_locked(void);
/* Wait until the handlers have been called for all events of our own that have been posted; in the
 * thread that calls them, or without one: return at once.  Needs no lock. */
void sx_event_locals_wait(void);
/* Forget what waits.  Under lock. */
void sx_event_queue_clear_locked(void);

/* Encode an event as it travels; *ret_bytes malloc'ed.  @options are those of @info.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM (a custom range without targets, a process without a name);
 * PMIX_ERR_NOT_SUPPORTED (a value that cannot travel); PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_encode(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo, void **ret_bytes, size_t *ret_size);

/* Publish what was encoded so by the server of @link, and wait for the server's answer.
 * *ret_number: that it has in our ring, 0 when it is not there.  Return: PMIX_SUCCESS;
 * PMIX_ERR_PARTIAL_SUCCESS when it was for other nodes, too, and gets to none; as sx_request. */
pmix_status_t sx_event_submit(struct sx_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns, uint64_t *ret_number);

#endif
