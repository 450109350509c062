/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo.h - the host's info about a job, written into the job's store so that no client computes
 * it. */
#ifndef SX_SERVER_JOB_JOBINFO_H
#define SX_SERVER_JOB_JOBINFO_H

#include "server/model/state.h"

/* Store all of @info and the values derived from it (derived_keys.h).  Values of the host are kept
 * as given, with their type.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with a line that names the
 * key; the error of the store. */
pmix_status_t sx_jobinfo_store(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo);

enum sx_jobinfo_way {
    SX_JOBINFO_GIVE,   /* store, even over another value */
    SX_JOBINFO_FILL,   /* store in empty cells only */
    SX_JOBINFO_REMOVE, /* remove equal values */
};

/* Apply the same forms to a store that has its data, or remove them, without deriving any value. */
pmix_status_t sx_jobinfo_apply(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo, enum sx_jobinfo_way way);

/* Whether @key identifies, inside an array, the node, application, session or process of the
 * array. */
bool sx_jobinfo_names_row(const char *key);

/* Refuse a required key that is not an attribute, as no process could act upon it.  Also refuse, at
 * any depth, a key that is used in computations and has a wrong type.  Any thread.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_TYPE_MISMATCH and PMIX_ERR_BAD_PARAM (a key
 * without an end) with a line that names it. */
pmix_status_t sx_jobinfo_judge(const pmix_info_t info[], size_t ninfo);

/* The number of processes that @info announces, flat or in the array of the job; 0: none is
 * given. */
uint32_t sx_jobinfo_job_size(const pmix_info_t info[], size_t ninfo);
/* The session that @info names, flat or in an array; SX_SESSION_NONE: none is given. */
uint64_t sx_jobinfo_session(const pmix_info_t info[], size_t ninfo);

#endif
