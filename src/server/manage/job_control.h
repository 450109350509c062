/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_control.h - PMIx_Job_control: the parts of the server and of the host.
 *
 *     cleanup        this server (cleanup.h)
 *     a process set  this server (process_sets.h)
 *     the rest       the host's job_control entry, in one call, with the asker's identity
 *
 * A process may control those of its own user, and root all of them: other requests are refused
 * before anything is done.  The host checks the owners of processes on other nodes. */
#ifndef SX_SERVER_MANAGE_JOB_CONTROL_H
#define SX_SERVER_MANAGE_JOB_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call/role.h"

struct sx_client;
struct sx_frame;
struct sx_server;

/* Handle JOB_CONTROL.  Return: true, as this is not a breach of protocol. */
bool sx_control_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns);

/* Whether @key is not passed to the host. */
bool sx_control_is_ours(const char *key);

/* Do this server's part of a request of the host.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for
 * cleanup; as PMIx_server_define_process_set. */
pmix_status_t sx_control_by_host(const struct sx_role_ask *ask);

#endif
