/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published.h - the values published under one key, for processes of one user to read.
 *
 *   +------+-----------------+--------------------------------------+
 *   | head | entries, oldest | names of namespaces with their NULs, |
 *   |      | first           | and bodies of values, 8-aligned      |
 *   +------+-----------------+--------------------------------------+
 *
 * The server keeps one store of these for each user.  The record of a key lies under that key, in
 * SX_REALM_PUBLISHED, and never changes: a value more or less is another record.  The record has
 * all that processes of that user may receive under this key.  When a record cannot express that,
 * there is none, and the server has to be asked.
 *
 * Which session a namespace belongs to lies under its name, in SX_REALM_SESSION: a range may depend
 * on it. */
#ifndef SX_SHMEM_PUBLISHED_H
#define SX_SHMEM_PUBLISHED_H

#include "base/call/publish.h"
#include "shmem/store.h"

#define SX_PUBLISHED_NSPACE "(published)" /* in the header of such a store */
#define SX_PUBLISHED_ENTRIES_MAX 8u       /* of a record */
#define SX_PUBLISHED_RECORD_MAX (64u << 10)

struct sx_published_head {
    uint32_t entry_count;
    uint32_t reserved; /* zero */
};
struct sx_published_entry {
    uint64_t serial;     /* a younger one has a higher; never used again */
    uint64_t session;    /* of the publisher */
    uint32_t range;      /* pmix_data_range_t */
    uint32_t rank;       /* of the publisher */
    uint32_t nspace_off; /* of this record, as the value's body */
    uint32_t nspace_len;
    struct sx_cell cell; /* base/value/flat.h */
};
static_assert(sizeof(struct sx_published_head) == 8, "fixed by layout 2");
static_assert(sizeof(struct sx_published_entry) == 48, "fixed by layout 2");

/* ---- readers: no lock, no allocation, any thread ------------------------------------------- */

/* A value that a reader sees under a key; its body stays as long as the store is mapped. */
struct sx_published_seen {
    struct sx_publish_who by;
    uint64_t serial;
    struct sx_cell cell;
    const void *body; /* cell.len bytes */
};

/* The session of @asker's namespace, into it.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when the
 * store does not have it; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_published_session(const struct sx_store *store, struct sx_publish_who *asker);

/* The oldest value that @asker, who looks with @options, sees under @key.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when only the server can answer; PMIX_ERR_UNPACK_FAILURE when the store
 * contradicts itself. */
pmix_status_t sx_published_see(const struct sx_store *store, const char *key, size_t key_len,
                               const struct sx_publish_who *asker,
                               const struct sx_lookup_options *options,
                               struct sx_published_seen *ret);

/* ---- the writer ----------------------------------------------------------------------------- */

struct sx_published_shown {
    const struct sx_publish_who *by;
    uint64_t serial;
    pmix_data_range_t range;
    const pmix_value_t *value;
};

/* Make the record of @key of these values, the oldest first; without values, or with too many for a
 * record, there is no record.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and then there is
 * none. */
pmix_status_t sx_published_show(struct sx_store_writer *writer, const char *key,
                                const struct sx_published_shown shown[], size_t count);

/* @nspace belongs to @session from now on.  Return: as sx_store_put. */
pmix_status_t sx_published_session_show(struct sx_store_writer *writer, const char *nspace,
                                        uint64_t session);
/* Remove the session of a namespace that has ended. */
void sx_published_session_hide(struct sx_store_writer *writer, const char *nspace);

#endif
