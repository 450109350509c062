/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* view.h - the stores of namespaces as this process has them: mapped, private, and the lists in
 * them.
 *
 *     view --shared--> mapped store     one generation of the server's store
 *      \----priv-----> private store    what this process put or stored for itself, and its boxes
 *
 * Other chapters read them between sx_grace_enter and sx_grace_exit (epoch.h). */
#ifndef SX_CLIENT_DATA_VIEW_H
#define SX_CLIENT_DATA_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "client/data/epoch.h"
#include "shmem/membership.h"
#include "shmem/qualified.h"
#include "shmem/store.h"

/* ---- mapped stores --------------------------------------------------------------------------- */

/* One generation of a store, as this process has it mapped.
 *
 *     SHOWN by a view --superseded--> RETIRED --no thread inside, no job holds it--> unmapped
 *                                        \--the program has a pointer into it--> KEPT
 *
 * A kept generation stays until PMIx_Finalize.  Counted under view_lock: the view has a reference,
 * and each hold of a job (native.h).  Readers take none; they are between sx_grace_enter and
 * _exit. */

struct sx_mapped_store {
    struct sx_store store;
    _Atomic uint64_t warm_bytes; /* entered by sx_mapped_store_warm into the page tables */
    _Atomic bool handed_out;
    unsigned references;
    struct sx_retired retired;
    struct sx_mapped_store *next; /* in the list of kept ones */
};

/* @store is moved; its first reference is the caller's.  @is_first: the process has none of this
 * namespace yet.  Return: NULL when memory is out. */
struct sx_mapped_store *sx_mapped_store_new(struct sx_store *store, bool is_first);

struct sx_mapped_store *sx_mapped_store_retain(struct sx_mapped_store *edition);
/* Return: NULL, always. */
struct sx_mapped_store *sx_mapped_store_release(struct sx_mapped_store *edition);

/* Release it once no thread can be inside; it is no longer reachable for new readers. */
void sx_mapped_store_retire(struct sx_mapped_store *edition);

/* Return: true when its store receives no more values. */
static inline bool sx_mapped_store_is_stale(const struct sx_mapped_store *edition)
{
    return __builtin_expect(sx_store_successor(&edition->store) != 0, 0);
}

/* Inside: @at, if it lies in @edition, is given to the program as a pointer. */
void sx_mapped_store_hand_out(struct sx_mapped_store *edition, const void *at);

/* Pre-fault the values that were published since the last time, so that the first Get of each value
 * causes no page fault.  Costs one system call when the store has grown into new memory. */
void sx_mapped_store_warm(struct sx_mapped_store *edition);

/* No thread reads any more: unmap the kept generations. */
void sx_mapped_stores_deinit(void);

/* ---- private values -------------------------------------------------------------------------- */

/* The newest value of a key that this process puts again, or that is large.
 *
 * The private store only grows, because its readers take no lock.  So the first value of a key lies
 * in it.  For a value that was replaced, or is large, the cell has the type PMIX_POINTER, which no
 * value has, and points at a box.  A box has the newest value and frees the one before, unless that
 * was handed out as a pointer or is being committed.  A key that was taken away has a box without a
 * value; it is never committed before the removal.  Boxes live until PMIx_Finalize; everything here
 * is under data_lock, unless it says otherwise. */

struct sx_view;

#define SX_BOX_LARGE_BYTES (64u << 10) /* from here a value has a box from the beginning */

/* The body of a flat value, with the length in its cell, zeroed to a multiple of 8. */
struct sx_body {
    struct sx_body *next; /* in the list of bodies that were handed out */
    unsigned references;
    bool handed_out;
    _Alignas(8) uint8_t bytes[];
};

struct sx_box {
    struct sx_box *next;
    struct sx_view *view; /* its private store points here; the cell that does */
    enum sx_realm realm;
    uint32_t row;
    struct sx_cell cell;  /* with the scope; bits are 0 where there is a body; PMIX_UNDEF: none */
    struct sx_body *body; /* NULL: none */
    bool pending;         /* is in the list of values that are not committed yet */
    pmix_scope_t taken;   /* the scope that lost the key, if nothing was put for it since */
    size_t key_len;
    char key[]; /* with its NUL, zeroed to a multiple of 8 */
};

/* Return: NULL when memory is out.  Needs no lock. */
struct sx_body *sx_body_new(uint64_t size);
/* Drop a reference; NULL is allowed. */
void sx_body_drop(struct sx_body *body);

/* Return: an empty box, NULL when memory is out. */
struct sx_box *sx_box_new(struct sx_view *view, enum sx_realm realm, uint32_t row, const char *key,
                          size_t key_len);
/* Free @box, the newest one, which no store or list points at yet. */
void sx_box_take_back(struct sx_box *box);
/* Return: the first of all boxes. */
struct sx_box *sx_box_first(void);
/* Put @cell and @body, whose reference the box takes, in place of what it has. */
void sx_box_set(struct sx_box *box, const struct sx_cell *cell, struct sx_body *body);
void sx_box_rescope(struct sx_box *box, pmix_scope_t scope);
/* The cell that stands for @box in a private store. */
struct sx_cell sx_box_marker(const struct sx_box *box);
/* Return: the box that @item, found in a private store, stands for; NULL when it is a value.
 * Needs no lock. */
