/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias.c - look a name up among the lists, and go through its members. */
#include "server/model/membership.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

#define SPACE_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* the order counts */
#define PROCS_PER_UNIT 4u                         /* to copy and to sort them: share.h */

const struct sx_membership *sx_alias_members(const struct sx_server *server, uid_t uid,
                                             const char *name)
{
    const struct sx_membership_entry *const entry = sx_memberships_find_of(server, uid, name);

    return entry != NULL ? &entry->published : NULL;
}

uint64_t sx_alias_space(const struct sx_server *server, uid_t uid, const pmix_proc_t procs[],
                        size_t count)
{
    uint64_t space = 0;

    for (size_t i = 0; server->memberships.spaced_count > 0 && i < count; i++) {
        const struct sx_membership_entry *const entry =
            i == 0 || strcmp(procs[i - 1].nspace, procs[i].nspace) != 0
                ? sx_memberships_find_of(server, uid, procs[i].nspace)
                : NULL;

        if (entry != NULL && entry->space != 0) {
            space = space * SPACE_FACTOR + entry->space;
        }
    }
    return space;
}

/* All processes of a job are named by its wildcard: so the processes are few, and hosts support
 * it. */
static pmix_status_t members_each(struct sx_server *server, const struct sx_membership *alias,
                                  pmix_status_t (*each)(void *arg, const pmix_proc_t *real),
                                  void *arg)
{
    struct sx_membership_part part;
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;

    for (uint32_t p = 0; rc == PMIX_SUCCESS && sx_membership_part(alias, p, &part); p++) {
        const struct sx_nspace *const nspace = sx_nspace_find(server, part.nspace);

        if (nspace != NULL && part.count > 0 && nspace->job_size == part.count) {
            proc = sx_nspace_proc(nspace, PMIX_RANK_WILDCARD);
            rc = each(arg, &proc);
            continue;
        }
        for (uint32_t i = 0; rc == PMIX_SUCCESS && i < part.count; i++) {
            rc = sx_membership_sorted(alias, part.first + i, &proc);
            if (rc == PMIX_SUCCESS) {
                rc = each(arg, &proc);
            }
        }
    }
    return rc;
}

pmix_status_t sx_alias_each(struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                            pmix_status_t (*each)(void *arg, const pmix_proc_t *real), void *arg)
{
    const struct sx_membership *const alias = sx_alias_members(server, uid, proc->nspace);
    pmix_proc_t member;

    if (alias == NULL) {
        return each(arg, proc);
    }
    if (proc->rank == PMIX_RANK_WILDCARD) {
        return members_each(server, alias, each, arg);
    }
    const pmix_status_t rc = sx_membership_member(alias, proc->rank, &member);

    return rc == PMIX_SUCCESS ? each(arg, &member) : rc;
}

/* The host has registered some processes of the namespace, and has not given their number. */
static bool is_pending(const struct sx_nspace *nspace)
{
    return !nspace->registered && nspace->job_size == 0 &&
           (nspace->client_count == 0 || !nspace->by_rank[0]->is_tool);
}

pmix_status_t sx_alias_each_one(struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                                pmix_status_t (*each)(void *arg, const pmix_proc_t *real),
                                void *arg)
{
    if (proc->rank != PMIX_RANK_WILDCARD) {
        return sx_alias_each(server, uid, proc, each, arg);
    }
    const struct sx_membership *const alias = sx_alias_members(server, uid, proc->nspace);
    const struct sx_nspace *const nspace = alias == NULL ? sx_nspace_find(server, proc->nspace)
                                                         : NULL;
    const bool is_open = alias == NULL && (nspace == NULL || is_pending(nspace));
    const uint32_t count = alias != NULL    ? sx_membership_size(alias)
                           : nspace != NULL ? nspace->job_size
                                            : 0;
    pmix_status_t rc = PMIX_SUCCESS;

    if (is_open) {
        return sx_alias_each(server, uid, proc, each, arg);
    }
    for (uint32_t rank = 0; rank < count && rc == PMIX_SUCCESS; rank++) {
        pmix_proc_t one = *proc;

        one.rank = rank;
        if (alias == NULL || sx_membership_member(alias, rank, &one) == PMIX_SUCCESS) {
            rc = each(arg, &one); /* else there is a gap */
        }
    }
    return rc;
}

pmix_status_t sx_alias_one(struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                           pmix_proc_t *ret)
{
    const struct sx_membership *const alias = sx_alias_members(server, uid, proc->nspace);

    if (alias == NULL) {
        *ret = *proc;
        return PMIX_SUCCESS;
    }
    return sx_membership_member(alias, proc->rank, ret);
}

