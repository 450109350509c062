/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pset.c - process sets: lists of the node's store, which the host defines and deletes.
 *
 *     define --> a list of those that are meant so far; an event
 *     a namespace is registered --> sets that mean all of it get its processes
 *     delete --> an event; no list
 *
 * Nobody leaves a set, and a rank in it stays.  All of it happens on the loop thread.  Bounded with
 * the other lists (server/model/membership.h). */
#include "server/engine/pset.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value.h"
#include "server/engine/event_made.h"
#include "server/model/membership.h"

/* ---- who is meant --------------------------------------------------------------------------- */

/* Add the processes that @proc means, as far as they are known, to @list. */
static bool meant_add(struct sx_server *server, const pmix_proc_t *proc, struct sx_proc_list *list)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);
    bool added = true;

    if (proc->rank != PMIX_RANK_WILDCARD) {
        return sx_proc_list_add(list, proc->nspace, proc->rank);
    }
    for (uint32_t rank = 0; added && nspace != NULL && rank < nspace->job_size; rank++) {
        added = sx_proc_list_add(list, nspace->name, rank);
    }
    return added;
}

/* All of @told, in order and each once.  Return: false when memory is out. */
static bool meant_list(struct sx_server *server, const struct sx_proc_list *told,
                       struct sx_proc_list *ret)
{
    bool added = true;

    for (size_t i = 0; added && i < told->count; i++) {
        added = meant_add(server, &told->all[i], ret);
    }
    sx_proc_list_sort(ret);
    return added;
}

/* The members that are there, in their places, and behind them who is meant as well now. */
static pmix_status_t set_complete(struct sx_server *server, struct sx_membership_entry *entry)
{
    const struct sx_membership *const now = &entry->published;
    struct sx_proc_list meant = { .all = NULL }, next = { .all = NULL };
    const uint32_t size = sx_membership_size(now);
    bool added = meant_list(server, &entry->told, &meant);
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;

    for (uint32_t i = 0; added && i < size; i++) {
        added = sx_membership_member(now, i, &proc) == PMIX_SUCCESS &&
                sx_proc_list_add(&next, proc.nspace, proc.rank);
    }
    for (size_t i = 0; added && i < meant.count; i++) {
        const pmix_proc_t *const one = &meant.all[i];

        added = sx_membership_rank(now, one->nspace, one->rank) != PMIX_RANK_INVALID ||
                sx_proc_list_add(&next, one->nspace, one->rank);
    }
    if (!added) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else if (next.count > size) {
        rc = sx_memberships_change(server, entry, next.all, next.count);
    }
    sx_proc_list_clear(&meant);
    sx_proc_list_clear(&next);
    return rc;
}

static bool means_all_of(const struct sx_proc_list *told, const char *nspace)
{
    size_t i = 0;

    while (i < told->count && (told->all[i].rank != PMIX_RANK_WILDCARD ||
                               (nspace != NULL && strcmp(told->all[i].nspace, nspace) != 0))) {
        i++;
    }
    return i < told->count;
}

pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_membership_entry *entry = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && (entry = sx_memberships_next(server, entry)) != NULL) {
        if (means_all_of(&entry->told, nspace->name)) {
            rc = set_complete(server, entry);
        }
    }
    return rc;
}

/* ---- the host's calls ----------------------------------------------------------------------- */

/* What the host said. */
struct definition {
    const char *name;
    struct sx_proc_list told;
};

static pmix_status_t pset_define(struct sx_server *server, void *arg)
{
    struct definition *const definition = arg;
    struct sx_proc_list meant = { .all = NULL };
    struct sx_membership_entry *entry;
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    if (meant_list(server, &definition->told, &meant)) {
        const struct sx_membership_options options = { .name = definition->name,
                                                       .kind = SX_MEMBERSHIP_PSET,
                                                       .procs = meant.all,
                                                       .proc_count = meant.count };

        rc = sx_memberships_add(server, &options, &entry);
    }
    sx_proc_list_clear(&meant);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_event_pset(server, true, definition->name, definition->told.all, definition->told.count);
    if (means_all_of(&definition->told, NULL)) {
        entry->told = definition->told;
        definition->told = (struct sx_proc_list){ .all = NULL };
    }
    return PMIX_SUCCESS;
}

/* Each must name something: "nspace", a rank or all of them. */
static bool procs_are_good(const pmix_proc_t procs[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (procs[i].nspace[0] == '\0' ||
            sx_name_len(procs[i].nspace, sizeof(procs[i].nspace)) >= sizeof(procs[i].nspace) ||
            (procs[i].rank >= SX_STORE_ROW_MAX && procs[i].rank != PMIX_RANK_WILDCARD)) {
            return false;
        }
    }
    return true;
}

static bool name_is_good(const char *name)
{
    const size_t len = name != NULL ? sx_name_len(name, SX_MEMBERSHIP_NAME_MAX + 1) : 0;

    return len > 0 && len <= SX_MEMBERSHIP_NAME_MAX;
}

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members, size_t nmembers,
                                             const char *pset_name)
{
    struct definition definition = { .name = pset_name };
    pmix_status_t rc = PMIX_SUCCESS;

    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (!name_is_good(pset_name) || members == NULL || nmembers == 0 ||
        nmembers > SX_PSET_MEMBERS_MAX || !procs_are_good(members, nmembers)) {
        return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; rc == PMIX_SUCCESS && i < nmembers; i++) {
        if (!sx_proc_list_add(&definition.told, members[i].nspace, members[i].rank)) {
            rc = PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    if (rc == PMIX_SUCCESS) {
        sx_proc_list_sort(&definition.told);
        rc = sx_server_call(sx_server_get(), pset_define, &definition);
    }
    sx_proc_list_clear(&definition.told);
    return rc;
}

static pmix_status_t pset_delete(struct sx_server *server, void *arg)
{
    struct sx_membership_entry *const entry = sx_memberships_find_set(server, arg);

    if (entry == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    pmix_proc_t *const members = sx_memberships_procs(entry);
    const bool is_told = entry->told.count > 0;

    if (members == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_event_pset(server, false, arg, is_told ? entry->told.all : members,
                  is_told ? entry->told.count : sx_membership_size(&entry->published));
    free(members);
    sx_memberships_remove(server, entry);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    return name_is_good(pset_name) ? sx_server_call(sx_server_get(), pset_delete, pset_name)
                                   : PMIX_ERR_BAD_PARAM;
}