static inline struct sx_box *sx_box_of(const struct sx_item *item)
{
    return item->cell.type != PMIX_POINTER ? NULL : (struct sx_box *)(uintptr_t)item->cell.bits;
}

/* If @item stands for a box, put the value of the box in its place.  The value stays while the lock
 * is held, and until PMIx_Finalize if @hand_out.  A box without a value has the scope that it
 * hides: PMIX_SCOPE_UNDEF, or PMIX_LOCAL. */
void sx_box_open(struct sx_item *item, bool hand_out);

/* Without the lock: as sx_box_open where no body is needed; else @item still stands for the box,
 * with its scope. */
void sx_box_peek(struct sx_item *item);
/* Without the lock: as sx_box_open with hand_out. */
void sx_box_hand_out(struct sx_item *item);

/* Free all boxes and bodies; no thread reads any more. */
void sx_box_deinit(void);

/* ---- views ----------------------------------------------------------------------------------- */

/* One namespace as this process has it: its shared store and a private one.
 *
 * The shared store is the server's; the private one holds what this process put or stored for
 * itself.  Views are only ever added, so readers need no lock to find one.  A reader of a shared
 * store is between sx_grace_enter and sx_grace_exit: a replaced generation is unmapped when no
 * reader is inside any more.  Private stores stay until PMIx_Finalize. */

#define SX_VIEW_COUNT_MAX 4096u

/* One generation of a private store, which belongs to its writer. */
struct sx_private {
    struct sx_store store;
    struct sx_private *older;
};

struct sx_link;

struct sx_view {
    _Atomic(struct sx_view *) next;
    _Atomic(struct sx_mapped_store *) shared; /* NULL: not fetched, or its namespace has ended */
    _Atomic(struct sx_private *) priv;        /* NULL: nothing stored */
    struct sx_store_writer writer;            /* of the private store; under data_lock */
    bool has_writer;
    bool is_plain; /* no boxes: the program reads the private store by itself; under data_lock */
    struct sx_link *link;                 /* from whose server the shared one is; under view_lock */
    size_t nspace_len;                    /* 0: `link`, constant then, has it, and it is of ... */
    uint32_t wanted;                      /* ... the node (SX_WANT_STORE), or what is published */
    _Atomic bool is_exchanged, is_joined; /* membership.c */
    char nspace[PMIX_MAX_NSLEN + 1];
};

/* The first view, of our own namespace @nspace; @shared may be NULL, else it is moved on success.
 * Return: NULL when memory is out. */
struct sx_view *sx_view_open(const char *nspace, struct sx_store *shared);

/* The same for a view that has none yet: values that the process itself has stored still precede
 * it.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, and then @shared is the caller's still. */
pmix_status_t sx_view_adopt(struct sx_view *view, struct sx_store *shared);

/* Unmap and free all views. */
void sx_view_close_all(void);

/* Return: the view of @nspace, NULL when there is none.  Lock-free. */
struct sx_view *sx_view_find(const char *nspace, size_t nspace_len);

/* Return: the view of the node that @link's server shows (@wanted is SX_WANT_STORE), or of what is
 * published there (SX_WANT_PUBLISHED); NULL when there is none.  Lock-free. */
struct sx_view *sx_view_of(const struct sx_link *link, uint32_t wanted);

/* Return: the view behind @view, the first for NULL, NULL at the end.  Lock-free. */
struct sx_view *sx_view_next(const struct sx_view *view);

/* Find or make, without asking the server.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_view_obtain(const char *nspace, struct sx_view **ret_view);

/* Ask the server for the newest store of @nspace unless we have it.  Not between sx_grace_enter and
 * sx_grace_exit, or the old one stays.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when the server
 * has no such namespace (any more: then nothing of it is shown).  Or as sx_link_status, sx_request
 * and sx_store_attach; then the shown store may be old. */
pmix_status_t sx_view_fetch(const char *nspace, struct sx_view **ret_view);
/* With view_lock. */
pmix_status_t sx_view_fetch_locked(const char *nspace, struct sx_view **ret_view);
/* The same for a store of no namespace, of @link's server: sx_view_of. */
pmix_status_t sx_view_fetch_of_locked(struct sx_link *link, uint32_t wanted,
                                      struct sx_view **ret_view);

/* Show nothing of @view's shared store, if it is from @link's server, until it is fetched anew.
 * Not between sx_grace_enter and sx_grace_exit.  Return: whether something was shown. */
bool sx_view_hide(struct sx_view *view, const struct sx_link *link);

/* Enter, with the newest such store.  No message while it is the one that we have.  Return: as
 * sx_view_fetch; unless PMIX_SUCCESS the thread is not inside. */
pmix_status_t sx_view_enter(struct sx_link *link, uint32_t wanted, struct sx_grace *ret_grace,
                            const struct sx_store **ret_store);

/* Pre-fault the values that were published since the last time. */
void sx_view_warm(struct sx_view *view);

