/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wanted.h - the question of a Get, and the places where its value may lie: one policy for clients
 * and hosts.
 *
 *     rank given        that process's cell, then for reserved keys as WILDCARD
 *     WILDCARD          the job's cell; then for reserved keys our node's, app's, session's, for
 *                       others any process's
 *     UNDEF (or NULL)   the job's, our own, any process's, then as WILDCARD
 *     INVALID           nothing: it asks for PMIX_RANK or PMIX_PROCID of who asks
 *     node/app/session  the row that was named, else our own; what our own row does not say the
 *                       job's cell may, as hosts give keys of all realms for the job
 *
 * A node, an app or a session that a reserved key names without its realm has to exist, and its row
 * comes first.
 *
 * Everything here reads mapped memory only, takes no lock and keeps no state. */
#ifndef SX_SHMEM_WANTED_H
#define SX_SHMEM_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/call/directive_tables.h"
#include "shmem/nspace_read.h"
#include "shmem/qualified.h"

/* The most sessions in one namespace's store.  A session's row is not its id, which may be any
 * number.  The job's own session has row 0, and PMIX_SESSION_ID in each row is the session's id. */
#define SX_SESSION_COUNT_MAX 64u

/* The arguments of a Get.  Strings are borrowed from the caller. */
struct sx_wanted {
    const char *key; /* NULL: everything of the place */
    size_t key_len;
    uint32_t rank; /* INVALID: the asker requests its own */
    /* Zero where nothing is said. */
    bool reserved;       /* the key is one of the library's: complete at connect */
    bool names_row;      /* a node, an app or a session is named, no realm */
    enum sx_realm realm; /* JOB: the job and its processes; QUALIFIED likewise, and the key is the
                          * name of what was asked for */
    struct sx_get_options options;
    /* Set if the key is this name. */
    char name[SX_QUALIFIED_NAME_LEN + 1];
};

/* Judge and read; @function is a Get's.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM;
 * PMIX_ERR_NOT_SUPPORTED for an unknown directive that is required, or qualifiers of nothing. */
pmix_status_t sx_wanted_read(struct sx_wanted *wanted, enum sx_function function, pmix_rank_t rank,
                             const char *key, const pmix_info_t *info, size_t ninfo);

/* True when @info asks for the caller's storage to be filled, even if the rest is invalid. */
bool sx_wanted_is_static(const pmix_info_t *info, size_t ninfo);

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
 * PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_wanted_find(const struct sx_wanted *wanted, const struct sx_site *site,
                             struct sx_item *ret);

/* Everything of the process, or of the row of the realm, that is asked for.  Return: as
 * sx_collect. */
pmix_status_t sx_wanted_collect(const struct sx_wanted *wanted, const struct sx_site *site,
                                pmix_value_t *ret);

/* Values that follow from the question: the name of a namespace or process (PMIX_NSPACE, PMIX_RANK,
 * PMIX_PROCID) of @nspace, of the asker unless a rank is given.  *ret (uninitialised) owns its
 * content.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_wanted_name(const struct sx_wanted *wanted, const struct sx_site *site,
                             const char *nspace, pmix_value_t *ret);

/* The process that is asked about: the asker unless a rank is given.  Return: false when it is not
 * a process of the job. */
bool sx_wanted_rank(const struct sx_wanted *wanted, const struct sx_site *site, uint32_t *ret_rank);

/* The row of the session @id.  Return: false when there is none; *ret_row is where it would lie
 * then, SX_SESSION_COUNT_MAX when there are too many. */
bool sx_session_row(const struct sx_site *site, uint32_t id, uint32_t *ret_row);

#endif
