/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.h - one question for a value: parsed from the arguments of a Get, answered from memory. */
#ifndef SX_CLIENT_DATA_LOOKUP_H
#define SX_CLIENT_DATA_LOOKUP_H

#include "client/link/process.h"
#include "shmem/wanted.h"

/* What a Get asks.  Strings are borrowed from the caller. */
struct sx_lookup {
    struct sx_view *view; /* NULL: a namespace this process has not met */
    const char *nspace;
    struct sx_edition *edition; /* of the shared store, that sx_lookup_find has looked into */
    struct sx_wanted wanted;
};

/* Judge and parse.  An empty namespace is our own.  Return: as sx_wanted_read. */
pmix_status_t sx_lookup_init(struct sx_lookup *lookup, const pmix_proc_t *proc, const char *key,
                             const pmix_info_t *info, size_t ninfo);

/* Here and below the caller is between sx_grace_enter and sx_grace_exit.
 *
 * The two stores of @view as they are now, with this process as the one who asks. */
struct sx_site sx_lookup_site(const struct sx_view *view);

/* Look into what is mapped, without a lock.  The item may stand for a box (box.h), if its value
 * has a body.  Return: as sx_wanted_find. */
pmix_status_t sx_lookup_find(struct sx_lookup *lookup, struct sx_item *ret);

/* Everything of the rank or row as one DATA_ARRAY of infos in @ret (uninitialised), the private
 * store's word first.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is nothing. */
pmix_status_t sx_lookup_collect(struct sx_lookup *lookup, pmix_value_t *ret);

#endif
