/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.h - files that a client wants removed when it is gone. */
#ifndef SX_SERVER_CLEANUP_CLEANUP_H
#define SX_SERVER_CLEANUP_CLEANUP_H

#include "server/model/state.h"

/* Take the cleanup directives of a job control: all of them, or nothing.  They apply to the caller
 * or its job, no matter which processes the call names.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM;
 * PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES for a path that a process of the job wants to keep;
 * PMIX_ERR_OUT_OF_RESOURCE for more than a client may have, logged. */
pmix_status_t sx_cleanup_take(struct sx_server *server, struct sx_client *client,
                              const pmix_info_t info[], size_t ninfo);

/* The process is gone: remove its files.  Directories wait for the last client of the job.  Any
 * file system may hang, so nothing is touched here: see cleanup_queue.h. */
void sx_cleanup_client_gone(struct sx_server *server, struct sx_client *client);

/* Remove the client's directories, too, without waiting for the last client: this one is
 * removed. */
void sx_cleanup_client_removed(struct sx_server *server, struct sx_client *client);

/* Remove all that clients of the namespace have registered. */
void sx_cleanup_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

#endif
