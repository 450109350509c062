/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo_collect.h - what a host has said of a job, out of its store again, for servers of nodes
 * that have not heard of it. */
#ifndef SX_SERVER_JOB_JOBINFO_COLLECT_H
#define SX_SERVER_JOB_JOBINFO_COLLECT_H

#include "server/model/state.h"

/* What is true of the job on every node: the job's keys, its nodes and its applications, in the
 * forms that sx_jobinfo_store reads.  What follows for each process follows there from the maps.
 * Return: PMIX_SUCCESS, and an array for PMIX_INFO_FREE; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_jobinfo_collect(const struct sx_nspace *nspace, pmix_info_t **ret_info,
                                 size_t *ret_ninfo);

#endif
