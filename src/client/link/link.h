/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* link.h - this process as a client: its name, its links to servers, its pending operations.
 *
 *     process: NONE --PMIx_Init--> READY --last PMIx_Finalize--> ENDING --> NONE
 *     link:    SINGLETON --PMIx_Init names a server--> LIVE --> LOST, DETACHED or LEFT
 *
 * While READY the process has a link to a server, or is a singleton.  A tool may have several
 * links: its requests are sent to the primary server, events arrive from all.
 *
 * There is one state per process, because the ABI has no handle.
 *
 * The other headers of this folder: op.h has operations and requests, wait.h has waiting, waking
 * and the progress thread.
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
#ifndef SX_CLIENT_LINK_LINK_H
#define SX_CLIENT_LINK_LINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <pmix.h>
#include <pmix_common.h>

#include "base/call/handlers.h"
#include "base/list.h"
#include "base/spin.h"
#include "client/link/op.h"
#include "control/message.h"
#include "ring/bell.h"
#include "ring/board.h"
#include "ring/lane.h"
#include "ring/record.h"
#include "ring/ring.h"

/* ---- the window ------------------------------------------------------------------------------ */

/* Memory of the server, for requests that do not fit in a frame.
 *
 *     NONE --WINDOW_GET--> FREE --a request fills it--> BUSY --answer--> FREE
 *                                                        \--no answer in time--> NONE
 *
 * A process has one window.  One request is in it at a time, and others wait for it.  A body is
 * written in pieces of the window's size.  The server answers each piece, and takes the last one as
 * the request.  If an answer does not arrive, the window is given up, because the server may still
 * read its content. */

/* Under the process's lock.  The bytes behind fd, and their description here, belong to the request
 * that has the window. */
struct sx_window {
    int fd; /* -1: NONE */
    bool busy;
    uint8_t *map; /* NULL: not mapped */
    size_t map_size;
    size_t written; /* bytes written from the beginning: their memory exists */
};
#define SX_WINDOW_NULL ((struct sx_window){ .fd = -1 })

/* The rest of a body to be sent. */
struct sx_window_rest {
    const struct iovec *iov;
    size_t off; /* in *iov */
    size_t size;
};

/* Check whether @size bytes may be written.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE
 * (logged) when they are over the limit of file size. */
pmix_status_t sx_window_judge(size_t size);
/* Write the next @size bytes of @rest.  Return: PMIX_SUCCESS; as errno says. */
pmix_status_t sx_window_fill(struct sx_window *window, struct sx_window_rest *rest, size_t size);

/* @arg is the window.  Return: false while another request has it. */
bool sx_window_take_locked(void *arg);
void sx_window_free_locked(struct sx_window *window);
void sx_window_forget_locked(struct sx_window *window);
void sx_window_deinit(struct sx_window *window);

/* ---- a link ---------------------------------------------------------------------------------- */

/* This process's state for one server.
 *
 *     SINGLETON                        without a server: own data only
 *       \--PMIx_Init names a server--> LIVE
 *     LIVE --server dies or drops it--> LOST       reads go on, requests fail
 *       |-----fork, in the child--> DETACHED       reads go on, requests fail
 *       \-----PMIx_tool_disconnect--> LEFT         the same
 *
 * A link never becomes LIVE again while the process is READY. */

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
    uint64_t cursor_sent;  /* the server was sent this record as the last one read */
    uint64_t handled_sent; /* the same: the last one whose handlers were called */
    bool unreached_waits;  /* an item that reports the unreached is in the queue */
    uint64_t unreached;    /* own events that the server has counted as lost so far */
    uint64_t unreached_reported;
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
    bool committed;                        /* a commit was sent; under lane_lock */
    _Atomic uint32_t values_lost_reported; /* of the lane's count: reported by a call */

    _Atomic uint32_t published; /* enum sx_published_use */

    /* Under the process's lock. */
    struct sx_ring_cursor cursor;
    uint32_t classes; /* of ring records that are read besides the ends of collectives */
    struct sx_link_events events;
    uint32_t bell_seen;      /* our slot's bell when the socket was last emptied */
    struct sx_list requests; /* struct sx_op, by id */
    struct sx_window window;
    struct sx_list collectives; /* struct sx_op, by id */
    unsigned collective_count, collectives_max, collectives_refused;
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

/* The connection has ended: end all pending operations, and later ones too.  @why: the reason of
 * this process; NULL: the server has ended it, or itself.  Under lock. */
void sx_link_lost_locked(struct sx_link *link, const char *why);
/* The same without a log line: this process leaves.  Return: false when it was not LIVE. */
bool sx_link_end_locked(struct sx_link *link);

/* ---- the process ----------------------------------------------------------------------------- */

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
    bool is_tool;     /* by PMIx_tool_init; constant while READY */
    bool is_gateway;  /* of a rank with another library; constant while READY */
    pid_t stands_for; /* ... and that rank's process; 0: not known, or no gateway */

    pthread_mutex_t view_lock;

    pthread_mutex_t lock;
    pthread_cond_t quiet; /* waiter_count has become 0 */
    unsigned waiter_count;
    struct sx_list tasks; /* struct sx_task, for the progress thread, or for PMIx_Progress */
    bool external;        /* no thread: the program calls PMIx_Progress; constant while READY */
    bool progressing;     /* external: a call of PMIx_Progress runs callbacks, on `thread` */
    unsigned
        progress_watchers; /* external: threads that wait at `local` for the end of that call */
    bool thread_running;   /* a thread runs the tasks */
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

/* ---- receivers ------------------------------------------------------------------------------- */

/* The receivers of what arrives, apart from the answers to calls.
 *
 * The pump (link.c) reads the ring and the socket, and calls the rows of this table with
 * what it finds.  Each function may be NULL.  All of them, except a task's run, are called under
 * the process's lock. */

struct sx_link;
struct sx_task;

struct sx_intake {
    void (*look)(void);    /* a thread polls for news */
    uint64_t (*due)(void); /* when to poll again without news */
    uint32_t record_kind;  /* of the ring, 0: none ... */
    void (*ring_begin)(struct sx_link *link);
    void (*record)(struct sx_link *link, const void *body, size_t size);
    void (*ring_lapped)(struct sx_link *link); /* ... some were overwritten before they were read */
    void (*ring_end)(struct sx_link *link);    /* ... it has been read to its end */
    /* This many events of this process never reached any receiver. */
    void (*server_lost)(struct sx_link *link, uint64_t count);
    /* A message of the server cannot be read. */
    void (*garbled)(struct sx_link *link, const char *what);
    void (*link_lost)(struct sx_link *link);
    struct sx_task *(*take)(void);  /* the next thing to run, behind the tasks that are queued */
    bool (*waits)(void);            /* there is one */
    uint32_t (*poll_classes)(void); /* of the ring, that a sleeper in poll(2) is to be woken for */
    bool (*poll_waits)(void);       /* there is something that such a sleeper has not read */
};

/* Call @stage of all rows of the process; the rest are its arguments. */
#define SX_INTAKES_NOTIFY(stage, ...)                                                           \
    do {                                                                                        \
        for (const struct sx_intake *const *row_ = sx_process.intakes; *row_ != NULL; row_++) { \
            if ((*row_)->stage != NULL) {                                                       \
                (*row_)->stage(__VA_ARGS__);                                                    \
            }                                                                                   \
        }                                                                                       \
    } while (0)

#endif
