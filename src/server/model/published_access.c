/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* published_access.c - which process may look a published value up: its user or group has access,
 * and the ranges of the value and of the lookup hold the other side. */
#include "server/model/published.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value/value.h"

#define TARGET_COST 16u /* a search in sorted targets */

void sx_published_targets_sort(const struct sx_some_procs *targets)
{
    if (targets->count > 1) {
        qsort((pmix_proc_t *)(uintptr_t)targets->all, targets->count, sizeof(*targets->all),
              sx_proc_order);
    }
}

static bool has_target(struct sx_published *all, const struct sx_some_procs *targets,
                       const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    all->walked += TARGET_COST;
    return bsearch(&proc, targets->all, targets->count, sizeof(proc), sx_proc_order) != NULL;
}

/* As PMIx_Check_procid of each of them: a rank may be all ranks, and no namespace is any. */
static bool targets_hold(struct sx_published *all, const struct sx_some_procs *targets,
                         const pmix_proc_t *proc)
{
    const bool has_any = targets->count > 0 && targets->all[0].nspace[0] == '\0';

    return has_target(all, targets, proc->nspace, proc->rank) ||
           has_target(all, targets, proc->nspace, PMIX_RANK_WILDCARD) ||
           (has_any && (has_target(all, targets, "", proc->rank) ||
                        has_target(all, targets, "", PMIX_RANK_WILDCARD)));
}

bool sx_published_range_holds(struct sx_published *all, pmix_data_range_t range,
                              const struct sx_some_procs *targets, const struct sx_party *party,
                              const struct sx_party *other)
{
    return range == PMIX_RANGE_CUSTOM
               ? targets_hold(all, targets, &other->who.proc)
               : sx_publish_range_holds(range, targets, &party->who, &other->who);
}

static int id_order(const void *left, const void *right)
{
    const uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;

    return one < other ? -1 : one > other;
}

void sx_published_ids_sort(const pmix_data_array_t *ids)
{
    if (ids != NULL && ids->size > 1) {
        qsort(ids->array, ids->size, sizeof(uint32_t), id_order);
    }
}

static bool has_id(const pmix_data_array_t *ids, uint32_t id)
{
    return ids != NULL && ids->size > 0 &&
           bsearch(&id, ids->array, ids->size, sizeof(id), id_order) != NULL;
}

bool sx_published_has_access(const struct sx_published_row *row, const struct sx_party *asker)
{
    const struct sx_published_terms *const terms = row->terms;

    return row->publisher->party.uid == asker->uid ||
           (terms != NULL && (has_id(terms->uids, asker->uid) || has_id(terms->gids, asker->gid)));
}

const struct sx_some_procs *sx_published_targets(const struct sx_published_row *row)
{
    static const struct sx_some_procs nobody;

    return row->terms != NULL ? &row->terms->targets : &nobody;
}

bool sx_published_sees(struct sx_published *all, const struct sx_published_row *row,
                       const struct sx_party *asker, const struct sx_lookup_options *options)
{
    const struct sx_party *const party = &row->publisher->party;

    return !row->is_read && sx_published_has_access(row, asker) &&
           sx_published_range_holds(all, row->range, sx_published_targets(row), party, asker) &&
           sx_published_range_holds(all, options->range, &options->targets, asker, party);
}
