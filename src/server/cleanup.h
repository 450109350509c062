/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.h - files that a client asked to have removed when it is gone. */
#ifndef SX_SERVER_CLEANUP_H
#define SX_SERVER_CLEANUP_H

#include "server/server.h"

#define SX_CLEANUP_MAX 256u /* registrations a client may make */

/* Job control: the cleanup directives are taken, others are refused when marked required. */
bool sx_cleanup_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns);

/* The process is gone: remove its files.  Directories wait for the last client of the job. */
void sx_cleanup_client_gone(struct sx_client *client);

/* Remove all that @cleanups name and empty the list. */
void sx_cleanup_run(struct sx_list *cleanups);

#endif
