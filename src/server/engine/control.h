/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* control.h - PMIx_Job_control: who does what of it.
 *
 *     cleanup        this server (cleanup.h)
 *     a process set  this server (pset.h)
 *     the rest       the host's job_control entry, in one call, with who asks
 *
 * A process may control those of its own user, root all of them: others are refused before anything
 * is done.  Whose the processes of other nodes are the host knows. */
#ifndef SX_SERVER_ENGINE_CONTROL_H
#define SX_SERVER_ENGINE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct sx_client;
struct sx_frame;
struct sx_server;

/* JOB_CONTROL.  Return: true, it is no breach. */
bool sx_control_on_job_control(struct sx_server *server, struct sx_client *client,
                               struct sx_frame *frame, uint64_t now_ns);

#endif
