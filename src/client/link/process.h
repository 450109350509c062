/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.h - this process as a client: its name, its mappings, its pending operations.
 *
 *     NONE --PMIx_Init--> READY --last PMIx_Finalize--> ENDING --> NONE
 *
 * While READY the process has a link to a server (link.h), or is a singleton.  A tool may have
 * several links: its requests are sent to the primary server, events arrive from all.
 *
 * There is one state per process, because the ABI has no handle.
 *
 * Locks, in the order in which they are taken.  Each is held for a bounded time.
 *   life_lock    PMIx_Init and PMIx_Finalize
 *   lane_lock    appending to the lane
 *   view_lock    fetching a store
 *   lock         arrivals, and the threads that wait for them
 *   data_lock    private stores, and values not committed yet
 *   the lock of events (client/event/event_state.h)
 * No lock is held while its holder waits for the server.  There are two exceptions, both with a
 * deadline: life_lock while it waits for the welcome, and view_lock while it waits for a store.  A
 * Get that hits takes none of these locks. */
#ifndef SX_CLIENT_LINK_PROCESS_H
#define SX_CLIENT_LINK_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <pmix.h>

#include "base/call/handlers.h"
#include "base/list.h"
#include "base/spin.h"
#include "client/link/link.h"
#include "control/message.h"
#include "ring/bell.h"
#include "ring/record.h"

#define SX_LINKS_MAX 8u /* live ones at a time */
#define SX_LINKS_EVER_MAX SX_EVENT_RINGS_MAX

enum sx_process_state {
    SX_PROCESS_NONE = 0,
    SX_PROCESS_READY,
    SX_PROCESS_ENDING,
};

/* Values put and not committed: messages in the layout of a PUT_BULK body, back to back. */
struct sx_puts {
    uint8_t *bytes;
    size_t used_bytes, size_bytes;
};

struct sx_intake;
struct sx_view;

struct sx_process {
    /* Read by every call. */
    _Atomic uint32_t state; /* enum sx_process_state */
    struct sx_view *own;    /* of our namespace; constant while READY */
    size_t nspace_len;
    pmix_proc_t self;

    const struct sx_intake *const *intakes; /* NULL at the end */

    struct sx_link first;              /* made by PMIx_Init, or unused yet */
    _Atomic(struct sx_link *) primary; /* whose server is asked; never NULL */
    /* All links since PMIx_Init, by their place; ended ones stay until PMIx_Finalize, since
     * operations and readers refer to them.  Under lock. */
    struct sx_link *links[SX_LINKS_EVER_MAX];
    unsigned link_count;
    pthread_cond_t linked; /* a link was added, or the process ends */

    pthread_mutex_t life_lock;
    pthread_cond_t life_cond; /* ENDING is over */
    unsigned init_count;
    bool is_tool; /* by PMIx_tool_init; constant while READY */

    pthread_mutex_t view_lock;

    pthread_mutex_t lock;
    pthread_cond_t quiet; /* waiter_count has become 0 */
    unsigned waiter_count;
    struct sx_list tasks; /* struct sx_task, for the progress thread, or for PMIx_Progress */
    bool external;        /* no thread: the program calls PMIx_Progress; constant while READY */
    bool progressing;     /* external: a call of PMIx_Progress runs callbacks, on `thread` */
    bool thread_running;  /* a thread runs the tasks */
    bool thread_stop;
    struct sx_spin event_spin, wait_spin; /* of the progress thread; of waiting threads */
    uint64_t thread_generation;           /* a thread of an older one ends */
    pthread_t thread;
    struct sx_door local; /* rung under lock, for the threads of this process */

    pthread_mutex_t data_lock;
    struct sx_puts puts;

    /* A library that has declared itself (PMIX_MODEL_LIBRARY_NAME) expects PMIX_ERR_EXISTS for a
     * key that is already published.  Set for good. */
    _Atomic bool says_exists;

    /* Scratch of the holder of lock. */
    _Alignas(8) uint8_t frame[SX_FRAME_MAX];
    _Alignas(8) uint8_t record[SX_RING_RECORD_MAX];
};

extern struct sx_process sx_process;

/* True between a successful PMIx_Init and the last PMIx_Finalize. */
static inline bool sx_process_ready(void)
{
    /* A-ready <- R-ready (attach.c): the identity and this process's view are there. */
    return atomic_load_explicit(&sx_process.state, memory_order_acquire) == SX_PROCESS_READY;
}

/* The link whose server is asked now.  Read it once and keep the result: the primary link may
 * change in between. */
static inline struct sx_link *sx_primary(void)
{
    /* acquire: the link is complete before it is stored here. */
    return atomic_load_explicit(&sx_process.primary, memory_order_acquire);
}

/* The status that a call returns when its arguments are wrong.  If the library is not initialised,
 * that error comes first. */
pmix_status_t sx_process_misused(void);

/* True when @proc is well formed: its namespace ends within the array. */
bool sx_proc_is_valid(const pmix_proc_t *proc);

/* True when @key is 1 to PMIX_MAX_KEYLEN bytes long; its length in *ret_len. */
bool sx_key_is_valid(const char *key, size_t *ret_len);

#endif