/* A value for the private store. */
struct sx_view_put {
    enum sx_realm realm;
    uint32_t row;
    const char *key;
    size_t key_len;
    pmix_scope_t scope;
    struct sx_cell cell;
    const void *body;      /* is copied, or ... */
    struct sx_body *owned; /* ... taken over in any case */
};

/* Store in the private store, visible to this process's Gets on return; data_lock is held.
 * *ret_box: where the value lies, NULL when in the store itself. */
pmix_status_t sx_view_put_locked(struct sx_view *view, struct sx_view_put *put,
                                 struct sx_box **ret_box);
/* Take a value away from the processes of @put->scope; @put has no value.  *ret_box: the box to
 * commit, NULL: none. */
pmix_status_t sx_view_withdraw_locked(struct sx_view *view, struct sx_view_put *put,
                                      struct sx_box **ret_box);
/* As sx_view_put_locked for values in the form that programs use; the key PMIX_QUALIFIED_VALUE
 * makes a qualified value.  Without the lock. */
pmix_status_t sx_view_store(struct sx_view *view, uint32_t row, const char *key, pmix_scope_t scope,
                            const pmix_value_t *value);
/* With the lock, the parts of a qualified value. */
pmix_status_t sx_view_put_qualified_locked(struct sx_view *view, uint32_t row, pmix_scope_t scope,
                                           const struct sx_qualified *qualified);

/* From now on all values lie in the private store itself, where readers need no support for boxes;
 * replaced values stay there until PMIx_Finalize.  Without the lock. */
pmix_status_t sx_view_unbox(struct sx_view *view);

/* The two stores of a view as a reader sees them now; NULL where there is none. */
static inline const struct sx_store *sx_view_private(const struct sx_view *view)
{
    /* A-priv <- R-priv (view.c): it names a readable store. */
    const struct sx_private *priv = atomic_load_explicit(&view->priv, memory_order_acquire);

    return priv != NULL ? &priv->store : NULL;
}

/* Inside, or with view_lock. */
static inline struct sx_mapped_store *sx_view_shared(const struct sx_view *view)
{
    /* A-shared <- R-shared (view.c): the edition is mapped. */
    return atomic_load_explicit(&view->shared, memory_order_acquire);
}

/* Whether anything is shown: the answer may be outdated at once. */
static inline bool sx_view_is_shown(const struct sx_view *view)
{
    /* relaxed: nothing is read through the pointer. */
    return atomic_load_explicit(&view->shared, memory_order_relaxed) != NULL;
}

/* Whether the store that @view shows receives no more values: call sx_view_fetch before reading.
 * @view may be NULL.  The answer may be outdated at once. */
static inline bool sx_view_is_stale(const struct sx_view *view)
{
    const struct sx_mapped_store *const edition = view != NULL ? sx_view_shared(view) : NULL;

    return edition != NULL && sx_mapped_store_is_stale(edition);
}

static inline const struct sx_store *sx_mapped_store_store(const struct sx_mapped_store *edition)
{
    return edition != NULL ? &edition->store : NULL;
}

/* ---- named lists ----------------------------------------------------------------------------- */

/* Read connected namespaces and groups in the node's store.
 *
 * The store is mapped when it is first wanted: a process that never asks never maps it.  From then
 * on a search costs no message, unless the server has replaced the store. */

struct sx_link;

/* The list that was found, and the reader that keeps it mapped until sx_members_close. */
struct sx_members_look {
    struct sx_membership found;
    struct sx_grace grace;
};

/* Return: PMIX_SUCCESS, to be closed; PMIX_ERR_NOT_FOUND when no list has that name; as
 * sx_view_fetch when the store cannot be mapped; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_members_open(const char *name, struct sx_members_look *ret);
/* The same for the list that the end of a collective operation at @link has named (struct
 * sx_op). */
pmix_status_t sx_members_open_subject(struct sx_link *link, uint64_t subject,
                                      struct sx_members_look *ret);

/* The answer to @key for the process @rank of @nspace (shmem/membership.h).  Return: as
 * sx_places_find; as sx_members_open. */
pmix_status_t sx_members_places(const char *key, const char *nspace, uint32_t rank,
                                pmix_value_t *ret);

/* Whether this process is in a connected namespace or a group together with one of @nspace.  False
 * too when the store cannot be mapped. */
bool sx_members_join(const char *nspace);

/* The answer to the query of @key, about the list @name (shmem/membership.h).  Return: as
 * sx_lists_find; as sx_members_open. */
pmix_status_t sx_members_lists(const char *key, const char *name, pmix_value_t *ret);

void sx_members_close(const struct sx_members_look *look);

/* The newest store of @link's server in which lists are, with a reference of the caller's own;
 * under view_lock.  Return: as sx_view_fetch. */
pmix_status_t sx_members_retain_locked(struct sx_link *link, struct sx_mapped_store **ret);

/* Whether a search costs no message. */
bool sx_members_are_at_hand(void);

/* A separate copy of the list @name that does not change; freed with sx_members_free.  Return: as
 * sx_members_open; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_members_copy(const char *name, struct sx_membership *ret);
void sx_members_free(struct sx_membership *copy);

#endif
