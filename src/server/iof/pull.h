/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull.h - output on its way to one process that has asked for it: a queue, and a socket.
 *
 *     deliver --> output --put--> pull 1: queue --> socket --> the process that reads
 *                        \--put--> pull 2: ...
 *
 *     pull: OPEN --its process wants no more--> ENDING --all is sent--> gone
 *             \--its process has gone, or writes to the socket-----------^
 *
 *     what does not fit: HELD --its reader is too slow--> LOST
 *                        ^--it has had all that was queued--/
 *
 * The server waits for no reader.  Output for which a queue has no room is queued as well, but the
 * host's callback for it waits until there is room (back-pressure).  So a slow reader slows its
 * writers down, and memory is bounded by what is delivered without waiting.  The reader has to take
 * SX_PULL_PATIENCE_BYTES in each SX_PULL_PATIENCE_NS for which it holds its writers.  A reader that
 * takes less, or stops, does not block others: it loses the oldest output, and receives how much
 * was lost.  Loop thread. */
#ifndef SX_SERVER_IOF_PULL_H
#define SX_SERVER_IOF_PULL_H

#include "base/clock.h"
#include "server/iof/output.h"
#include "server/model/state.h"

#define SX_PULL_QUEUE_BYTES 262144u         /* queued in the server; the socket holds more */
#define SX_PULL_QUEUE_BYTES_MAX (16u << 20) /* for a reader that asks for more */

#define SX_PULL_PATIENCE_NS (10 * SX_NS_PER_SEC)
#define SX_PULL_PATIENCE_BYTES (40u << 10) /* two messages; half of what a slow line takes */

/* The output that is dropped when there is no room. */
enum sx_pull_drops { SX_PULL_DROPS_NOTHING, SX_PULL_DROPS_OLDEST, SX_PULL_DROPS_NEWEST };

struct sx_pull {
    struct sx_list link; /* its owner's */
    struct sx_client *client;
    pmix_proc_t *procs; /* malloc'ed, in the order of sx_proc_order, without duplicates */
    size_t proc_count;
    struct sx_pull_name *names; /* one for each process in the index */
    size_t name_count;
    uint64_t output_last; /* the number of the output that it was last found for */
    pmix_iof_channel_t channels;
    enum sx_pull_drops drops;
    size_t queue_max; /* bytes */
    /* while OPEN or ENDING */
    struct sx_poll socket; /* fd -1: the pull is in neither state */
    bool ending;
    struct sx_loop *loop;
    unsigned holds;           /* entries that are held */
    struct sx_timer patience; /* in the loop while entries are held */
    uint64_t hold_begin_ns;   /* start of the current hold */
    uint64_t held_ns;         /* length of earlier holds in this period */
    uint64_t took;            /* bytes that the reader took in this period, or since it was stuck */
    bool stuck;               /* it took too little, and what would be held is dropped */
    struct sx_list queue;     /* entries (pull.c); the first is being sent */
    size_t queue_bytes;
    uint64_t lost; /* bytes that were dropped */
    void (*ended)(struct sx_pull *pull);
    /* The socket has room for what is queued: the owner calls sx_pull_send_part, now or later.
     * NULL: it is sent at once. */
    void (*writable)(struct sx_pull *pull);
};

/* Prepare @pull, which is zeroed except for its client, processes and channels, to be opened. */
void sx_pull_init(struct sx_pull *pull);
/* Open the pull.  @ended is called once when there is nothing more to do, and may free it.  Return:
 * PMIX_SUCCESS, and the reader's end of the socket, which the caller owns;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_pull_open(struct sx_pull *pull, struct sx_loop *loop,
                           void (*ended)(struct sx_pull *pull), int *ret_fd);
/* Drop what is queued, and close the socket, without a callback. */
void sx_pull_deinit(struct sx_pull *pull);

/* Whether the pull matches @output, by name and channel. */
bool sx_pull_is_about(const struct sx_pull *pull, const struct sx_output *output);
/* Whether the pull takes more output. */
bool sx_pull_is_open(const struct sx_pull *pull);
/* Queue @output.  Nothing is sent before sx_pull_send. */
void sx_pull_put(struct sx_pull *pull, struct sx_output *output);
/* Send what the socket takes.  If that ends the pull, @ended is called on a later turn of the loop,
 * as the caller may be walking all pulls. */
void sx_pull_send(struct sx_pull *pull);
/* Send at most @max messages.  *ret_sent is their number.  Return: true when there are more and the
 * socket may have room, so that the caller has to call again.  False: when there is room, or at the
 * pull's end, a callback is called; the caller must not use @pull any more. */
bool sx_pull_send_part(struct sx_pull *pull, unsigned max, unsigned *ret_sent);
/* As sx_pull_send, while the server ends: send all that fits, with no other effect on the pull.
 * Return: whether to wait for its reader, which is not so for a reader that has stopped reading. */
bool sx_pull_flush(struct sx_pull *pull);
/* As sx_pull_send, but after this returns. */
void sx_pull_send_soon(struct sx_pull *pull);

/* ---- output that was kept: unclaimed.c ------------------------------------------------------- */

/* Whether the pull's process may have @output of @nspace.  NULL: the namespace is not registered,
 * and the output is its user's.  True if the pull has ended. */
bool sx_pull_may_have(struct sx_server *server, const struct sx_pull *pull,
                      const struct sx_nspace *nspace, const struct sx_output *output);
/* The host has answered for @pull: @has_agreed.  Give @pull the kept output that matches it.  Ends
 * that the host has repeated for it are dropped, even if it is not open.  Its client is charged. */
void sx_kept_give(struct sx_server *server, struct sx_pull *pull, bool has_agreed);

/* ---- the index -------------------------------------------------------------------------------
 *
 * An index from processes to the pulls of their output.
 *
 * An output is for the pulls that name its process, or all of its job.  They are found through one
 * table, hashed with a secret seed: no number of other pulls makes it slower.  Memory: that of the
 * pulls, an entry for each process that a pull names.  Loop thread. */

/* Add @pull to the index; its processes must not change.  Return: false when memory is out. */
bool sx_pull_index_add(struct sx_server *server, struct sx_pull *pull);
/* Return: how many bytes its processes take, with their entries in the index. */
size_t sx_pull_bytes(const struct sx_pull *pull);
/* Remove the pull from the index.  Safe for one that is not in it. */
void sx_pull_index_remove(struct sx_server *server, struct sx_pull *pull);

/* Call @fn once with each pull that matches @output by name and channel.  @fn must not end a
 * pull. */
void sx_pull_index_each(struct sx_server *server, struct sx_output *output,
                        void (*fn)(void *arg, struct sx_pull *pull, struct sx_output *output),
                        void *arg);

#endif
