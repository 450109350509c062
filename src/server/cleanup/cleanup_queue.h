/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_queue.h - one cleanup process for each user whose files are to be removed.
 *
 *   IDLE --first path to remove--> BUSY --nothing more for a while, or the server ends-->
 *        ENDING --its end--> IDLE, or gone when no path of its user is registered
 *
 * A file system that hangs delays its user's other removals and nothing else.  The queue is bounded
 * (SX_CLEANUP_QUEUE_QUEUE_MAX bytes a user), and at the server's end the processes have
 * SX_CLEANUP_QUEUE_END_NS. The process has a copy-on-write image of the server's private memory
 * from the time of its start. */
#ifndef SX_SERVER_CLEANUP_CLEANUP_QUEUE_H
#define SX_SERVER_CLEANUP_CLEANUP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "control/loop.h"
#include "server/cleanup/cleanup_unlink.h"
#include "server/model/state.h"

#define SX_CLEANUP_QUEUE_QUEUE_MAX (16u << 20) /* bytes queued for one user */
#define SX_CLEANUP_QUEUE_END_NS UINT64_C(2000000000)
#define SX_CLEANUP_QUEUE_LINGER_NS \
    UINT64_C(10000000000) /* long, so that short-lived ranks start few processes */
#define SX_CLEANUP_QUEUE_RETRY_NS UINT64_C(1000000000) /* between processes that are killed */

/* A path that a client has registered: in a list of its owner until it is removed or freed. */
struct sx_cleanup_queue;
struct sx_cleanup_queue_path {
    struct sx_list link;
    struct sx_cleanup_queue *broom;
    size_t len;
    struct sx_cleanup_unlink sweep; /* last: the path follows */
};

void sx_cleanup_queues_init(struct sx_cleanup_queues *brooms);

/* Return: the path for the cleanup process of that user, in no list; NULL when memory is out.
 * @flags: SX_CLEANUP_UNLINK_*. */
struct sx_cleanup_queue_path *sx_cleanup_queue_path_new(struct sx_server *server, uid_t uid,
                                                        gid_t gid, const char *path, size_t len,
                                                        uint32_t flags);
/* Free the path without removing it.  Return: NULL, always. */
struct sx_cleanup_queue_path *sx_cleanup_queue_path_free(struct sx_cleanup_queue_path *path);

/* Take @path, which must be in no list, for removal.  sx_cleanup_queues_go sends all that was
 * taken. */
void sx_cleanup_queue_sweep(struct sx_cleanup_queue_path *path);
void sx_cleanup_queues_go(struct sx_server *server);

/* Remove all paths that were taken, for SX_CLEANUP_QUEUE_END_NS at most.  Then call @ended once,
 * maybe at once.  Paths not done by then are logged and left.  At this point no path is
 * registered. */
void sx_cleanup_queues_end(struct sx_server *server, void (*ended)(struct sx_server *server));

#endif
