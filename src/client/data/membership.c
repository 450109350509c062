/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.c - the node's store is a view without a namespace's name.
 *
 * A store without a successor holds all lists that were published before it was read: a list that
 * is not in it does not exist. */
#include "client/data/view.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/data/data.h"
#include "client/link/link.h"
#include "shmem/membership.h"

/* Return: as sx_members_open; then the thread is not inside. */
static pmix_status_t node_enter(struct sx_link *link, struct sx_grace *ret_grace,
                                const struct sx_store **ret_store)
{
    return sx_view_enter(link, SX_WANT_STORE, ret_grace, ret_store);
}

/* By @name, or (NULL) by @subject. */
static pmix_status_t look(struct sx_link *link, const char *name, uint64_t subject,
                          struct sx_members_look *ret)
{
    const struct sx_store *store;
    struct sx_grace grace;
    pmix_status_t rc = node_enter(link, &grace, &store);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = name == NULL
             ? sx_membership_of(store, subject, &ret->found)
             : sx_membership_find(store, SX_REALM_MEMBERS, name, strlen(name), &ret->found);
    if (rc == PMIX_SUCCESS) {
        ret->grace = grace;
    } else {
        sx_grace_exit(&grace);
    }
    return rc;
}

pmix_status_t sx_members_open(const char *name, struct sx_members_look *ret)
{
    return look(sx_primary(), name, 0, ret);
}

pmix_status_t sx_members_open_subject(struct sx_link *link, uint64_t subject,
                                      struct sx_members_look *ret)
{
    return subject == 0 ? PMIX_ERR_NOT_FOUND : look(link, NULL, subject, ret);
}

pmix_status_t sx_members_places(const char *key, const char *nspace, uint32_t rank,
                                pmix_value_t *ret)
{
    const struct sx_store *store;
    struct sx_grace grace;
    pmix_status_t rc = node_enter(sx_primary(), &grace, &store);

    if (rc == PMIX_SUCCESS) {
        rc = sx_places_find(store, key, nspace, rank, ret);
        sx_grace_exit(&grace);
    }
    return rc == PMIX_ERR_UNREACH ? PMIX_ERR_NOT_FOUND : rc; /* a singleton is in no list */
}

bool sx_members_join(const char *nspace)
{
    const pmix_proc_t *const self = &sx_process.self;
    const struct sx_store *store;
    struct sx_grace grace;

    if (node_enter(sx_primary(), &grace, &store) != PMIX_SUCCESS) {
        return false;
    }
    const bool join = sx_places_join(store, self->nspace, self->rank, nspace);

    sx_grace_exit(&grace);
    return join;
}

pmix_status_t sx_members_lists(const char *key, const char *name, pmix_value_t *ret)
{
    const struct sx_store *store;
    struct sx_grace grace;
    pmix_status_t rc = node_enter(sx_primary(), &grace, &store);

    if (rc == PMIX_ERR_UNREACH) { /* a singleton has no list */
        return sx_lists_find(NULL, key, name, ret);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_lists_find(store, key, name, ret);
        sx_grace_exit(&grace);
    }
    return rc;
}

void sx_members_close(const struct sx_members_look *look)
{
    sx_grace_exit(&look->grace);
}

pmix_status_t sx_members_retain_locked(struct sx_link *link, struct sx_mapped_store **ret)
{
    struct sx_view *view;
    const pmix_status_t rc = sx_view_fetch_of_locked(link, SX_WANT_STORE, &view);

    if (rc == PMIX_SUCCESS) {
        *ret = sx_mapped_store_retain(sx_view_shared(view));
    }
    return rc;
}

bool sx_members_are_at_hand(void)
{
    const struct sx_view *const view = sx_view_of(sx_primary(), SX_WANT_STORE);
    const struct sx_grace grace = sx_grace_enter();
    const bool are = view != NULL && sx_view_shared(view) != NULL && !sx_view_is_stale(view);

    sx_grace_exit(&grace);
    return are;
}

