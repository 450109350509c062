/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published_store.c - a store for each user, and which keys are in it. */
#include "server/model/published.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/status.h"
#include "server/model/numa.h"

struct user {
    struct sx_list link; /* published.users */
    uid_t uid;
    struct sx_store_writer store;
};

/* ---- what is in it --------------------------------------------------------------------------- */

static bool is_plain(const struct sx_published_row *row)
{
    return row->terms == NULL && row->persistence != PMIX_PERSIST_FIRST_READ &&
           row->range != PMIX_RANGE_PROC_LOCAL;
}

/* Add the value of @row after older ones.  Return: false when there is no room. */
static bool shown_add(struct sx_published_shown shown[], size_t *count,
                      const struct sx_published_row *row)
{
    size_t at = *count;

    if (at == SX_PUBLISHED_ENTRIES_MAX) {
        return false;
    }
    for (; at > 0 && shown[at - 1].serial > row->serial; at--) {
        shown[at] = shown[at - 1];
    }
    shown[at] = (struct sx_published_shown){ .by = &row->publisher->party.who,
                                             .serial = row->serial,
                                             .range = row->range,
                                             .value = &row->info.value };
    (*count)++;
    return true;
}

static void key_show(struct sx_published *all, struct user *user, const char *key)
{
    struct sx_published_shown shown[SX_PUBLISHED_ENTRIES_MAX];
    struct sx_published_row *row = NULL;
    bool is_notified = true; /* by the record: it has all that this user's processes may see */
    size_t count = 0;

    while (is_notified && (row = sx_published_next(all, key, row)) != NULL) {
        if (row->publisher->party.uid == user->uid) {
            is_notified = is_plain(row) && shown_add(shown, &count, row);
        } else {
            is_notified = !sx_published_is_open(row);
        }
    }
    const pmix_status_t rc = sx_published_show(&user->store, key, shown, is_notified ? count : 0);

    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_INFO, "no room to show what is published as \"%.64s\": who looks it up asks",
               key);
    }
}

/* A record reveals nothing to other users without access to the row. */
static void row_refresh(struct sx_published *all, const struct sx_published_row *row)
{
    const bool is_open = sx_published_is_open(row);

    SX_LIST_EACH(it, &all->users) {
        struct user *const user = SX_LIST_ENTRY(it, struct user, link);

        if (is_open || user->uid == row->publisher->party.uid) {
            key_show(all, user, row->info.key);
        }
    }
}

/* ---- users with a store ---------------------------------------------------------------------- */

/* Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE; as sx_store_create. */
static pmix_status_t user_new(struct sx_published *all, const struct sx_numa *numa, uid_t uid,
                              struct user **ret)
{
    const struct sx_placement placement = sx_numa_place(numa, SX_SEGMENT_STORE, 0);
    const struct sx_store_options options = { .nspace = SX_PUBLISHED_NSPACE,
                                              .placement = &placement };

    if (all->user_count >= SX_PUBLISHED_USERS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE; /* the processes ask the server, as before */
    }
    struct user *const user = calloc(1, sizeof(*user));
    const pmix_status_t rc = user == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                          : sx_store_create(&user->store, &options);

    if (rc != PMIX_SUCCESS) {
        free(user);
        return rc;
    }
    user->uid = uid;
    sx_list_append(&all->users, &user->link);
    all->user_count++;
    all->changed = row_refresh;
    SX_LIST_EACH(publisher_it, &all->publishers) {
        const struct sx_publisher *const publisher = SX_LIST_ENTRY(publisher_it,
                                                                   struct sx_publisher, link);

        if (publisher->party.uid == uid) {
            SX_LIST_EACH(it, &publisher->rows) {
                key_show(all, user, SX_LIST_ENTRY(it, struct sx_published_row, link)->info.key);
            }
        }
    }
    *ret = user;
    return PMIX_SUCCESS;
}

pmix_status_t sx_published_share(struct sx_published *all, const struct sx_numa *numa, uid_t uid,
                                 const struct sx_publish_who *asker, int *ret_fd)
{
    pmix_status_t rc = PMIX_SUCCESS;
    struct user *user = NULL;

    SX_LIST_EACH(it, &all->users) {
        struct user *const other = SX_LIST_ENTRY(it, struct user, link);

        user = other->uid == uid ? other : user;
    }
    if (user == NULL) {
        rc = user_new(all, numa, uid, &user);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_published_session_show(&user->store, asker->proc.nspace, asker->session);
    }
    return rc == PMIX_SUCCESS ? sx_segment_share(&user->store.view.seg, ret_fd) : rc;
}

void sx_published_session_notified(struct sx_published *all, const char *nspace, uint64_t session)
{
    SX_LIST_EACH(it, &all->users) {
        (void)sx_published_session_show(&SX_LIST_ENTRY(it, struct user, link)->store, nspace,
                                        session);
    }
}

void sx_published_session_over(struct sx_published *all, const char *nspace)
{
    SX_LIST_EACH(it, &all->users) {
        sx_published_session_hide(&SX_LIST_ENTRY(it, struct user, link)->store, nspace);
    }
}

void sx_published_shown_deinit(struct sx_published *all)
{
    struct sx_list *it;

    while ((it = sx_list_pop(&all->users)) != NULL) {
        struct user *const user = SX_LIST_ENTRY(it, struct user, link);

        sx_store_destroy(&user->store);
        free(user);
    }
    all->user_count = 0;
    all->changed = NULL;
}
