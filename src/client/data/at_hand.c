/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* at_hand.c - read the node's lists, and keep two marks in each view of another namespace:
 * is_exchanged, a fence or another call has brought it; is_joined, a list has. */
#include "client/data/at_hand.h"

#include <pthread.h>
#include <string.h>

#include "client/data/membership.h"
#include "client/data/view.h"
#include "client/link/link.h"

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