pmix_status_t sx_members_copy(const char *name, struct sx_membership *ret)
{
    struct sx_members_look look;
    pmix_status_t rc = sx_members_open(name, &look);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    void *const bytes = malloc(look.found.size_bytes);

    if (bytes != NULL) {
        memcpy(bytes, look.found.bytes, look.found.size_bytes);
        rc = sx_membership_open(bytes, look.found.size_bytes, ret);
    } else {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_members_close(&look);
    if (rc != PMIX_SUCCESS) {
        free(bytes);
    }
    return rc;
}

void sx_members_free(struct sx_membership *copy)
{
    free((void *)(uintptr_t)copy->bytes);
}

/* ---- data at hand ---------------------------------------------------------------------------- */

/* Read the node's lists, and keep two marks in each view of another namespace: is_exchanged, a
 * fence or another call has brought it; is_joined, a list has. */

static bool is_own(const char *nspace)
{
    return strcmp(nspace, sx_process.self.nspace) == 0;
}

pmix_status_t sx_at_hand_mark(const pmix_proc_t *procs, size_t nprocs)
{
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_view *view;

    for (size_t i = 0; i < nprocs && rc == PMIX_SUCCESS; i++) {
        const bool is_new = i == 0 || strcmp(procs[i].nspace, procs[i - 1].nspace) != 0;

        if (!is_new || procs[i].nspace[0] == '\0' || is_own(procs[i].nspace)) {
            continue;
        }
        rc = sx_view_obtain(procs[i].nspace, &view);
        if (rc == PMIX_SUCCESS) {
            /* relaxed: the mark stands for itself. */
            atomic_store_explicit(&view->is_exchanged, true, memory_order_relaxed);
        }
    }
    return rc;
}

bool sx_at_hand(const char *nspace, const struct sx_view *view)
{
    /* relaxed: as sx_at_hand_mark. */
    return (view != NULL && atomic_load_explicit(&view->is_exchanged, memory_order_relaxed)) ||
           sx_members_join(nspace);
}

/* Return: the next view behind @view of another namespace. */
static struct sx_view *next_other(const struct sx_view *view)
{
    struct sx_view *next = sx_view_next(view);

    while (next != NULL && (next->nspace_len == 0 || next == sx_process.own)) {
        next = sx_view_next(next);
    }
    return next;
}

/* Mark @view if a list brings it. */
static void join_note(struct sx_view *view)
{
    if (sx_members_join(view->nspace)) {
        /* relaxed: the mark stands for itself. */
        atomic_store_explicit(&view->is_joined, true, memory_order_relaxed);
    }
}

pmix_status_t sx_at_hand_fetch(const char *nspace, struct sx_view **ret_view)
{
    const pmix_status_t rc = sx_view_fetch(nspace, ret_view);

    if (rc == PMIX_SUCCESS && !is_own(nspace)) {
        join_note(*ret_view);
    }
    return rc;
}

void sx_at_hand_joined(void)
{
    struct sx_view *view = NULL;

    while ((view = next_other(view)) != NULL) {
        /* relaxed: the marks stand for themselves. */
        if (!atomic_load_explicit(&view->is_joined, memory_order_relaxed) &&
            (sx_view_is_shown(view) ||
             atomic_load_explicit(&view->is_exchanged, memory_order_relaxed))) {
            join_note(view);
        }
    }
}

/* No list with @view's namespace is left.  Data that no list has brought stays at hand: the next
 * Get asks the server for it. */
static void part(struct sx_view *view, const struct sx_link *link)
{
    /* relaxed: the marks stand for themselves. */
    const bool was_joined = atomic_exchange_explicit(&view->is_joined, false, memory_order_relaxed);
    const bool was_shown = sx_view_hide(view, link);

    if (was_joined || was_shown) {
        atomic_store_explicit(&view->is_exchanged, !was_joined, memory_order_relaxed);
    }
}

bool sx_at_hand_parted(struct sx_op *op)
{
    struct sx_view *view = NULL;

    /* A fetch that the server answered before this list ended is shown by now, and has a view. */
    pthread_mutex_lock(&sx_process.view_lock);
    pthread_mutex_unlock(&sx_process.view_lock);
    /* Without its server this process keeps the stores that it has mapped: no list can be read. */
    while (op->link == sx_primary() && sx_link_is_live(op->link) &&
           (view = next_other(view)) != NULL) {
        if (!sx_members_join(view->nspace)) {
            part(view, op->link);
        }
    }
    return true;
}
