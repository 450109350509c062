/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_store.c - a store for each user other than root and the server's own. */
#include "server/model/membership.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/status.h"
#include "server/model/state.h"

struct view {
    struct sx_list link; /* memberships.views */
    uid_t uid;
    uint32_t kind_counts[SX_MEMBERSHIP_KINDS];
    uint32_t filled; /* up to this row, those behind it come in their turn; UINT32_MAX: complete */
    struct sx_store_writer store;
};

#define LOOKS_PER_UNIT 8u   /* lists, and namespaces in them, visited: share.h */
#define BYTES_PER_LOOK 256u /* of a list that is shown */

/* ---- which user sees which list -------------------------------------------------------------- */

bool sx_membership_is_hosts(const struct sx_membership_entry *entry)
{
    uid_t uid;

    return !sx_quota_uid(&entry->quota, &uid) || uid == 0;
}

static bool has_process_of(const struct sx_nspace *nspace, uid_t uid)
{
    bool has = nspace->client_count == 0 && nspace->uid == uid;

    for (size_t i = 0; i < nspace->client_count && !has; i++) {
        has = nspace->by_rank[i]->uid == uid;
    }
    return has;
}

bool sx_memberships_show(struct sx_server *server, const struct sx_membership_entry *entry,
                         uid_t uid)
{
    struct sx_membership_part part;
    uid_t owner;
    bool show = sx_memberships_see_all(uid) || !sx_quota_uid(&entry->quota, &owner) || owner == uid;

    if (entry->published.head.kind == SX_MEMBERSHIP_PSET) {
        return show || owner == 0; /* a user's list has processes of that user alone */
    }
    for (uint32_t i = 0; !show && sx_membership_part(&entry->published, i, &part); i++) {
        const struct sx_nspace *const nspace = part.count > 0 ? sx_nspace_find(server, part.nspace)
                                                              : NULL;

        show = nspace != NULL && has_process_of(nspace, uid);
    }
    return show;
}

/* ---- stores ---------------------------------------------------------------------------------- */

static pmix_status_t store_create(const struct sx_server *server, struct sx_store_writer *store)
{
    const struct sx_placement placement = sx_numa_place(&server->numa, SX_SEGMENT_STORE, 0);
    /* With a row for each list: a store whose directories get too short is rewritten at once. */
    const struct sx_store_options options = { .nspace = "",
                                              .row_count = SX_MEMBERSHIPS_MAX,
                                              .reserve_bytes = SX_STORE_RESERVE_BYTES,
                                              .placement = &placement };

    return sx_store_create(store, &options);
}

pmix_status_t sx_memberships_open(struct sx_server *server)
{
    struct sx_memberships *const all = &server->memberships;
    const pmix_status_t rc = all->has_store ? PMIX_SUCCESS : store_create(server, &all->store);

    all->has_store = rc == PMIX_SUCCESS;
    return rc;
}

/* Return: the subject of the list that the view has under the name of @entry; 0: none. */
static uint64_t shown_subject(const struct view *view, const struct sx_membership_entry *entry)
{
    const char *const name = sx_membership_name(&entry->published);
    struct sx_membership shown;

    return sx_membership_find(&view->store.view, sx_membership_realm(entry->published.head.kind),
                              name, strlen(name), &shown) == PMIX_SUCCESS
               ? shown.head.subject
               : 0;
}

static bool view_has(const struct view *view, const struct sx_membership_entry *entry)
{
    return shown_subject(view, entry) == entry->published.head.subject;
}

static void view_withdraw(struct view *view, const struct sx_membership_entry *entry)
{
    const struct sx_membership *const list = &entry->published;

    if (view_has(view, entry)) {
        sx_membership_withdraw(&view->store, sx_membership_realm(list->head.kind),
                               list->head.subject, sx_membership_name(list));
        view->kind_counts[list->head.kind]--;
    }
}

/* A job may have processes of several users, one of which has a list of its own of the same name:
 * that one is shown.  Return: whether @entry is shown to the user. */
static bool takes_place(struct sx_server *server, struct view *view,
                        const struct sx_membership_entry *entry)
{
    const uint64_t subject = shown_subject(view, entry);
    const struct sx_membership_entry *const other = subject == entry->published.head.subject
                                                        ? NULL
                                                        : sx_memberships_of(server, subject);

    if (subject == 0 || other == NULL || entry->published.head.kind == SX_MEMBERSHIP_PSET) {
        return true;
    }
    if (!sx_users_have(&entry->users, view->uid)) {
        return false;
    }
    view_withdraw(view, other);
    return true;
}

