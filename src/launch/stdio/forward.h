/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* forward.h - output that others pull: from the ranks' streams to the server.
 *
 *   server's thread: iof_pull --queue, wake--> launcher's: the list of pulls, and the answer
 *   launcher's: a stream that is pulled is read --> PMIx_server_IOF_deliver, and it is held
 *   server's thread: taken --queue, wake--> launcher's: the stream is read again
 *
 * So a slow reader slows the ranks whose output it pulls (back-pressure).  Waiting output is
 * bounded: one piece for each stream, SX_RUN_FORWARD_BYTES for all.  A stream that nobody pulls is
 * not delivered. */
#ifndef SX_LAUNCH_STDIO_FORWARD_H
#define SX_LAUNCH_STDIO_FORWARD_H

#include <pmix_server.h>
#include <stdbool.h>

#include "launch/job/job.h"
#include "launch/stdio/output.h"

#define SX_RUN_FORWARD_BYTES (32u << 20)

/* Each process has one of these.  Open it before the loop's first turn, and deinit it when the
 * server has ended. */
void sx_run_forward_open(const struct sx_run_jobs *jobs);
void sx_run_forward_deinit(void);

/* The mailbox has been woken (launch/job/mailbox.h): take what the server's thread has queued. */
void sx_run_forward_check(void);

/* The entry of the host's module. */
pmix_status_t sx_run_forward_pull(const pmix_proc_t procs[], size_t nprocs,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata);

/* @stream has begun: count the pulls that want it already.  @wanted: deliver it in any case. */
void sx_run_forward_begin(struct sx_run_stream *stream, bool wanted);

/* The taker of a stream's source. */
extern const struct sx_run_taker sx_run_forward_taker;

#endif
