/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sink.h - where the server writes what processes log: its standard streams and the system log.
 *
 *     job: QUEUED --the first--> BEGUN --written, or nobody takes it--> done, once
 *
 * The server waits for no reader: what an outlet does not take now is written when there is room.
 * Who waits is the one who logs, and the quota of its client (SX_PENDING_LOG) bounds the queue.
 * One job is written after the other, whole lines at a time.  Loop thread. */
#ifndef SX_SERVER_IOF_SINK_H
#define SX_SERVER_IOF_SINK_H

#include "server/model/state.h"

struct sx_outlet_job {
    struct sx_list link; /* outlet.jobs */
    /* Say what is to be written; it is borrowed until `done`. */
    void (*begin)(struct sx_outlet_job *job, struct sx_log_text *ret);
    /* PMIX_SUCCESS: the kernel has all of it.  Not inside sx_outlet_put. */
    void (*done)(struct sx_outlet_job *job, pmix_status_t status);
};

void sx_outlets_init(struct sx_server *server);

/* Is there somebody who takes it?  Always at a stream, whoever reads it. */
bool sx_outlet_can(struct sx_server *server, enum sx_outlet_number number);

/* Queue @job. */
void sx_outlet_put(struct sx_server *server, enum sx_outlet_number number,
                   struct sx_outlet_job *job);
/* Write what is queued, as far as it goes now. */
void sx_outlet_go(struct sx_server *server, enum sx_outlet_number number);

/* Write the rest, for SX_OUTLET_END_NS at most; what is left is done without success. */
#define SX_OUTLET_END_NS (2 * SX_NS_PER_SEC)
void sx_outlets_end(struct sx_server *server);

#endif
