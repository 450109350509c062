/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_log.h - events of a job that its spawn wants logged.  They go to the channels that the spawn
 * names, as PMIx_Log of the job would, else to the file of --log, else to stderr. */
#ifndef SX_LAUNCH_STDIO_JOB_LOG_H
#define SX_LAUNCH_STDIO_JOB_LOG_H

#include "launch/job/job.h"

/* Log the event @code of @job, or of one of its ranks (PMIX_EVENT_PROC_TERMINATED), if the spawn
 * wants it; any job. */
void sx_run_note(const struct sx_run_job *job, pmix_status_t code, pmix_rank_t rank);

#endif