uint32_t sx_alias_rank(const struct sx_server *server, uid_t uid, const char *name,
                       const struct sx_client *client)
{
    const struct sx_membership *const alias = sx_alias_members(server, uid, name);
    const char *const nspace = client->nspace->name;

    if (alias != NULL) {
        return sx_membership_rank(alias, nspace, client->rank);
    }
    return strcmp(name, nspace) == 0 ? client->rank : PMIX_RANK_INVALID;
}

bool sx_alias_means(const struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                    const struct sx_client *client)
{
    const uint32_t rank = sx_alias_rank(server, uid, proc->nspace, client);

    return rank != PMIX_RANK_INVALID && (proc->rank == rank || proc->rank == PMIX_RANK_WILDCARD);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static pmix_status_t too_many(void)
{
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                    "a list of processes stands for more than %u: name fewer groups at once",
                    SX_ALIAS_PROCS_MAX);
}

static pmix_status_t made_add(void *arg, const pmix_proc_t *real)
{
    struct sx_proc_list *const made = arg;

    if (made->count == SX_ALIAS_PROCS_MAX) {
        return too_many();
    }
    return sx_proc_list_add(made, real->nspace, real->rank) ? PMIX_SUCCESS
                                                            : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Return: how many of @procs, from the first one on, have its name. */
static size_t run_count(const pmix_proc_t *procs, size_t count)
{
    size_t i = 1;

    while (i < count && strcmp(procs[i - 1].nspace, procs[i].nspace) == 0) {
        i++;
    }
    return i;
}

static bool has_alias(const struct sx_server *server, uid_t uid, const pmix_proc_t *procs,
                      size_t count)
{
    bool found = false;

    for (size_t i = 0; server->memberships.names.count > 0 && i < count && !found;
         i += run_count(&procs[i], count - i)) {
        found = sx_alias_members(server, uid, procs[i].nspace) != NULL;
    }
    return found;
}

/* Processes by their own names are copied as they are, since a long list takes long to copy.  The
 * names that stand for others are gathered, so that a repeated one is searched once. */
static pmix_status_t list_make(struct sx_server *server, uid_t uid, const pmix_proc_t *procs,
                               size_t count, bool keep_unknown, struct sx_proc_list *made)
{
    struct sx_proc_list names = { .all = NULL };
    pmix_status_t rc = sx_proc_list_reserve(made, count) ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    size_t run;

    for (size_t i = 0; rc == PMIX_SUCCESS && i < count; i += run) {
        const bool is_alias = sx_alias_members(server, uid, procs[i].nspace) != NULL;

        run = run_count(&procs[i], count - i);
        if (!is_alias && run > SX_ALIAS_PROCS_MAX - made->count) {
            rc = too_many();
        } else if (!sx_proc_list_append(is_alias ? &names : made, &procs[i], run)) {
            rc = PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    sx_proc_list_sort(&names);
    for (size_t i = 0; rc == PMIX_SUCCESS && i < names.count; i++) {
        rc = sx_alias_each(server, uid, &names.all[i], made_add, made);
        if (rc == PMIX_ERR_NOT_FOUND && keep_unknown) {
            rc = made_add(made, &names.all[i]);
        }
    }
    sx_proc_list_clear(&names);
    return rc;
}

static pmix_status_t list_read(struct sx_server *server, struct sx_client *payer, uid_t uid,
                               pmix_proc_t *procs, size_t count, bool keep_unknown,
                               struct sx_alias_list *ret)
{
    struct sx_proc_list made = { .all = NULL };

    *ret = (struct sx_alias_list){ .all = procs, .count = count };
    if (!has_alias(server, uid, procs, count)) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = list_make(server, uid, procs, count, keep_unknown, &made);

    if (payer != NULL) {
        sx_share_charge(server, payer, (count + made.count) / PROCS_PER_UNIT);
    }
    if (rc != PMIX_SUCCESS) {
        sx_proc_list_clear(&made);
        *ret = (struct sx_alias_list){ .all = NULL };
        return rc;
    }
    sx_proc_list_sort(&made);
    *ret = (struct sx_alias_list){ .all = made.all, .count = made.count, .is_made = true };
    return PMIX_SUCCESS;
}

pmix_status_t sx_alias_list(struct sx_server *server, struct sx_client *payer, uid_t uid,
                            pmix_proc_t *procs, size_t count, struct sx_alias_list *ret)
{
    return list_read(server, payer, uid, procs, count, false, ret);
}

pmix_status_t sx_alias_list_found(struct sx_server *server, struct sx_client *payer, uid_t uid,
                                  pmix_proc_t *procs, size_t count, struct sx_alias_list *ret)
{
    return list_read(server, payer, uid, procs, count, true, ret);
}

void sx_alias_list_clear(struct sx_alias_list *list)
{
    if (list->is_made) {
        free(list->all);
    }
    *list = (struct sx_alias_list){ .all = NULL };
}
