/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handlers.h - the handlers of events, and their calling order (RFC0002, RFC0018).
 *
 *     FIRST | one code | several codes | any code (default) | LAST
 *
 * Within its category a new handler is put in front unless a directive says otherwise.  Beside the
 * handler that is FIRST stand those that were put directly AFTER it, before LAST those that were
 * put BEFORE it.  When FIRST or LAST goes, these companions return to their category: in front of
 * it, or to its end.  A process has a table of its own and one for the host of a server in it.  The
 * tables' lock is held for look-ups only, never while a handler runs.  Any thread may call. */
#ifndef SX_BASE_CALL_HANDLERS_H
#define SX_BASE_CALL_HANDLERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/list.h"

#define SX_HANDLER_COUNT_MAX 65536u
#define SX_HANDLER_CODES_MAX 65536u

/* Each ring numbers its events on its own.  Where a number is compared, its upper bits are the
 * ring's index. */
#define SX_EVENT_RINGS_MAX 32u
#define SX_EVENT_RING_SHIFT 56

static inline uint64_t sx_event_of_ring(uint32_t ring, uint64_t number)
{
    return (uint64_t)ring << SX_EVENT_RING_SHIFT | number;
}

enum sx_handler_zone {
    SX_ZONE_FIRST = 0,
    SX_ZONE_ONE,
    SX_ZONE_SEVERAL,
    SX_ZONE_ANY,
    SX_ZONE_LAST,
    SX_ZONE_COUNT,
};

struct sx_handler; /* counted: the table's reference and one per chain that will call it */

#define SX_HANDLER_BUCKETS 256u

/* Of all tables, and of the chains through their handlers (chain.h): what a chain does to both at
 * once takes one hold of it. */
extern pthread_mutex_t sx_handlers_lock;

struct sx_handlers {
    pthread_cond_t returned;             /* a handler's function has returned */
    struct sx_list zones[SX_ZONE_COUNT]; /* of struct sx_handler */
    struct sx_list by_name[SX_HANDLER_BUCKETS], by_id[SX_HANDLER_BUCKETS]; /* the same again */
    size_t next_id, count;
    struct sx_list calls; /* of struct sx_handler_call, the newest last */
    uint64_t call_last;
    _Atomic uint64_t received; /* a bit per code, modulo 64, that some handler has asked for */
    void (*spent)(size_t id);
};

/* The handlers of an event, in calling order. */
struct sx_matches {
    struct sx_handler **all;
    size_t count, room; /* the room stays, from event to event */
};
#define SX_MATCHES_NULL ((struct sx_matches){ .all = NULL })

/* Facts about an event by which handlers match it. */
struct sx_event_facts {
    pmix_status_t code;
    const pmix_proc_t *source;   /* the resource manager: empty namespace, rank UNDEF */
    bool from_self;              /* made by this process */
    bool non_default;            /* not for default handlers */
    bool environment;            /* the resource manager's own, for no job in particular */
    const pmix_proc_t *affected; /* whom it touches */
    size_t affected_count;
    uint64_t number; /* sx_event_of_ring; 0: none; else only for handlers since an older one */
    size_t before;   /* 0: for all; else only for handlers with a smaller id */
    bool is_for_one; /* a kept one: for the handler `only`, which came after it */
    size_t only;
};

/* A handler's function, from when it is called until it has returned. */
struct sx_handler_call {
    struct sx_list node; /* sx_handlers.calls */
    struct sx_handler *handler;
    pthread_t thread;
    uint64_t serial; /* no two calls have the same */
    uint64_t number; /* of the event */
    bool is_for_one; /* the event is */
    /* The arguments besides the event. */
    size_t id;
    pmix_status_t code; /* the event's, or the other name of it that the handler asked for */
    pmix_notification_fn_t fn;
    char name[PMIX_MAX_KEYLEN + 1]; /* empty: none */
    void *object;
    bool has_object;
};

void sx_handlers_init(struct sx_handlers *handlers);
/* @spent is called, without the lock, when the function of a handler that is for one event has
 * returned: the callback removes the handler, and notifies others that need it.  Set it before the
 * first such handler is added. */
void sx_handlers_on_spent(struct sx_handlers *handlers, void (*spent)(size_t id));
/* Forget all; handlers that a chain still refers to are freed with it.  No other thread uses the
 * table, but the caller may be a handler of it. */
void sx_handlers_deinit(struct sx_handlers *handlers);

/* Whether a handler for @codes wants the environment's events, so that the host is asked for them:
 * its directives request them, or it names a code of the system's range and no level. */
bool sx_handler_asks_environment(const struct sx_handler_options *options,
                                 const pmix_status_t codes[], size_t ncodes);

/* Put a handler into its place.  @nspace: the caller's own, for the range NAMESPACE.  Return:
 * PMIX_SUCCESS and *ret_id; PMIX_ERR_EVENT_REGISTRATION when its name or place is taken, or names a
 * handler that is not there or of another category; PMIX_ERR_BAD_PARAM (no function, two places, an
 * empty name or one longer than a key, an object that is not a pointer, levels that let nothing
 * through); PMIX_ERR_OUT_OF_RESOURCE.  On failure nothing has changed. */
pmix_status_t sx_handlers_add(struct sx_handlers *handlers, const char *nspace,
                              const pmix_status_t codes[], size_t ncodes,
                              const struct sx_handler_options *options, pmix_notification_fn_t fn,
                              size_t *ret_id);

/* The registration is over: the handler receives numbered events of a ring above @number
 * (sx_event_of_ring), and older ones that are for it alone.  Until this call a new handler receives
 * no numbered event of that ring.
 *
 * It is not given the event that was being handled when it was registered: the one in whose
 * handler sx_handlers_add was called, or at which a handler in another thread has been since then.
 * A handler that registers itself once more, with everything as it was, has had what came before
 * that event, too. */
void sx_handlers_since(struct sx_handlers *handlers, size_t id, uint64_t number);

/* When this returns no call of the handler begins any more; one that runs in another thread has
 * returned (a handler may remove itself).  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for an unknown
 * id. */
pmix_status_t sx_handlers_remove(struct sx_handlers *handlers, size_t id);

/* Each of @matches is retained; what it had before is overwritten.  Under the lock.  Return:
 * PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_handlers_match_locked(struct sx_handlers *handlers,
                                       const struct sx_event_facts *event,
                                       struct sx_matches *matches);
void sx_handler_release_locked(struct sx_handler *handler);
/* The handlers have been released. */
void sx_matches_deinit(struct sx_matches *matches);

/* The id of the next handler that is added. */
size_t sx_handlers_next(struct sx_handlers *handlers);

/* False when no handler has ever asked for @code: it spares the work of a match. */
bool sx_handlers_receive(const struct sx_handlers *handlers, pmix_status_t code);

/* Fill the arguments of @handler for @event, and mark the handler as running until
 * sx_handlers_returned_locked, which also releases it.  Under the lock, both.  Return: false when
 * it was removed, or was for one event and has had that; *ret is then left alone, and the handler
 * is still to be released. */
bool sx_handlers_call_locked(struct sx_handlers *handlers, struct sx_handler *handler,
                             const struct sx_event_facts *event, struct sx_handler_call *ret);
/* Return: 0, or the id with which the table's `spent` is to be called, without the lock. */
size_t sx_handlers_returned_locked(struct sx_handlers *handlers, struct sx_handler_call *call);

#endif
