/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_control.h - PMIx_Job_control: who does what of it.
 *
 *     cleanup        this server (cleanup.h)
 *     a process set  this server (process_sets.h)
 *     the rest       the host's job_control entry, in one call, with who asks
 *
 * A process may control those of its own user, root all of them: others are refused before anything
 * is done.  Whose the processes of other nodes are the host knows. */
#ifndef SX_SERVER_MANAGE_JOB_CONTROL_H
#define SX_SERVER_MANAGE_JOB_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call/role.h"

struct sx_client;
struct sx_frame;
struct sx_server;

/* JOB_CONTROL.  Return: true, it is no breach. */
bool sx_control_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns);

/* Whether the host is not told of @key. */
bool sx_control_is_ours(const char *key);

/* What a host asks for: do what is this server's.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for
 * cleanup; as PMIx_server_define_process_set. */
pmix_status_t sx_control_by_host(const struct sx_role_ask *ask);

#endif
