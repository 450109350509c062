/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.c - the node's store is a view without a namespace's name.
 *
 * A store without a successor holds all lists that were published before it was read: a list that
 * is not in it does not exist. */
#include "client/data/membership.h"

#include <stdlib.h>
#include <string.h>

#include "client/data/view.h"
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
