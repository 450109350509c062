/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.c - the node's store is a view without a namespace's name.
 *
 * A store without a successor has all that was told before it was looked at: what is not in it is
 * not there. */
#include "client/data/membership.h"

#include <string.h>

#include "client/data/view.h"

#define NODE "" /* no namespace: its view's name */

/* Enter, with the node's newest store.  Return: as sx_members_open, and then nobody is inside. */
static pmix_status_t node_enter(struct sx_grace *ret_grace, const struct sx_store **ret_store)
{
    for (;;) {
        struct sx_view *view = sx_view_find(NODE, 0);
        const struct sx_grace grace = sx_grace_enter();
        struct sx_edition *const edition = view != NULL ? sx_view_shared(view) : NULL;

        if (edition != NULL && !sx_edition_is_stale(edition)) {
            *ret_grace = grace;
            *ret_store = sx_edition_store(edition);
            return PMIX_SUCCESS;
        }
        sx_grace_exit(&grace);
        const pmix_status_t rc = sx_view_fetch(NODE, &view);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

/* By @subject, if it is not 0, else by @name. */
static pmix_status_t look(const char *name, uint64_t subject, struct sx_members_look *ret)
{
    const struct sx_store *store;
    struct sx_grace grace;
    pmix_status_t rc = node_enter(&grace, &store);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = subject != 0 ? sx_membership_of(store, subject, &ret->found)
                      : sx_membership_find(store, name, strlen(name), &ret->found);
    if (rc == PMIX_SUCCESS) {
        ret->grace = grace;
    } else {
        sx_grace_exit(&grace);
    }
    return rc;
}

pmix_status_t sx_members_open(const char *name, struct sx_members_look *ret)
{
    return look(name, 0, ret);
}

pmix_status_t sx_members_open_subject(uint64_t subject, struct sx_members_look *ret)
{
    return subject == 0 ? PMIX_ERR_NOT_FOUND : look(NULL, subject, ret);
}

void sx_members_close(const struct sx_members_look *look)
{
    sx_grace_exit(&look->grace);
}
