/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo_collect.h - read the host's info about a job back from its store, for servers of nodes
 * that have not received it. */
#ifndef SX_SERVER_JOB_JOBINFO_COLLECT_H
#define SX_SERVER_JOB_JOBINFO_COLLECT_H

#include "server/model/state.h"

/* Collect the values that hold for the job on every node: the job's keys, its nodes and its
 * applications, in the forms that sx_jobinfo_store reads.  The receiving server derives the values
 * of each process from the maps.  Return: PMIX_SUCCESS, and an array for PMIX_INFO_FREE;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_jobinfo_collect(const struct sx_nspace *nspace, pmix_info_t **ret_info,
                                 size_t *ret_ninfo);

#endif
