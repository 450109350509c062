/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.h - the chapter on files that are removed when a process or its job ends.
 *
 *     cleanup.c           the paths that each client has registered, and the time of their removal
 *     cleanup_queue.c     one cleanup process for each user: the queue of what it has to remove
 *     cleanup_process.c   that process: it becomes the user, and removes
 *
 *     path: REGISTERED --its process, or the last of the job, is gone--> queued --> removed, or
 *           logged and left
 *
 * The chapter's own files share cleanup_queue.h. */
#ifndef SX_SERVER_CLEANUP_CLEANUP_H
#define SX_SERVER_CLEANUP_CLEANUP_H

#include "server/model/state.h"

/* Take the cleanup directives of @client's job control: all of them for all targets, or nothing.
 * The paths of a rank that is named are removed when that rank's process ends; those of another
 * job, when that job has no process here.  The caller's own are those of a call without targets,
 * and of one that names its whole job.  @client pays.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM;
 * PMIX_ERR_NOT_FOUND for a target that has ended or is not on this node, logged;
 * PMIX_ERR_NO_PERMISSIONS for another user's, root's call included, logged;
 * PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES for a path that a process of the job wants to keep;
 * PMIX_ERR_OUT_OF_RESOURCE for more than a client may have, logged. */
pmix_status_t sx_cleanup_take(struct sx_server *server, struct sx_client *client,
                              const pmix_proc_t targets[], size_t count, const pmix_info_t info[],
                              size_t ninfo);

/* The process is gone: remove its files.  Directories wait for the last client of the job, and
 * paths that were registered after the process had finalized wait for its exit.  Any file system
 * may hang, so nothing is touched here: see cleanup_queue.h. */
void sx_cleanup_client_gone(struct sx_server *server, struct sx_client *client);

/* Remove the client's directories, too, without waiting for the last client: this one is
 * removed. */
void sx_cleanup_client_removed(struct sx_server *server, struct sx_client *client);

/* Remove all that clients of the namespace have registered. */
void sx_cleanup_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* ---- the server begins and ends ------------------------------------------------------------- */

void sx_cleanup_queues_init(struct sx_cleanup_queues *brooms);

/* Remove all paths that were taken, for SX_CLEANUP_QUEUE_END_NS at most.  Then call @ended once,
 * maybe at once.  Paths not done by then are logged and left.  At this point no path is
 * registered. */
void sx_cleanup_queues_end(struct sx_server *server, void (*ended)(struct sx_server *server));

#endif
