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
 *     what is too much: HELD --its reader is too slow--> LOST
 *                        ^--it has had all that was queued--/
 *
 * The server waits for no reader.  Output for which a queue has no room is queued as well, but then
 * whoever delivers it is not told that it has been taken before there is room: so a slow reader
 * slows its writers down, and memory is bounded by what is delivered without waiting.  It has to
 * take SX_PULL_PATIENCE_BYTES in each SX_PULL_PATIENCE_NS for which it holds them.  One that takes
 * less, or stands still, does not stop others: then it loses what is oldest, and hears how much
 * that was.  Loop thread. */
#ifndef SX_SERVER_IOF_PULL_H
#define SX_SERVER_IOF_PULL_H

#include "base/clock.h"
#include "server/iof/output.h"
#include "server/model/state.h"

#define SX_PULL_QUEUE_BYTES 262144u /* that wait in the server; there are more in the socket */
#define SX_PULL_QUEUE_BYTES_MAX (16u << 20) /* for who asks for more */

#define SX_PULL_PATIENCE_NS (10 * SX_NS_PER_SEC)
#define SX_PULL_PATIENCE_BYTES (40u << 10) /* two messages; half of what a slow line takes */

/* What goes when there is no room. */
enum sx_pull_drops { SX_PULL_DROPS_NOTHING, SX_PULL_DROPS_OLDEST, SX_PULL_DROPS_NEWEST };

struct sx_pull {
    struct sx_list link; /* its owner's */
    struct sx_client *client;
    pmix_proc_t *procs; /* malloc'ed, in the order of sx_proc_order, each once */
    size_t proc_count;
    struct sx_pull_name *names; /* pull_index.h: as many as are in the index */
    size_t name_count;
    uint64_t output_last; /* that it was found for */
    pmix_iof_channel_t channels;
    enum sx_pull_drops drops;
    size_t queue_max; /* bytes */
    /* while OPEN or ENDING */
    struct sx_poll socket; /* fd -1: it is neither */
    bool ending;
    struct sx_loop *loop;
    unsigned holds;           /* entries that are held */
    struct sx_timer patience; /* added: there are some */
    uint64_t hold_begin_ns;   /* since then */
    uint64_t held_ns;         /* before that, of this period */
    uint64_t took;        /* bytes that the reader has taken in this period, or since it stuck */
    bool stuck;           /* that was too little, and what would be held is lost */
    struct sx_list queue; /* entries (pull.c), the first is being sent */
    size_t queue_bytes;
    uint64_t lost; /* bytes that were dropped */
    void (*ended)(struct sx_pull *pull);
    /* There is room in the socket for what is queued: its owner calls sx_pull_send_part, now or
     * later.  NULL: it is sent at once. */
    void (*writable)(struct sx_pull *pull);
};

/* Make @pull, which is zeroed but for whom and what it is about, ready to be opened. */
void sx_pull_init(struct sx_pull *pull);
/* Open it; @ended is told once that there is nothing more to do, and may free it.  Return:
 * PMIX_SUCCESS, and the reader's end of the socket, the caller's; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_pull_open(struct sx_pull *pull, struct sx_loop *loop,
                           void (*ended)(struct sx_pull *pull), int *ret_fd);
/* Drop what is queued, and the socket.  Nobody is told. */
void sx_pull_deinit(struct sx_pull *pull);

/* Whether it is about @output, by name and channel. */
bool sx_pull_is_about(const struct sx_pull *pull, const struct sx_output *output);
/* Whether it takes more. */
bool sx_pull_is_open(const struct sx_pull *pull);
/* Queue @output.  Nothing is sent before sx_pull_send. */
void sx_pull_put(struct sx_pull *pull, struct sx_output *output);
/* Send what the socket takes.  When that is the end of it, @ended is told on a later turn of the
 * loop: who sends may be going through all pulls. */
void sx_pull_send(struct sx_pull *pull);
/* Send @max messages at the most.  *ret_sent says how many.  Return: true when there are more for
 * which there may be room, and nothing waits for that; else @pull is called when there is room, or
 * has ended, and is not looked at any more. */
bool sx_pull_send_part(struct sx_pull *pull, unsigned max, unsigned *ret_sent);
/* The same as sx_pull_send while the server ends: as much as there is, and nothing else happens to
 * the pull.
 * Return: whether its reader is to be waited for, which is not so for one that stands still. */
bool sx_pull_flush(struct sx_pull *pull);
/* The same as sx_pull_send, but not before this returns. */
void sx_pull_send_soon(struct sx_pull *pull);

#endif
