/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native.h - the handles of <shmix.h>: their structs, and how a read uses them.
 *
 *   key --binding--> { the store of a generation, the key's column in it }
 *   job --newest--> hold --older--> hold ...      a hold is one generation and its bindings
 *
 * A read loads the binding and has everything: no two words must match, so a move to the next
 * generation needs only one release store a key.  A hold that the job has left is freed when no
 * reader is inside any more.  If the program has a pointer into it, it stays until shmix_job_unpin,
 * shmix_job_close or PMIx_Finalize.  Writers hold view_lock. */
#ifndef SX_CLIENT_NATIVE_NATIVE_H
#define SX_CLIENT_NATIVE_NATIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <shmix.h>

#include "base/list.h"
#include "base/table.h"
#include "client/data/view.h"
#include "shmem/store.h"

struct sx_hold;

/* One key in one generation. */
struct sx_binding {
    struct sx_store store; /* a view of the hold's */
    struct sx_hold *hold;
    _Atomic sx_column column; /* 0: not found by the last search; else constant */
};

/* One generation that a job keeps. */
struct sx_hold {
    struct sx_mapped_store *edition; /* a reference; NULL: of a private store, which stays anyway */
    struct sx_store store;
    struct sx_hold *older;
    shmix_job_t *job;
    _Atomic bool handed_out; /* the program has a pointer into it */
    struct sx_retired retired;
    struct sx_binding bindings[]; /* of the keys that existed when the job moved here */
};

struct shmix_job {
    _Atomic(struct sx_hold *) newest; /* NULL: after PMIx_Finalize */
    struct sx_list node;              /* in the list of open jobs; in none after PMIx_Finalize */
    struct shmix_key *keys;
    struct sx_table by_name; /* the same keys */
    size_t key_count;
    char nspace[PMIX_MAX_NSLEN + 1];
};

struct shmix_key {
    _Atomic(struct sx_binding *) binding; /* NULL: after PMIx_Finalize */
    struct sx_binding first;              /* in the generation in which the key was opened */
    struct shmix_key *next;
    struct sx_table_node by_name;
    uint64_t hash;
    enum sx_realm realm;
    size_t text_len;
    char text[];
};

/* View @item, whose body has the length in its cell.  Return: as shmix_read_value. */
pmix_status_t sx_native_value(const struct sx_item *item, shmix_value_t *ret_value);

/* The classes that the open readers of events want to be woken for, and whether one of them has
 * something left to read.  Under sx_process.lock. */
extern const struct sx_intake sx_native_intake;

/* PMIx_Finalize: open readers of events return PMIX_ERR_INIT from now on. */
void sx_native_events_deinit(void);

/* PMIx_Finalize: release the stores that groups hold.  The handles stay and return
 * PMIX_ERR_INIT. */
void sx_native_groups_deinit(void);

/* PMIx_Finalize: unmap the stores that jobs hold.  The handles stay and return PMIX_ERR_INIT from
 * now on. */
void sx_native_deinit(void);

#endif
