/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo.h - what a host says of a job, written into its store so that no client computes. */
#ifndef SX_SERVER_JOB_JOBINFO_H
#define SX_SERVER_JOB_JOBINFO_H

#include "server/model/state.h"

/* Store all of @info and what follows from it (derived_keys.h).  What the host gave itself is kept
 * as given, type included.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with a line that names the
 * key; what the store says. */
pmix_status_t sx_jobinfo_store(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo);

enum sx_jobinfo_way {
    SX_JOBINFO_GIVE,   /* store, even over another value */
    SX_JOBINFO_FILL,   /* store where nothing is */
    SX_JOBINFO_REMOVE, /* take away what is equal */
};

/* The same forms into or out of a store that has its data, without deriving anything. */
pmix_status_t sx_jobinfo_apply(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo, enum sx_jobinfo_way way);

/* Whether @key says, inside an array, which node, application, session or process that is about. */
bool sx_jobinfo_names_row(const char *key);

/* Refuse what is required and no attribute: nobody could act upon it; and a key that is computed
 * with and has another type than it must have, at any depth.  Any thread.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_TYPE_MISMATCH and PMIX_ERR_BAD_PARAM (a key without an end) with
 * a line that names it. */
pmix_status_t sx_jobinfo_judge(const pmix_info_t info[], size_t ninfo);

/* The number of processes that @info announces, flat or in the array of the job; 0: it does not. */
uint32_t sx_jobinfo_job_size(const pmix_info_t info[], size_t ninfo);
/* The session that @info names, flat or in an array; SX_SESSION_NONE: it does not. */
uint64_t sx_jobinfo_session(const pmix_info_t info[], size_t ninfo);

#endif
