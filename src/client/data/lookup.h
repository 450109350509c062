/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lookup.h - one question for a value: parsed from the arguments of a Get, answered from memory. */
#ifndef SX_CLIENT_DATA_LOOKUP_H
#define SX_CLIENT_DATA_LOOKUP_H

#include "client/link/link.h"
#include "shmem/wanted.h"

/* The question of a Get.  Strings are borrowed from the caller. */
struct sx_lookup {
    struct sx_view *view; /* NULL: a namespace that is new to this process */
    const char *nspace;
    struct sx_mapped_store *edition; /* of the shared store that sx_lookup_find has searched */
    struct sx_wanted wanted;
};

/* Check and parse.  An empty namespace is our own.  Return: as sx_wanted_read. */
pmix_status_t sx_lookup_init(struct sx_lookup *lookup, const pmix_proc_t *proc, const char *key,
                             const pmix_info_t *info, size_t ninfo);

/* Here and below the caller is between sx_grace_enter and sx_grace_exit.
 *
 * The two stores of @view as they are now, with this process as the reader. */
struct sx_site sx_lookup_site(const struct sx_view *view);

/* Search the mapped stores, without a lock.  The item may stand for a box (view.h), if its
 * value has a body.  Return: as sx_wanted_find. */
pmix_status_t sx_lookup_find(struct sx_lookup *lookup, struct sx_item *ret);

/* Inside or outside.  Whether the lookup is about one process of another node, or of an unknown
 * node. */
bool sx_lookup_is_elsewhere(const struct sx_lookup *lookup);

/* Does the answer need the text of the node's topology?  So it is for the text itself, for
 * everything of the job, and for distances of devices. */
bool sx_lookup_wants_topology(const struct sx_lookup *lookup);
/* Inside or outside.  Return: true when the answer needs the text and the host has announced it.
 * When this is false, a text that was missing has arrived meanwhile, or will not arrive. */
bool sx_lookup_is_coming(const struct sx_lookup *lookup);

/* Inside.  Everything of the rank or row as one DATA_ARRAY of infos in @ret (uninitialised), values
 * of the private store first.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is nothing. */
pmix_status_t sx_lookup_collect(struct sx_lookup *lookup, pmix_value_t *ret);

/* ---- derived values -------------------------------------------------------------------------- */

/* Values that are not stored because they follow from the process that is asked about. */

/* Derive the answer to a key that was not found.  PMIX_NSPACE, PMIX_RANK and PMIX_PROCID are the
 * name of the process or namespace.  PMIX_LOCALITY is the place of a process of our job relative to
 * this one.  PMIX_DEVICE_DISTANCES are its distances from the node's devices, and SHMIX_CONNECTED
 * its connections.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_implied_find(const struct sx_lookup *lookup, pmix_value_t *ret);
/* Whether @key is such a key: then no store and no server has it. */
bool sx_implied_is_key(const char *key);

#endif
