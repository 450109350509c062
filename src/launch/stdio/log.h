/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.h - PMIx_Log of ranks, and the events of jobs that a spawn wants logged: to the launcher's
 * streams, or as records into the file of --log.
 *
 *   library's thread: call --> a part for each info --> outlet's queue
 *   launcher's thread: a piece of the oldest part, while the sink takes some --> all parts: answer
 *
 * An outlet is one more stream of its sink, and pauses with the others.  The library bounds the
 * calls that a rank may have pending, and owns their data until they are answered. */
#ifndef SX_LAUNCH_STDIO_LOG_H
#define SX_LAUNCH_STDIO_LOG_H

#include <pmix_server.h>
#include <stdbool.h>

#include "launch/ask/options.h"
#include "launch/job/job.h"
#include "launch/job/loop.h"

struct sx_run_state;

/* Open the file that @options name.  Return: false with one line in @message. */
bool sx_run_log_init(const struct sx_run_options *options, char message[SX_RUN_MESSAGE_MAX]);
void sx_run_log_deinit(void);

/* The entry of the host's module; each process has one of these. */
void sx_run_log(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                void *cbdata);

/* Call it while @run has its sinks.  Return: 0 or errno. */
int sx_run_log_open(struct sx_run_state *run);
void sx_run_log_close(void);
/* Whether some part has not been written. */
bool sx_run_log_waits(void);

/* Answer the remaining calls.  They are not written any more, and later calls neither. */
void sx_run_log_end(void);

/* ---- job log --------------------------------------------------------------------------------- */

/* Events of a job that its spawn wants logged.  They go to the channels that the spawn
 * names, as PMIx_Log of the job would, else to the file of --log, else to stderr. */

/* Log the event @code of @job, or of one of its ranks (PMIX_EVENT_PROC_TERMINATED), if the spawn
 * wants it; any job. */
void sx_run_note(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank);

#endif
