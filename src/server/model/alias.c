/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* alias.c - look a name up among the lists, and go through its members. */
#include "server/model/membership.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/status.h"
#include "base/value/value.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

#define SPACE_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* the order counts */
#define NAMES_PER_UNIT 4u                         /* that are looked up: share.h */
#define PROCS_PER_UNIT 64u                        /* that they stand for */
#define PIECES_FIRST 16u

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
    pmix_proc_t one;

    if (proc->rank != PMIX_RANK_WILDCARD) {
        const pmix_status_t rc = sx_alias_one(server, uid, proc, &one);

        return rc == PMIX_SUCCESS ? each(arg, &one) : rc;
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
        return each(arg, proc);
    }
    const char *name = proc->nspace, *last = name;

    one = *proc;
    for (uint32_t rank = 0; rank < count && rc == PMIX_SUCCESS; rank++) {
        one.rank = rank;
        if (alias != NULL && sx_membership_named(alias, rank, &name, &one.rank) != PMIX_SUCCESS) {
            continue; /* there is a gap */
        }
        if (name != last) { /* the members of a namespace share its name */
            PMIx_Load_nspace(one.nspace, name);
            last = name;
        }
        rc = each(arg, &one);
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

/* Some processes of one namespace: of a membership, or of a list; all NULL: one, or all. */
struct piece {
    const char *nspace;
    const struct sx_membership *members;
    const pmix_proc_t *procs;
    const uint32_t *ranks;
    uint32_t first, count; /* of the members by namespace and rank */
    uint32_t rank;
};

struct pieces {
    struct piece *all;
    size_t count, capacity;
    size_t procs; /* that they stand for */
};

static pmix_status_t pieces_add(struct pieces *pieces, const struct piece *piece)
{
    if (piece->count > SX_ALIAS_PROCS_MAX - pieces->procs) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a list of processes stands for more than %u: name fewer groups at once",
                        SX_ALIAS_PROCS_MAX);
    }
    if (!SX_ARRAY_RESERVE(pieces->all, pieces->count, pieces->capacity, PIECES_FIRST)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pieces->all[pieces->count++] = *piece;
    pieces->procs += piece->count;
    return PMIX_SUCCESS;
}

/* All processes of a job are named by its wildcard: so the processes are few, and hosts support
 * it. */
static pmix_status_t members_add(struct sx_server *server, const struct sx_membership *alias,
                                 struct pieces *pieces)
{
    struct sx_membership_part part;
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t p = 0; rc == PMIX_SUCCESS && sx_membership_part(alias, p, &part); p++) {
        const struct sx_nspace *const nspace = sx_nspace_find(server, part.nspace);
        const bool is_whole = nspace != NULL && nspace->job_size == part.count;

        if (part.count > 0) {
            rc = pieces_add(pieces, &(struct piece){ .nspace = part.nspace,
                                                     .members = is_whole ? NULL : alias,
                                                     .first = part.first,
                                                     .count = is_whole ? 1 : part.count,
                                                     .rank = PMIX_RANK_WILDCARD });
        }
    }
    return rc;
}

