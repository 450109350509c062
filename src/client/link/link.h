/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link.h - this process's state for one server.
 *
 *     SINGLETON                        without a server: own data only
 *       \--PMIx_Init names a server--> LIVE
 *     LIVE --server dies or drops it--> LOST       reads go on, requests fail
 *       |-----fork, in the child--> DETACHED       reads go on, requests fail
 *       \-----PMIx_tool_disconnect--> LEFT         the same
 *
 * A link never becomes LIVE again while the process is READY (process.h). */
#ifndef SX_CLIENT_LINK_LINK_H
#define SX_CLIENT_LINK_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <pmix.h>

#include "base/list.h"
#include "client/link/op.h"
#include "client/link/window.h"
#include "ring/bell.h"
#include "ring/board.h"
#include "ring/lane.h"
#include "ring/ring.h"

enum sx_link_state {
    SX_LINK_SINGLETON = 0,
    SX_LINK_LIVE,
    SX_LINK_LOST,
    SX_LINK_DETACHED,
    SX_LINK_LEFT,
};

/* Whether lookups read published values without a message (client/publish/publish.c). */
enum sx_published_use {
    SX_PUBLISHED_UNUSED = 0,
    SX_PUBLISHED_WORTH_IT,
    SX_PUBLISHED_NEVER,
};

/* The state of the events in the link's ring.  Under the process's lock. */
struct sx_link_events {
    uint64_t last;         /* newest event for this process that was read or skipped */
    uint64_t newest;       /* counted before the ring is read: read at its end */
    bool gap;              /* the ring has lapped this reader since */
    unsigned ranges;       /* ranges of events still to be requested */
    uint64_t cursor_told;  /* the server was sent this record as the last one read */
    uint64_t handled_told; /* the same: the last one whose handlers were called */
    bool unreached_waits;  /* an item that reports the unreached is in the queue */
    uint64_t unreached;    /* own events that the server has counted as lost so far */
    uint64_t unreached_told;
};

struct sx_link {
    _Atomic uint32_t state; /* enum sx_link_state */
    unsigned place;         /* in the process's links: which ring it is; constant */

    /* Constant while it is LIVE or LOST. */
    int socket_fd;
    uint32_t slot_index;
    const struct sx_board_slot *slot;
    uint32_t slot_claims; /* which of the slot's successive clients this process is */
    struct sx_board board;
    struct sx_ring ring;
    pmix_proc_t server;
    pmix_proc_t self; /* this process's name at that server */

    pthread_mutex_t lane_lock;
    struct sx_lane lane;
    _Atomic bool committing; /* stored under lane_lock, which its holder may release */
    unsigned commit_waiters; /* for the end of that commit */
    pthread_cond_t commit_over;
    bool committed;                    /* a commit was sent; under lane_lock */
    _Atomic uint32_t values_lost_told; /* of the lane's count: reported by a call */

    _Atomic uint32_t published; /* enum sx_published_use */

    /* Under the process's lock. */
    struct sx_ring_cursor cursor;
    uint32_t classes; /* of ring records that are read besides the ends of collectives */
    struct sx_link_events events;
    uint32_t bell_seen;      /* our slot's bell when the socket was last emptied */
    struct sx_list requests; /* struct sx_op, by id */
    struct sx_window window;
    struct sx_list collectives; /* struct sx_op, by id */
    unsigned collective_count, collectives_max;
    uint32_t id_last;
    bool ids_again;       /* numbers have wrapped around: one may be an old request's */
    struct sx_op results; /* a RESULTS_GET under way, if results_asked */
    bool results_asked, results_again;
};

static inline bool sx_link_is_live(const struct sx_link *link)
{
    /* acquire: the mappings exist when the link does. */
    return atomic_load_explicit(&link->state, memory_order_acquire) == SX_LINK_LIVE;
}

static inline bool sx_link_is_singleton(const struct sx_link *link)
{
    return atomic_load_explicit(&link->state, memory_order_acquire) == SX_LINK_SINGLETON;
}

/* The reason why the link is not live: PMIX_ERR_UNREACH for a singleton, and after a disconnect;
 * PMIX_ERR_LOST_CONNECTION; PMIX_ERR_NOT_AVAILABLE in a forked child.  Return: PMIX_SUCCESS when it
 * has just become live. */
pmix_status_t sx_link_fault(const struct sx_link *link);

/* Return: PMIX_SUCCESS while requests can be made; as sx_link_fault. */
static inline pmix_status_t sx_link_status(const struct sx_link *link)
{
    return sx_link_is_live(link) ? PMIX_SUCCESS : sx_link_fault(link);
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, logged, when the server could not keep values
 * that were committed here and no call has reported that yet.  The link is or was LIVE.  Any
 * thread. */
pmix_status_t sx_link_values_judge(struct sx_link *link);

/* Whether a sleeper watches the one word of the ring that changes with all its classes.  That is so
 * where the kernel can wait for one word only, and for the rings of further servers. */
static inline bool sx_link_sleeps_by_any(const struct sx_link *link)
{
    return link->place != 0 || !sx_bell_has_waitv();
}

/* Whether process ids from the server are those of this process's pid namespace. */
bool sx_link_pids_are_ours(const struct sx_link *link);

/* A number for an operation of @link; 0 would mean that no answer is wanted.  Under lock. */
uint32_t sx_link_next_id_locked(struct sx_link *link);

/* Take in everything that has arrived.  Under lock. */
void sx_link_pump_locked(struct sx_link *link);
/* The same for all links of this process. */
void sx_links_pump_locked(void);

/* The server is gone: end all pending operations, and later ones too.  Under lock. */
void sx_link_lost_locked(struct sx_link *link, const char *why);
/* The same without a log line: this process leaves.  Return: false when it was not LIVE. */
bool sx_link_end_locked(struct sx_link *link);

#endif
