/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* view.h - one namespace as this process has it: its shared store and a private one.
 *
 * The shared store is the server's; the private one holds what this process put or stored for
 * itself.  Views are only ever added, so readers need no lock to find one.  A reader of a shared
 * store is between sx_grace_enter and sx_grace_exit: a replaced generation is unmapped when no
 * reader is inside any more.  Private stores stay until PMIx_Finalize. */
#ifndef SX_CLIENT_DATA_VIEW_H
#define SX_CLIENT_DATA_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>

#include <pmix_common.h>

#include "client/data/mapped_store.h"
#include "client/data/private_value.h"
#include "shmem/qualified.h"
#include "shmem/store.h"

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
    _Atomic bool is_exchanged, is_joined; /* at_hand.c */
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

#endif