/* Add what the name @proc stands for. */
static pmix_status_t name_add(struct sx_server *server, uid_t uid, const pmix_proc_t *proc,
                              bool keep_unknown, struct pieces *pieces)
{
    const struct sx_membership *const alias = sx_alias_members(server, uid, proc->nspace);
    struct piece piece = { .nspace = proc->nspace, .count = 1, .rank = proc->rank };

    if (proc->rank == PMIX_RANK_WILDCARD) {
        return members_add(server, alias, pieces);
    }
    const pmix_status_t rc = sx_membership_named(alias, proc->rank, &piece.nspace, &piece.rank);

    return rc == PMIX_SUCCESS || (rc == PMIX_ERR_NOT_FOUND && keep_unknown)
               ? pieces_add(pieces, &piece)
               : rc;
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

/* The names that stand for others are gathered in @names, so that a repeated one is searched
 * once. */
static pmix_status_t pieces_find(struct sx_server *server, uid_t uid, const pmix_proc_t *procs,
                                 size_t count, bool keep_unknown, struct sx_proc_list *names,
                                 struct pieces *pieces)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t run;

    for (size_t i = 0; rc == PMIX_SUCCESS && i < count; i += run) {
        run = run_count(&procs[i], count - i);
        if (sx_alias_members(server, uid, procs[i].nspace) == NULL) {
            rc = pieces_add(pieces, &(struct piece){ .nspace = procs[i].nspace,
                                                     .procs = &procs[i],
                                                     .count = (uint32_t)run });
        } else if (!sx_proc_list_append(names, &procs[i], run)) {
            rc = PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    sx_proc_list_sort(names);
    for (size_t i = 0; rc == PMIX_SUCCESS && i < names->count; i++) {
        rc = name_add(server, uid, &names->all[i], keep_unknown, pieces);
    }
    return rc;
}

static int pieces_order(const void *left, const void *right)
{
    return strcmp(((const struct piece *)left)->nspace, ((const struct piece *)right)->nspace);
}

static void pieces_sort(struct pieces *pieces)
{
    size_t i = 1;

    while (i < pieces->count && pieces_order(&pieces->all[i - 1], &pieces->all[i]) <= 0) {
        i++;
    }
    if (i < pieces->count) {
        qsort(pieces->all, pieces->count, sizeof(*pieces->all), pieces_order);
    }
}

/* Return: behind the last rank that was written. */
static uint32_t *ranks_write(const struct piece *piece, uint32_t *to)
{
    if (piece->ranks != NULL) {
        memcpy(to, piece->ranks, piece->count * sizeof(*to));
        return to + piece->count;
    }
    for (uint32_t i = 0; i < piece->count; i++) {
        *to++ = piece->members != NULL ? sx_membership_sorted_rank(piece->members, piece->first + i)
                : piece->procs != NULL ? piece->procs[i].rank
                                       : piece->rank;
    }
    return to;
}

/* Make the parts of @pieces, which are in order, with room for their @names.  Return: false when
 * memory is out. */
static bool parts_make(struct sx_alias_made *made, const struct pieces *pieces, char *names)
{
    struct sx_membership_part *part = made->parts;
    uint32_t *end = made->ranks;
    bool ok = true;

    for (size_t i = 0; ok && i < pieces->count; part++) {
        const char *const name = pieces->all[i].nspace;
        uint32_t *const first = end;
        const size_t size = strlen(name) + 1;

        for (; i < pieces->count && strcmp(name, pieces->all[i].nspace) == 0; i++) {
            end = ranks_write(&pieces->all[i], end);
        }
        size_t count = (size_t)(end - first);

        ok = sx_ranks_sort(first, &count);
        end = first + count;
        *part = (struct sx_membership_part){ .nspace = memcpy(names, name, size),
                                             .first = (uint32_t)(first - made->ranks),
                                             .count = (uint32_t)count };
        names += size;
    }
    made->part_count = (size_t)(part - made->parts);
    return ok;
}

/* Return: NULL when memory is out. */
static struct sx_alias_made *made_new(const struct pieces *pieces, size_t *ret_count)
{
    size_t name_bytes = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        name_bytes += strlen(pieces->all[i].nspace) + 1;
    }
    struct sx_alias_made *made = malloc(sizeof(*made) + pieces->count * sizeof(*made->parts) +
                                        pieces->procs * sizeof(*made->ranks) + name_bytes);

    if (made == NULL) {
        return NULL;
    }
    *made = (struct sx_alias_made){ .references = 1, .parts = (void *)(made + 1) };
    made->ranks = (void *)(made->parts + pieces->count);
    if (!parts_make(made, pieces, (char *)(made->ranks + pieces->procs))) {
        free(made);
        return NULL;
    }
    for (size_t i = 0; i < made->part_count; i++) {
        *ret_count += made->parts[i].count;
    }
    return made;
}

bool sx_alias_list_of(const struct sx_alias_run runs[], size_t count, struct sx_alias_list *ret)
{
    struct pieces pieces = { .all = malloc((count + 1) * sizeof(*pieces.all)), .count = count };

    *ret = (struct sx_alias_list){ .all = NULL };
    for (size_t i = 0; pieces.all != NULL && i < count; i++) {
        pieces.all[i] = (struct piece){ .nspace = runs[i].nspace,
                                        .ranks = runs[i].ranks,
                                        .count = runs[i].count };
        pieces.procs += runs[i].count;
    }
    if (pieces.all != NULL) {
        pieces_sort(&pieces);
        ret->made = made_new(&pieces, &ret->count);
    }
    free(pieces.all);
    return ret->made != NULL;
}

static pmix_status_t list_read(struct sx_server *server, struct sx_client *payer, uid_t uid,
                               pmix_proc_t *procs, size_t count, bool keep_unknown,
                               struct sx_alias_list *ret)
{
    struct sx_proc_list names = { .all = NULL };
    struct pieces pieces = { .all = NULL };

    *ret = (struct sx_alias_list){ .all = procs, .count = count };
    if (!has_alias(server, uid, procs, count)) {
        return PMIX_SUCCESS;
    }
    *ret = (struct sx_alias_list){ .all = NULL };
    pmix_status_t rc = pieces_find(server, uid, procs, count, keep_unknown, &names, &pieces);

    if (payer != NULL) {
        sx_share_charge(server, payer, count / NAMES_PER_UNIT + pieces.procs / PROCS_PER_UNIT);
    }
    if (rc == PMIX_SUCCESS) {
        pieces_sort(&pieces);
        ret->made = made_new(&pieces, &ret->count);
        rc = ret->made != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    free(pieces.all);
    sx_proc_list_clear(&names);
    return rc;
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

struct sx_alias_made *sx_alias_made_retain(struct sx_alias_made *made)
{
    if (made != NULL) {
        made->references++;
    }
    return made;
}

void sx_alias_made_release(struct sx_alias_made *made)
{
    if (made != NULL && --made->references == 0) {
        sx_pages_free(&made->names);
        free(made);
    }
}

void sx_alias_list_clear(struct sx_alias_list *list)
{
    if (list->made != NULL) {
        sx_alias_made_release(list->made);
    }
    *list = (struct sx_alias_list){ .all = NULL };
}

bool sx_alias_list_copy(struct sx_alias_list *ret, const struct sx_alias_list *list)
{
    *ret = *list;
    if (list->made != NULL) {
        (void)sx_alias_made_retain(list->made);
        return true;
    }
    ret->all = malloc((list->count + 1) * sizeof(*ret->all));
    if (ret->all != NULL) {
        memcpy(ret->all, list->all, list->count * sizeof(*ret->all));
    }
    return ret->all != NULL;
}

void sx_alias_list_free(struct sx_alias_list *copy)
{
    if (copy->made == NULL) {
        free(copy->all);
    }
    sx_alias_list_clear(copy);
}

pmix_status_t sx_alias_name(struct sx_alias_list *list, size_t *left)
{
    struct sx_alias_made *const made = list->made;
    const size_t size = list->count * sizeof(*list->all);

    if (list->all != NULL || list->count == 0) {
        return PMIX_SUCCESS;
    }
    if (made->names.at == NULL && !sx_pages_grow(&made->names, 0, size)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_proc_t *const names = (pmix_proc_t *)(void *)made->names.at;

    for (; made->named<list->count && * left> 0; made->named++, (*left)--) {
        const struct sx_membership_part *part = &made->parts[made->named_parts];

        if (made->named == part->first + part->count) {
            part = &made->parts[++made->named_parts];
        }
        PMIx_Load_procid(&names[made->named], part->nspace, made->ranks[made->named]);
    }
    if (made->named < list->count) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    list->all = names;
    return PMIX_SUCCESS;
}

/* Searches for clients among ranks cost less than a look at each rank. */
#define LOOKS_PER_SEARCH 16u

static bool has_rank(const uint32_t *ranks, size_t count, uint32_t rank)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (ranks[mid] < rank) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < count && ranks[low] == rank;
}

bool sx_alias_skip(struct sx_alias_walk *walk, struct sx_client *const clients[],
                   size_t client_count, size_t *ret_count, size_t *ret_here)
{
    const struct sx_alias_made *const made = walk->list->made;
    const struct sx_membership_part *const part = made != NULL ? &made->parts[walk->part - 1]
                                                               : NULL;
    size_t here = 0;

    if (part == NULL || client_count > part->count / LOOKS_PER_SEARCH ||
        made->ranks[part->first + part->count - 1] == PMIX_RANK_WILDCARD) {
        return false;
    }
    for (size_t i = 0; i < client_count; i++) {
        here += has_rank(&made->ranks[part->first], part->count, clients[i]->rank);
    }
    walk->next = walk->part_end;
    *ret_count = part->count;
    *ret_here = here;
    return true;
}

static const char *name_at(const struct sx_alias_list *list, size_t index)
{
    return list->made != NULL ? list->made->parts[index].nspace : list->all[index].nspace;
}

/* Return: a process of @nspace, or its part of a list that was made; SIZE_MAX: there is none. */
static size_t name_find(const struct sx_alias_list *list, const char *nspace)
{
    size_t low = 0, high = list->made != NULL ? list->made->part_count : list->count;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const int order = strcmp(name_at(list, mid), nspace);

        if (order == 0) {
            return mid;
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return SIZE_MAX;
}

bool sx_alias_made_has(const struct sx_alias_list *list, const char *nspace, uint32_t rank)
{
    const size_t i = name_find(list, nspace);
    const struct sx_membership_part *const part = i != SIZE_MAX ? &list->made->parts[i] : NULL;

    return part != NULL && has_rank(&list->made->ranks[part->first], part->count, rank);
}

bool sx_alias_list_names(const struct sx_alias_list *list, const char *nspace)
{
    return name_find(list, nspace) != SIZE_MAX;
}

bool sx_alias_list_has_all(const struct sx_alias_list *list, const char *nspace)
{
    const struct sx_alias_made *const made = list->made;
    size_t i = 0;

    if (made != NULL) { /* the wildcard is the last of its part */
        i = name_find(list, nspace);
        return i != SIZE_MAX &&
               made->ranks[made->parts[i].first + made->parts[i].count - 1] == PMIX_RANK_WILDCARD;
    }
    while (i < list->count &&
           (list->all[i].rank != PMIX_RANK_WILDCARD || strcmp(list->all[i].nspace, nspace) != 0)) {
        i++;
    }
    return i < list->count;
}

/* ---- two of them ----------------------------------------------------------------------------- */

bool sx_alias_made_are_equal(const struct sx_alias_list *left, const struct sx_alias_list *right)
{
    struct sx_alias_walk here = { .list = left }, there = { .list = right };
    bool are = left->count == right->count;

    while (are && sx_alias_next(&here) && sx_alias_next(&there)) {
        are = here.rank == there.rank &&
              ((!here.is_new && !there.is_new) || strcmp(here.nspace, there.nspace) == 0);
    }
    return are;
}

uint64_t sx_alias_made_hash(const struct sx_alias_list *list, uint64_t seed)
{
    const struct sx_alias_made *const made = list->made;
    uint64_t hash = seed;

    for (size_t i = 0; i < made->part_count; i++) {
        const struct sx_membership_part *const part = &made->parts[i];

        hash = sx_ranks_hash(part->nspace, &made->ranks[part->first], part->count, true, hash);
    }
    return hash;
}