/* A list that cannot be shown is missing for the user, rather than old. */
static void view_update(struct sx_server *server, struct view *view,
                        const struct sx_membership_entry *entry)
{
    const struct sx_membership *const list = &entry->published;
    const bool had = view_has(view, entry);
    pmix_status_t rc;

    if (sx_membership_row(list->head.subject) >= view->filled) {
        return;
    }
    if (!sx_memberships_show(server, entry, view->uid) || !takes_place(server, view, entry)) {
        view_withdraw(view, entry);
        return;
    }
    rc = sx_membership_publish(&view->store, list->bytes, list->size_bytes);
    view->kind_counts[list->head.kind] += rc == PMIX_SUCCESS && !had;
    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_enter(&view->store, sx_membership_realm(list->head.kind),
                                 list->head.subject, sx_membership_name(list));
    }
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_ERROR, "processes of user %u do not see the list %s: %s", (unsigned)view->uid,
               sx_membership_name(list), PMIx_Error_string(rc));
        view_withdraw(view, entry);
    }
}

static void view_free(struct view *view)
{
    sx_list_remove(&view->link);
    sx_store_end(&view->store);
    sx_store_destroy(&view->store);
    free(view);
}

static bool is_here(const struct sx_server *server, uid_t uid)
{
    bool here = false;

    for (size_t i = 0; i < server->live_count && !here; i++) {
        here = server->live[i]->uid == uid;
    }
    return here;
}

static struct view *view_new(struct sx_server *server, uid_t uid)
{
    struct view *const view = calloc(1, sizeof(*view));

    if (view == NULL || store_create(server, &view->store) != PMIX_SUCCESS) {
        free(view);
        return NULL;
    }
    view->uid = uid;
    sx_list_append(&server->memberships.views, &view->link);
    return view;
}

/* Stores of users that have gone make room for a new one.  Return: NULL, logged. */
static struct view *view_obtain(struct sx_server *server, uid_t uid)
{
    SX_LIST_EACH(it, &server->memberships.views) {
        struct view *const view = SX_LIST_ENTRY(it, struct view, link);

        if (view->uid == uid) {
            return view;
        }
    }
    SX_LIST_EACH(it, &server->memberships.views) {
        struct view *const view = SX_LIST_ENTRY(it, struct view, link);

        if (!is_here(server, view->uid)) {
            view_free(view);
        }
    }
    return view_new(server, uid);
}

bool sx_memberships_fill(struct sx_server *server, uid_t uid, uint64_t units, uint64_t *ret_units)
{
    const struct sx_memberships *const all = &server->memberships;
    struct view *const view = sx_memberships_see_all(uid) ? NULL : view_obtain(server, uid);
    uint64_t looks = 0;

    while (view != NULL && view->filled < all->slot_count && looks < units * LOOKS_PER_UNIT) {
        const struct sx_membership_entry *const entry = all->slots[view->filled++].entry;

        looks++;
        if (entry != NULL) {
            view_update(server, view, entry);
            looks += entry->published.head.nspace_count +
                     entry->published.size_bytes / BYTES_PER_LOOK;
        }
    }
    *ret_units = looks / LOOKS_PER_UNIT;
    if (view != NULL && view->filled >= all->slot_count) {
        view->filled = UINT32_MAX;
    }
    return view == NULL || view->filled == UINT32_MAX;
}

const struct sx_store *sx_memberships_store(struct sx_server *server, uid_t uid)
{
    const struct sx_memberships *const all = &server->memberships;
    uint64_t units;

    if (sx_memberships_see_all(uid)) {
        return all->has_store ? &all->store.view : NULL;
    }
    const struct view *const view = view_obtain(server, uid);

    (void)sx_memberships_fill(server, uid, UINT64_MAX / LOOKS_PER_UNIT, &units);
    return view != NULL ? &view->store.view : NULL;
}

uint32_t sx_memberships_count(struct sx_server *server, uid_t uid, enum sx_membership_kind kind)
{
    const struct view *const view = sx_memberships_see_all(uid) ? NULL : view_obtain(server, uid);

    return sx_memberships_see_all(uid) ? server->memberships.kind_counts[kind]
           : view != NULL              ? view->kind_counts[kind]
                                       : 0;
}

pmix_status_t sx_memberships_share(struct sx_server *server, uid_t uid, int *ret_fd)
{
    const pmix_status_t rc = sx_memberships_see_all(uid) ? sx_memberships_open(server)
                                                         : PMIX_SUCCESS;
    const struct sx_store *const store = rc == PMIX_SUCCESS ? sx_memberships_store(server, uid)
                                                            : NULL;

    if (store == NULL) {
        return rc == PMIX_SUCCESS ? PMIX_ERR_OUT_OF_RESOURCE : rc;
    }
    return sx_segment_share(&store->seg, ret_fd);
}

void sx_memberships_shown_update(struct sx_server *server, struct sx_membership_entry *entry)
{
    SX_LIST_EACH(it, &server->memberships.views) {
        view_update(server, SX_LIST_ENTRY(it, struct view, link), entry);
    }
}

void sx_memberships_shown_remove(struct sx_server *server, struct sx_membership_entry *entry)
{
    SX_LIST_EACH(it, &server->memberships.views) {
        view_withdraw(SX_LIST_ENTRY(it, struct view, link), entry);
    }
}

void sx_memberships_shown_deinit(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->memberships.views) {
        view_free(SX_LIST_ENTRY(it, struct view, link));
    }
}
