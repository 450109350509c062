/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link.h - what this process has of one server.
 *
 *     SINGLETON                        nobody started us: own data only
 *       \--PMIx_Init names a server--> LIVE
 *     LIVE --server dies or drops us--> LOST       reads go on, requests fail
 *       |-----fork, in the child--> DETACHED       reads go on, requests fail
 *       \-----PMIx_tool_disconnect--> LEFT         the same
 *
 * It never goes back while the process is READY (process.h). */
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

/* What is known of the events in the link's ring.  Under the process's lock. */
struct sx_link_events {
    uint64_t last;         /* newest event of ours that was taken in, or passed over */
    uint64_t newest;       /* counted before the ring is read: read at its end */
    bool gap;              /* the ring has lapped us since */
    unsigned ranges;       /* of events that we still have to ask for */
    uint64_t cursor_told;  /* the record up to which the server knows that we have read */
    uint64_t handled_told; /* the same: that handlers have been called */
    bool unreached_waits;  /* an item that tells of the unreached is in the queue */
    uint64_t unreached;    /* of our own, that the server has counted as lost so far */
    uint64_t unreached_told;
};

struct sx_link {
    _Atomic uint32_t state; /* enum sx_link_state */
    unsigned place;         /* in the process's links: which ring it is; constant */

    /* Constant while it is LIVE or LOST. */
    int socket_fd;
    uint32_t slot_index;
    const struct sx_board_slot *slot;
    uint32_t slot_claims; /* which of its clients we are */
    struct sx_board board;
    struct sx_ring ring;
    pmix_proc_t server;
    pmix_proc_t self; /* who this process is to that server */

    pthread_mutex_t lane_lock;
    struct sx_lane lane;
    _Atomic bool committing; /* stored under lane_lock, which its holder gives back at times */
    unsigned commit_waiters; /* for the end of that commit */
    pthread_cond_t commit_over;
    bool committed;                    /* the server has been told of one; under lane_lock */
    _Atomic uint32_t values_lost_told; /* of the lane's count: those that a call has returned */

    _Atomic uint32_t published; /* enum sx_published_use: client/publish/published.h */

    /* Under the process's lock. */
    struct sx_ring_cursor cursor;
    uint32_t classes; /* of the ring's records, that are read besides the ends of collectives */
    struct sx_link_events events;
    uint32_t bell_seen;      /* our slot's bell when the socket was last emptied */
    struct sx_list requests; /* struct sx_op, by id */
    struct sx_window window;
    struct sx_list collectives; /* struct sx_op, by id */
    unsigned collective_count, collectives_max;
    uint32_t id_last;
    bool ids_again;       /* numbers have come round: one may belong to an old request */
    struct sx_op results; /* a RESULTS_GET under way, if results_asked */
    bool results_asked, results_again;
};

static inline bool sx_link_is_live(const struct sx_link *link)
{
    /* acquire: the mappings are there when the link is. */
    return atomic_load_explicit(&link->state, memory_order_acquire) == SX_LINK_LIVE;
}

static inline bool sx_link_is_singleton(const struct sx_link *link)
{
    return atomic_load_explicit(&link->state, memory_order_acquire) == SX_LINK_SINGLETON;
}

/* Why it is not live: PMIX_ERR_UNREACH for a singleton, and where it was left;
 * PMIX_ERR_LOST_CONNECTION; PMIX_ERR_NOT_AVAILABLE in a forked child.  Return: PMIX_SUCCESS when it
 * has just become so. */
pmix_status_t sx_link_fault(const struct sx_link *link);

/* Return: PMIX_SUCCESS while requests can be made; as sx_link_fault. */
static inline pmix_status_t sx_link_status(const struct sx_link *link)
{
    return sx_link_is_live(link) ? PMIX_SUCCESS : sx_link_fault(link);
}

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, logged, when the server could not keep values
 * that were committed here and no call has returned that yet.  The link is or was LIVE.  Any
 * thread. */
pmix_status_t sx_link_values_judge(struct sx_link *link);

/* Whether a sleeper watches the one word of the ring that tells of all its classes: where the
 * kernel can wait for one word only, and for the rings of further servers. */
static inline bool sx_link_sleeps_by_any(const struct sx_link *link)
{
    return link->place != 0 || !sx_bell_has_waitv();
}

/* Whether process ids that the server tells are those of this process's pid namespace. */
bool sx_link_pids_are_ours(const struct sx_link *link);

/* A number for an operation of @link; 0 would want no answer.  Under lock. */
uint32_t sx_link_next_id_locked(struct sx_link *link);

/* Take in everything that has arrived.  Under lock. */
void sx_link_pump_locked(struct sx_link *link);
/* The same for all links of this process. */
void sx_links_pump_locked(void);

/* The server is gone: end everything that is pending, now and later.  Under lock. */
void sx_link_lost_locked(struct sx_link *link, const char *why);
/* The same without a word: this process leaves.  Return: false when it was not LIVE. */
bool sx_link_end_locked(struct sx_link *link);

#endif
