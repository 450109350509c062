/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_queue.h - one cleanup process for each user whose files are to be removed.
 *
 *   IDLE --first path to remove--> BUSY --nothing more for a while, or the server ends-->
 *        ENDING --its end--> IDLE, or gone when no path of its user is registered
 *   BUSY --no step from one look to the next--> STALLED, and another process takes the rest
 *
 * A file system that hangs keeps its own paths and nothing else, as long as no more than
 * SX_CLEANUP_QUEUE_STALLED_MAX of them hang for one user.  The queue is bounded
 * (SX_CLEANUP_QUEUE_QUEUE_MAX bytes a user), and at the server's end the processes have
 * SX_CLEANUP_QUEUE_END_NS. The process has a copy-on-write image of the server's private memory
 * from the time of its start.
 *
 * This header is for the files of this chapter. */
#ifndef SX_SERVER_CLEANUP_CLEANUP_QUEUE_H
#define SX_SERVER_CLEANUP_CLEANUP_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "control/loop.h"
#include "server/model/state.h"

#define SX_CLEANUP_QUEUE_QUEUE_MAX (16u << 20) /* bytes queued for one user */
#define SX_CLEANUP_QUEUE_END_NS UINT64_C(2000000000)
#define SX_CLEANUP_QUEUE_LINGER_NS \
    UINT64_C(10000000000) /* long, so that short-lived ranks start few processes */
#define SX_CLEANUP_QUEUE_RETRY_NS UINT64_C(1000000000) /* between processes that are killed */
#define SX_CLEANUP_QUEUE_STALL_NS UINT64_C(250000000)  /* between two looks at a process */
#define SX_CLEANUP_QUEUE_STALLED_MAX 4u                /* processes of one user */

/* ---- one removal -----------------------------------------------------------------------------
 *
 * Remove what one path names, and report what had to stay.
 *
 * This runs in a process of its own that has the rights of the user who asked.
 * It is safe in the child of a process with threads: nothing is allocated, no lock is taken. */

#define SX_CLEANUP_UNLINK_DEPTH_MAX 32u /* directories inside directories; one descriptor each */
#define SX_CLEANUP_UNLINK_TEXT_MAX 256u

#define SX_CLEANUP_UNLINK_DIR 0x1u       /* a directory with the files in it; else a file */
#define SX_CLEANUP_UNLINK_RECURSE 0x2u   /* and its subdirectories */
#define SX_CLEANUP_UNLINK_LEAVE_TOP 0x4u /* keep the directory itself */
#define SX_CLEANUP_UNLINK_EMPTY 0x8u     /* only directories that are or become empty */

/* One request, as it is sent to that process. */
struct sx_cleanup_unlink {
    uint32_t size_bytes; /* of all of it, a multiple of 8 */
    uint32_t flags;      /* SX_CLEANUP_UNLINK_* */
    /* Absolute, with its NUL.  Then names to keep may follow, with a NUL each.  They are paths from
     * the directory on, which begin with a slash, or the name of any entry.  One more NUL, or the
     * end, terminates them. */
    char path[];
};

/* The number of paths that stay, and the reason for the first of them. */
struct sx_cleanup_unlink_report {
    uint64_t left_count;
    int32_t error;                         /* errno, as sx_cleanup_unlink_reason reads it */
    char path[SX_CLEANUP_UNLINK_TEXT_MAX]; /* path of the request, cut off; printable */
};

/* Remove what @sweep names as far as it belongs to @uid.  Links are removed, never followed, also
 * on the way to the path.  No file system that is mounted inside a directory is entered.  A missing
 * path is not a failure.  Adds to @report. */
void sx_cleanup_unlink_do(const struct sx_cleanup_unlink *sweep, uid_t uid,
                          struct sx_cleanup_unlink_report *report);

/* Count @sweep as left because of @error. */
void sx_cleanup_unlink_leave(const struct sx_cleanup_unlink *sweep, int error,
                             struct sx_cleanup_unlink_report *report);

/* The folder that probably hangs when the removal of @path does, by the mounts of this process:
 * where the file system of @path begins; or @path itself, where another one is mounted below it.
 * No file system but /proc is asked.  Return: malloc'ed; NULL when memory is out. */
char *sx_cleanup_unlink_realm(const char *path);

/* Whether @path is @folder, or below it. */
bool sx_cleanup_unlink_is_below(const char *path, const char *folder);

/* Return: the meaning of @error here, for a message. */
const char *sx_cleanup_unlink_reason(int error);

/* ---- the queue ------------------------------------------------------------------------------ */

/* A path that a client has registered: in a list of its owner until it is removed or freed. */
struct sx_cleanup_queue;
struct sx_cleanup_queue_path {
    struct sx_list link;
    struct sx_list given; /* client.cleanups_given of the process that pays for it; empty: its owner
                           * does, or that process has ended */
    struct sx_cleanup_queue *broom;
    gid_t gid;     /* whose rights the removal has */
    bool is_given; /* another process has registered it for its owner ... */
    bool is_jobs;  /* ... for the whole job: removed behind the last client of it ... */
    bool is_late;  /* ... after its owner had finalized: removed when its owner's process ends */
    size_t len;
    struct sx_cleanup_unlink sweep; /* last: the path follows */
};

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

/* ---- the process -----------------------------------------------------------------------------
 *
 * The process that removes files for one user.
 *
 * This is a process and not a thread for two reasons.  When the host calls seteuid, the C library
 * changes the user and groups of every thread.  And the host would wait in that call for a thread
 * that hangs in a file system.  The process's end sends no signal, so wait(2) returns it only with
 * __WCLONE or __WALL.  Its only descriptor is one socket, and it ends when that is closed.
 *
 *   server -> process   packets of struct sx_cleanup_unlink, each of at most
 *                       SX_CLEANUP_UNLINK_PACKET_MAX bytes
 *   process -> server   struct sx_cleanup_unlink_report, where something had to stay */

#define SX_CLEANUP_UNLINK_PACKET_MAX \
    16384u /* the longest path, with all that a job wants to keep */

/* In memory shared by the server and one cleanup process. */
#define SX_CLEANUP_PROCESS_REVOKED (UINT64_C(1) << 63)
struct sx_cleanup_process_done {
    _Atomic uint64_t begun; /* struct sx_cleanup_unlink; with REVOKED: it begins no further one */
    _Atomic uint64_t count; /* of those that are done */
    _Atomic uint64_t steps; /* entries of directories among them; only that it changes matters */
};

/* Start it, with @done, which the caller owns and has zeroed.  Return: its process id and the
 * server's end of the socket, close-on-exec; -1 and errno.  Cost: as fork, 0.1 ms and 30 us a MiB
 * of private memory. */
pid_t sx_cleanup_process_start(uid_t uid, gid_t gid, struct sx_cleanup_process_done *done,
                               int *ret_fd);

#endif
