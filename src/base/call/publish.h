/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.h - the directives of PMIx_Publish and PMIx_Lookup, read in one way by client and
 * server. */
#ifndef SX_BASE_CALL_PUBLISH_H
#define SX_BASE_CALL_PUBLISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call/directive_tables.h"

#define SX_SESSION_UNKNOWN UINT64_MAX    /* not known yet */
#define SX_SESSION_NONE (UINT64_MAX - 1) /* the host has not named one */

/* A process that publishes or looks. */
struct sx_publish_who {
    pmix_proc_t proc;
    uint64_t session; /* PMIX_SESSION_ID, or SX_SESSION_* */
};

/* Whether @range, as @who means it, holds @other.  @targets are those of a custom one. */
bool sx_publish_range_holds(pmix_data_range_t range, const struct sx_some_procs *targets,
                            const struct sx_publish_who *who, const struct sx_publish_who *other);

/* Whether an info of PMIx_Publish with this key is data: keys that the Standard reserves are
 * directives. */
bool sx_publish_is_data(const char *key);

#define SX_PUBLISH_VALUES_MAX 1024u /* in one call; as many as one lookup may name */

/* Read the directives among @info.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM without data to
 * publish, for a custom range without targets, or as sx_directives_read; PMIX_ERR_NOT_SUPPORTED as
 * there; PMIX_ERR_OUT_OF_RESOURCE (logged) for more than SX_PUBLISH_VALUES_MAX values. */
pmix_status_t sx_publish_read(const pmix_info_t info[], size_t ninfo,
                              struct sx_publish_options *ret);
/* The same for a lookup of @key_count keys, which waits until *ret_wanted of them are found; 0: it
 * does not wait.  An invalid number of a range is taken for the session's, and stored in
 * ret->range_unknown. */
pmix_status_t sx_lookup_read(const pmix_info_t info[], size_t ninfo, size_t key_count,
                             struct sx_lookup_options *ret, size_t *ret_wanted);
/* Replace each such number in a lookup's @info, before a host gets it. */
void sx_lookup_range_mend(pmix_info_t info[], size_t ninfo);

pmix_status_t sx_unpublish_read(const pmix_info_t info[], size_t ninfo,
                                struct sx_unpublish_options *ret);

#endif
