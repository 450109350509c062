/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.h - the handlers of this process, and the queue of events for them.
 *
 *     ring record, replay, own event --> queue --progress thread--> chain (base/call/chain.h)
 *     events before a late handler --> queue --------/
 *
 * Each handler receives events in the order of the ring.  Events from before a late handler are for
 * that handler alone and have a separate queue; the two queues take turns.  While a registration is
 * under way no event is handed out, so none is delivered before its acknowledgement or out of
 * order. */
#ifndef SX_CLIENT_EVENT_EVENT_H
#define SX_CLIENT_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/handlers.h"
#include "base/list.h"
#include "client/link/link.h"

/* The functions that receive events from the pump. */
extern const struct sx_intake sx_event_intake;

/* The table, made at its first use. */
struct sx_handlers *sx_event_handlers(void);

/* False while no handler is registered: events that are kept then wait for the first one. */
bool sx_event_has_handlers(void);

/* @link now has a server: register there the handlers with ids below @before, which receive its
 * kept and later events. */
void sx_event_register_again(struct sx_link *link, size_t before);

/* Drop all handlers and all queued events.  The progress thread has stopped. */
void sx_event_deinit(void);

/* In the child of a fork: queued events belong to the parent. */
void sx_event_forked(void);

/* The number of events that the ring of @link has had so far, in all classes that carry events. */
uint64_t sx_event_published(const struct sx_link *link);

/* ---- the queue ----------------------------------------------------------------------------- */

/* An event that this process makes, for its own handlers only; everything is copied.  Return: as
 * sx_event_encode. */
pmix_status_t sx_event_local(pmix_status_t code, const struct sx_notify_options *options,
                             const pmix_info_t info[], size_t ninfo);

/* The same for an event that is kept: each handler that is registered later receives it once. */
pmix_status_t sx_event_declare(pmix_status_t code, const pmix_info_t info[], size_t ninfo);
/* Queue all declarations for the late handler @only, except the one with number @in_hand.  Under
 * lock. */
void sx_event_declared_locked(size_t only, uint64_t in_hand);

/* The server is lost: queue an event for the handlers.  Under lock. */
void sx_event_lost_locked(struct sx_link *link);
/* A message of the server cannot be read: log it, and queue PMIX_ERR_COMM_FAILURE for the handlers.
 * Further ones are part of the same event until it is handed out.  No other process receives this
 * event or the one of a lost server.  Under lock. */
void sx_event_garbled_locked(struct sx_link *link, const char *what);

/* The server has counted @count events of this process as lost so far: queue an event for the
 * handlers.  Under lock. */
void sx_event_unreached_locked(struct sx_link *link, uint64_t count);

/* A record of the ring: struct sx_event and what follows it.  Under lock. */
void sx_event_record_locked(struct sx_link *link, const void *bytes, size_t size);

/* A list of kept events (struct sx_event_list of EVENT_REGISTER), before those in @items.  Under
 * lock.  Return: the number before which more are to be requested; 0: none. */
uint64_t sx_event_kept_locked(struct sx_link *link, const void *bytes, size_t size,
                              struct sx_list *items);
/* The @items are for handler @only, which receives events newer than @upto from the ring.  Under
 * lock. */
void sx_event_late_locked(struct sx_link *link, struct sx_list *items, size_t only, uint64_t upto);
/* Or no handler wants the @items. */
void sx_event_items_free(struct sx_list *items);

/* Wait until the handlers have been called for all own events that have been posted.  In the thread
 * that calls handlers, or without such a thread: return at once.  Needs no lock. */
void sx_event_locals_wait(void);
/* Drop all queued events.  Under lock. */
void sx_event_queue_clear_locked(void);

/* Encode an event for the wire; *ret_bytes malloc'ed.  @options are those of @info.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM (a custom range without targets, a process without a name);
 * PMIX_ERR_NOT_SUPPORTED (a value that cannot be encoded); PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_encode(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo, void **ret_bytes, size_t *ret_size);

/* Have the server of @link publish an event that was encoded so, and wait for its answer.
 * *ret_number: its number in our ring, 0 when it is not there.  Return: PMIX_SUCCESS;
 * PMIX_ERR_PARTIAL_SUCCESS when it was for other nodes, too, and reaches no other node; as
 * sx_request. */
pmix_status_t sx_event_submit(struct sx_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns, uint64_t *ret_number);

/* ---- lists of kept events -------------------------------------------------------------------- */

/* The kept events in an answer of the server, and requests for events that the ring does not have
 * (any more). */

/* The rest of a struct sx_event_list. */
struct sx_event_list_rest {
    const uint8_t *at; /* the next event; NULL: this is not a list */
    size_t size;
    uint32_t count;
    uint64_t lost; /* events lost behind the last one */
    uint64_t next; /* the number from which on the list has no events */
};

/* One event of the list: struct sx_event and its variable part. */
struct sx_event_listed {
    const uint8_t *bytes;
    size_t size;
    uint64_t number;
    uint64_t lost; /* events lost between the one before and this one */
};

/* @bytes are borrowed, and checked before use. */
void sx_event_list_open(struct sx_event_list_rest *rest, const void *bytes, size_t size);
/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND behind the last one; PMIX_ERR_UNPACK_FAILURE when the
 * list contradicts itself. */
pmix_status_t sx_event_list_next(struct sx_event_list_rest *rest, struct sx_event_listed *ret);

/* An answer of our own to EVENT_REPLAY. */
struct sx_event_batch {
    uint8_t *bytes;
    struct sx_event_list_rest rest;
};

/* Ask the server of @link for the events @first to @last.  The answer has as many as the server
 * gives at once.  rest.next, which is behind @first, is the next number to ask for.  Return:
 * PMIX_SUCCESS, and @ret is to be freed; PMIX_ERR_OUT_OF_RESOURCE; PMIX_ERR_UNPACK_FAILURE; as
 * sx_request. */
pmix_status_t sx_event_batch_ask(struct sx_link *link, uint64_t first, uint64_t last,
                                 struct sx_event_batch *ret);
/* Safe on an empty batch, and twice. */
void sx_event_batch_free(struct sx_event_batch *batch);

/* ---- answers about groups -------------------------------------------------------------------- */

/* The answers of handlers to the end of a process that takes part in building a group.
 *
 * By the Standard handlers answer with the status and the results of their completion.  The
 * strongest answer of all handlers is sent to the server when the last one has completed. */

/* Whether an event of @code may need an answer. */
bool sx_group_code_asks(pmix_status_t code);

/* SX_HEARS_*, by the handlers that exist now.  No handler answers while the caller waits (@waits)
 * in the thread that would run the handler. */
uint8_t sx_group_receives(bool waits);

/* Return: enum sx_group_word. */
uint8_t sx_group_word(pmix_status_t status, const pmix_info_t results[], size_t nresults);

/* Send @word to the server, if the event's encoded infos ask for an answer. */
void sx_group_say(struct sx_link *link, const void *infos, size_t size, uint8_t word);

#endif
