/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sink.h - where the server writes what processes log: its standard streams and the system log.
 *
 *     job: QUEUED --the first--> BEGUN --written, or it cannot be--> done, once
 *
 * The server waits for no reader: text that an outlet does not take now is written when there is
 * room.  The logging client waits instead, and its quota (SX_PENDING_LOG) bounds the queue.  One
 * job is written after the other, whole lines at a time.  Loop thread. */
#ifndef SX_SERVER_IOF_SINK_H
#define SX_SERVER_IOF_SINK_H

#include "server/model/state.h"

struct sx_sink_job {
    struct sx_list link; /* outlet.jobs */
    /* Append the text to be written; it is borrowed until `done`. */
    void (*begin)(struct sx_sink_job *job, struct sx_log_text *ret);
    /* PMIX_SUCCESS: the kernel has all of it.  Not called inside sx_sink_put. */
    void (*done)(struct sx_sink_job *job, pmix_status_t status);
};

void sx_sinks_init(struct sx_server *server);

/* Whether the outlet accepts texts.  True for a stream, even if nothing reads it. */
bool sx_sink_can(struct sx_server *server, enum sx_sink_number number);

/* Queue @job. */
void sx_sink_put(struct sx_server *server, enum sx_sink_number number, struct sx_sink_job *job);
/* Write what is queued, as far as possible now. */
void sx_sink_go(struct sx_server *server, enum sx_sink_number number);

/* Write the rest, for SX_SINK_END_NS at most.  The jobs that remain end without success. */
#define SX_SINK_END_NS (2 * SX_NS_PER_SEC)
void sx_sinks_end(struct sx_server *server);

#endif
