/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* forkexec.h - PMIx_Spawn of a tool that has no server: this process starts the job here. */
#ifndef SX_CLIENT_MANAGE_FORKEXEC_H
#define SX_CLIENT_MANAGE_FORKEXEC_H

#include <pmix_common.h>

/* Start all of @apps as one job, with their full environment; they were checked as any spawn's
 * (manage/spawn.c).  If this process is a server as well, the processes are its clients.  Its end,
 * and that of each process, is an event for this process.  Return: PMIX_SUCCESS, and all are
 * started; PMIX_ERR_JOB_EXE_NOT_FOUND, PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
 * PMIX_ERR_JOB_WDIR_NOT_FOUND, PMIX_ERR_JOB_SYS_OP_FAILED, PMIX_ERR_OUT_OF_RESOURCE,
 * PMIX_ERR_BAD_PARAM, PMIX_ERR_NOT_SUPPORTED (of a directive), each with a line, and then no
 * process of the job lives. */
pmix_status_t sx_forkexec_spawn(const pmix_info_t job_info[], size_t ninfo, const pmix_app_t *apps,
                                size_t napps, pmix_nspace_t ret_nspace);

/* End running jobs, and wait for them.  No job is started any more. */
void sx_forkexec_end(void);

/* In the child of a fork: the jobs are the parent's. */
void sx_forkexec_forked(void);

#endif
