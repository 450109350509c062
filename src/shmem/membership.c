/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.c - the record of a named list of processes: written once, read by its offsets.
 *
 * A reader judges the head when it opens a record, and each further offset before it follows it, so
 * that a record that contradicts itself causes PMIX_ERR_UNPACK_FAILURE and nothing worse.  Reading
 * a member is O(1).  Finding a process takes two binary searches; the second begins at the place of
 * the process in a list without gaps. */
#include "shmem/membership.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/pages.h"
#include "base/util.h"

/* ---- places in a record --------------------------------------------------------------------- */

struct parts {
    uint64_t nspaces, places, index, names;
};

static struct parts parts_of(const struct sx_membership_head *head)
{
    struct parts at = { .nspaces = sizeof(*head) };

    at.places = at.nspaces + head->nspace_count * sizeof(struct sx_membership_nspace);
    at.index = at.places + head->member_count * sizeof(struct sx_membership_place);
    at.names = at.index + head->index_count * sizeof(uint32_t);
    return at;
}

static const struct sx_membership_nspace *nspace_at(const struct sx_membership *membership,
                                                    uint32_t index)
{
    const void *const all = membership->bytes + parts_of(&membership->head).nspaces;

    return (const struct sx_membership_nspace *)all + index;
}

static const struct sx_membership_place *place_at(const struct sx_membership *membership,
                                                  uint32_t index)
{
    const void *const all = membership->bytes + parts_of(&membership->head).places;

    return (const struct sx_membership_place *)all + index;
}

/* Return: the name of @len bytes, at most @max, at @off; NULL when it is invalid. */
static const char *name_at(const struct sx_membership *membership, uint32_t off, uint32_t len,
                           uint32_t max)
{
    if (len == 0 || len > max || !sx_range_fits(off, (uint64_t)len + 1, membership->size_bytes) ||
        membership->bytes[off + len] != '\0') {
        return NULL;
    }
    return (const char *)membership->bytes + off;
}

/* ---- readers -------------------------------------------------------------------------------- */

pmix_status_t sx_membership_open(const void *bytes, size_t size_bytes, struct sx_membership *ret)
{
    struct sx_membership membership = { .bytes = bytes, .size_bytes = size_bytes };
    struct sx_membership_head *const head = &membership.head;

    if (bytes == NULL || (uintptr_t)bytes % 8 != 0 || size_bytes < sizeof(*head)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(head, bytes, sizeof(*head));
    if (parts_of(head).names > size_bytes || head->index_count > head->member_count ||
        name_at(&membership, head->name_off, head->name_len, sx_membership_name_max(head->kind)) ==
            NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret = membership;
    return PMIX_SUCCESS;
}

pmix_status_t sx_membership_find(const struct sx_store *store, enum sx_realm realm,
                                 const char *name, size_t name_len, struct sx_membership *ret)
{
    struct sx_item item;
    const pmix_status_t rc = sx_store_read(store, sx_store_column(store, realm, name, name_len),
                                           SX_ROW_JOB, &item);

    return rc == PMIX_SUCCESS ? sx_membership_open(item.body, item.cell.len, ret) : rc;
}

/* The one whose name is in @row. */
static pmix_status_t membership_at(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                                   struct sx_membership *ret)
{
    struct sx_item item;
    const pmix_status_t rc = sx_store_find(store, realm, row, SX_MEMBERSHIP_ROWS, &item);

    if (rc == PMIX_SUCCESS && (item.cell.type != PMIX_STRING || item.cell.len < 2)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    return rc == PMIX_SUCCESS ? sx_membership_find(store, realm, item.body, item.cell.len - 1, ret)
                              : rc;
}

pmix_status_t sx_membership_of(const struct sx_store *store, uint64_t subject,
                               struct sx_membership *ret)
{
    struct sx_membership found;
    pmix_status_t rc = subject == 0 ? PMIX_ERR_NOT_FOUND
                                    : membership_at(store, SX_REALM_MEMBERS,
                                                    sx_membership_row(subject), &found);

    if (rc == PMIX_SUCCESS && found.head.subject != subject) {
        rc = PMIX_ERR_NOT_FOUND;
    }
    if (rc == PMIX_SUCCESS) {
        *ret = found;
    }
    return rc;
}

pmix_status_t sx_membership_next(const struct sx_store *store, enum sx_realm realm, uint32_t *row,
                                 struct sx_membership *ret)
{
    const sx_column names = sx_store_column(store, realm, SX_MEMBERSHIP_ROWS,
                                            sizeof(SX_MEMBERSHIP_ROWS) - 1);
    pmix_status_t rc;

    do { /* a list may be removed between the two reads, and its name return in another row */
        rc = sx_store_row_next(store, names, *row, row);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        rc = membership_at(store, realm, (*row)++, ret);
    } while (rc == PMIX_ERR_NOT_FOUND ||
             (rc == PMIX_SUCCESS && sx_membership_row(ret->head.subject) != *row - 1));
    return rc;
}

const char *sx_membership_name(const struct sx_membership *membership)
{
    return (const char *)membership->bytes + membership->head.name_off;
}

/* Return: as sx_membership_member; the name of @ret_len bytes. */
static pmix_status_t member_find(const struct sx_membership *membership, uint32_t rank,
                                 const char **ret_nspace, uint32_t *ret_len, uint32_t *ret_rank)
{
    if (rank >= membership->head.member_count) {
        return PMIX_ERR_NOT_FOUND;
    }
    const struct sx_membership_place place = *place_at(membership, rank);

    if (place.nspace == SX_MEMBERSHIP_GAP) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (place.nspace >= membership->head.nspace_count) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const struct sx_membership_nspace nspace = *nspace_at(membership, place.nspace);
    const char *const name = name_at(membership, nspace.name_off, nspace.name_len, PMIX_MAX_NSLEN);

    if (name == NULL) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_nspace = name;
    *ret_len = nspace.name_len;
    *ret_rank = place.rank;
    return PMIX_SUCCESS;
}

pmix_status_t sx_membership_member(const struct sx_membership *membership, uint32_t rank,
                                   pmix_proc_t *ret)
{
    const char *name;
    uint32_t len;
    const pmix_status_t rc = member_find(membership, rank, &name, &len, &ret->rank);

    if (rc == PMIX_SUCCESS) {
        memcpy(ret->nspace, name, len);
        memset(ret->nspace + len, 0, sizeof(ret->nspace) - len);
    }
    return rc;
}

pmix_status_t sx_membership_named(const struct sx_membership *membership, uint32_t rank,
                                  const char **ret_nspace, uint32_t *ret_rank)
{
    uint32_t len;

    return member_find(membership, rank, ret_nspace, &len, ret_rank);
}

bool sx_membership_part(const struct sx_membership *membership, uint32_t index,
                        struct sx_membership_part *ret)
{
    if (index >= membership->head.nspace_count) {
        return false;
    }
    const struct sx_membership_nspace nspace = *nspace_at(membership, index);

    *ret = (struct sx_membership_part){ .nspace = name_at(membership, nspace.name_off,
                                                          nspace.name_len, PMIX_MAX_NSLEN),
                                        .first = nspace.index_first,
                                        .count = nspace.index_count };
    return ret->nspace != NULL &&
           sx_range_fits(ret->first, ret->count, membership->head.index_count);
}

static const uint32_t *index_at(const struct sx_membership *membership, uint32_t index)
{
    const void *const all = membership->bytes + parts_of(&membership->head).index;

    return (const uint32_t *)all + index;
}

/* Return: the rank in its namespace of the member at @place; PMIX_RANK_INVALID, which no process
 * has and which is above all others, when there is no such place. */
static uint32_t rank_at(const struct sx_membership *membership, uint32_t place)
{
    return place < membership->head.member_count ? place_at(membership, place)->rank
                                                 : PMIX_RANK_INVALID;
}

uint32_t sx_membership_sorted_rank(const struct sx_membership *membership, uint32_t index)
{
    return index < membership->head.index_count ? rank_at(membership, *index_at(membership, index))
                                                : PMIX_RANK_INVALID;
}

/* Return: false when no part has that name, or its bytes are not a name. */
static bool part_find(const struct sx_membership *membership, const char *wanted,
                      struct sx_membership_part *ret)
{
    uint32_t low = 0, high = membership->head.nspace_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (!sx_membership_part(membership, middle, ret)) {
            return false;
        }
        const int order = strcmp(ret->nspace, wanted);

        if (order == 0) {
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

uint32_t sx_membership_rank(const struct sx_membership *membership, const char *nspace,
                            uint32_t rank)
{
    struct sx_membership_part part;

    if (!PMIX_RANK_IS_VALID(rank) || !part_find(membership, nspace, &part) || part.count == 0) {
        return PMIX_RANK_INVALID;
    }
    const uint32_t *const index = index_at(membership, part.first);
    const uint32_t first = rank_at(membership, index[0]);
    uint32_t low = 0, high = part.count;

    /* They ascend: @rank stands at most so far behind the first one, and there if all between are
     * members too. */
    if (rank - first < high) {
        high = rank - first + 1;
    }
    for (uint32_t at = high - 1; low < high; at = low + (high - low) / 2) {
        const uint32_t found = rank_at(membership, index[at]);

        if (found == rank) {
            return index[at];
        }
        if (found < rank) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    return PMIX_RANK_INVALID;
}

uint32_t sx_membership_count_of(const struct sx_membership *membership, const char *nspace)
{
    struct sx_membership_part part;

    return part_find(membership, nspace, &part) ? part.count : 0;
}

/* ---- the writer ----------------------------------------------------------------------------- */

static int procs_order(const void *a, const void *b)
{
    const pmix_proc_t *const left = *(const pmix_proc_t *const *)a;
    const pmix_proc_t *const right = *(const pmix_proc_t *const *)b;
    const int order = strcmp(left->nspace, right->nspace);

    return order != 0 ? order : left->rank < right->rank ? -1 : left->rank > right->rank;
}

/* As members mostly are. */
static bool are_in_order(const pmix_proc_t *const *procs, uint32_t count)
{
    uint32_t i = 1;

    while (i < count && procs_order(&procs[i - 1], &procs[i]) < 0) {
        i++;
    }
    return i >= count;
}

static bool is_name(const char *name, size_t max)
{
    const size_t len = strnlen(name, max + 1);

    return len > 0 && len <= max;
}

/* The members among @procs, without the gaps, by namespace and rank, and what the record will hold
 * of them.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM. */
static pmix_status_t members_sort(const pmix_proc_t *procs, size_t proc_count,
                                  const pmix_proc_t **sorted, struct sx_membership_head *head,
                                  size_t *name_bytes)
{
    for (size_t i = 0; i < proc_count; i++) {
        if (procs[i].rank == PMIX_RANK_INVALID) {
            continue;
        }
        if (!PMIX_RANK_IS_VALID(procs[i].rank) || !is_name(procs[i].nspace, PMIX_MAX_NSLEN)) {
            return PMIX_ERR_BAD_PARAM;
        }
        sorted[head->index_count++] = &procs[i];
    }
    if (!are_in_order(sorted, head->index_count)) {
        qsort(sorted, head->index_count, sizeof(sorted[0]), procs_order);
    }
    for (uint32_t i = 0; i < head->index_count; i++) {
        if (i > 0 && procs_order(&sorted[i - 1], &sorted[i]) == 0) {
            return PMIX_ERR_BAD_PARAM;
        }
        if (i == 0 || strcmp(sorted[i - 1]->nspace, sorted[i]->nspace) != 0) {
            head->nspace_count++;
            *name_bytes += strlen(sorted[i]->nspace) + 1;
        }
    }
    return PMIX_SUCCESS;
}

static uint32_t name_put(uint8_t *bytes, uint64_t *end, const char *name)
{
    const uint32_t off = (uint32_t)*end;
    const size_t len = strlen(name);

    memcpy(bytes + off, name, len + 1);
    *end += len + 1;
    return off;
}

/* Fill zeroed @bytes, whose head is there but for the place of the name. */
static void record_fill(uint8_t *bytes, const char *name, const pmix_proc_t *procs,
                        const pmix_proc_t *const *sorted)
{
    struct sx_membership_head *const head = (void *)bytes;
    const struct parts at = parts_of(head);
    struct sx_membership_nspace *const nspaces = (void *)(bytes + at.nspaces);
    struct sx_membership_place *const places = (void *)(bytes + at.places);
    uint32_t *const index = (void *)(bytes + at.index);
    uint64_t end = at.names;
    uint32_t nspace = 0;

    head->name_len = (uint32_t)strlen(name);
    head->name_off = name_put(bytes, &end, name);
    for (uint32_t i = 0; i < head->member_count; i++) {
        places[i] = (struct sx_membership_place){ SX_MEMBERSHIP_GAP, PMIX_RANK_INVALID };
    }
    for (uint32_t i = 0; i < head->index_count; i++) {
        const bool is_next = i > 0 && strcmp(sorted[i - 1]->nspace, sorted[i]->nspace) != 0;

        nspace += is_next;
        if (i == 0 || is_next) {
            nspaces[nspace].name_len = (uint32_t)strlen(sorted[i]->nspace);
            nspaces[nspace].name_off = name_put(bytes, &end, sorted[i]->nspace);
            nspaces[nspace].index_first = i;
        }
        nspaces[nspace].index_count++;
        index[i] = (uint32_t)(sorted[i] - procs);
        places[index[i]] = (struct sx_membership_place){ nspace, sorted[i]->rank };
    }
}

pmix_status_t sx_membership_encode(const struct sx_membership_head *template, const char *name,
                                   const pmix_proc_t *procs, size_t proc_count, void **ret_bytes,
                                   size_t *ret_size)
{
    struct sx_membership_head head = *template;
    size_t name_bytes = 0;

    if (!is_name(name, sx_membership_name_max(head.kind)) ||
        proc_count > SX_MEMBERSHIP_MEMBERS_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_proc_t **const sorted = malloc((proc_count + 1) * sizeof(const pmix_proc_t *));

    if (sorted == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    head.member_count = (uint32_t)proc_count;
    head.nspace_count = head.index_count = 0;
    pmix_status_t rc = members_sort(procs, proc_count, sorted, &head, &name_bytes);

    if (rc == PMIX_SUCCESS) {
        const size_t size = parts_of(&head).names + strlen(name) + 1 + name_bytes;
        uint8_t *const bytes = calloc(1, size);

        rc = bytes == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
        if (bytes != NULL) {
            memcpy(bytes, &head, sizeof(head));
            record_fill(bytes, name, procs, sorted);
            *ret_bytes = bytes;
            *ret_size = size;
        }
    }
    free(sorted);
    return rc;
}

/* As record_fill. */
static void record_fill_sorted(uint8_t *bytes, const char *name,
                               const struct sx_membership_part parts[], const uint32_t ranks[])
{
    struct sx_membership_head *const head = (void *)bytes;
    const struct parts at = parts_of(head);
    struct sx_membership_nspace *const nspaces = (void *)(bytes + at.nspaces);
    struct sx_membership_place *const places = (void *)(bytes + at.places);
    uint32_t *const index = (void *)(bytes + at.index);
    uint64_t end = at.names;

    head->name_len = (uint32_t)strlen(name);
    head->name_off = name_put(bytes, &end, name);
    for (uint32_t p = 0; p < head->nspace_count; p++) {
        const struct sx_membership_part *const part = &parts[p];

        nspaces[p].name_len = (uint32_t)strlen(part->nspace);
        nspaces[p].name_off = name_put(bytes, &end, part->nspace);
        nspaces[p].index_first = part->first;
        nspaces[p].index_count = part->count;
        for (uint32_t i = part->first; i < part->first + part->count; i++) {
            index[i] = i;
            places[i] = (struct sx_membership_place){ p, ranks[i] };
        }
    }
}

/* Return: PMIX_SUCCESS, and *ret_count is how many members there are, or PMIX_ERR_BAD_PARAM. */
static pmix_status_t parts_judge(const struct sx_membership_part parts[], size_t part_count,
                                 const uint32_t ranks[], size_t *ret_count, size_t *name_bytes)
{
    size_t count = 0;

    for (size_t p = 0; p < part_count; p++) {
        const struct sx_membership_part *const part = &parts[p];

        if (part->first != count || part->count == 0 || !is_name(part->nspace, PMIX_MAX_NSLEN) ||
            (p > 0 && strcmp(parts[p - 1].nspace, part->nspace) >= 0)) {
            return PMIX_ERR_BAD_PARAM;
        }
        count += part->count;
        for (size_t i = part->first; i < count; i++) {
            if (!PMIX_RANK_IS_VALID(ranks[i]) || (i > part->first && ranks[i - 1] >= ranks[i])) {
                return PMIX_ERR_BAD_PARAM;
            }
        }
        *name_bytes += strlen(part->nspace) + 1;
    }
    *ret_count = count;
    return PMIX_SUCCESS;
}

pmix_status_t sx_membership_encode_sorted(const struct sx_membership_head *template,
                                          const char *name, const struct sx_membership_part parts[],
                                          size_t part_count, const uint32_t ranks[],
                                          void **ret_bytes, size_t *ret_size)
{
    struct sx_membership_head head = *template;
    size_t name_bytes = 0, count;

    if (!is_name(name, sx_membership_name_max(head.kind)) ||
        parts_judge(parts, part_count, ranks, &count, &name_bytes) != PMIX_SUCCESS ||
        count > SX_MEMBERSHIP_MEMBERS_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    head.member_count = head.index_count = (uint32_t)count;
    head.nspace_count = (uint32_t)part_count;
    const size_t size = parts_of(&head).names + strlen(name) + 1 + name_bytes;
    uint8_t *const bytes = sx_pages_malloc(size);

    if (bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(bytes, &head, sizeof(head));
    record_fill_sorted(bytes, name, parts, ranks);
    *ret_bytes = bytes;
    *ret_size = size;
    return PMIX_SUCCESS;
}

/* The names stay where they are: their offsets are in the record. */
void sx_membership_strike(void *bytes, uint32_t rank)
{
    struct sx_membership_head *const head = bytes;
    const struct parts at = parts_of(head);
    struct sx_membership_nspace *const nspaces = (void *)((uint8_t *)bytes + at.nspaces);
    struct sx_membership_place *const place = (void *)((uint8_t *)bytes + at.places);
    uint32_t *const index = (void *)((uint8_t *)bytes + at.index);
    const uint32_t nspace = place[rank].nspace;
    uint32_t i = nspaces[nspace].index_first;

    while (index[i] != rank) {
        i++;
    }
    memmove(&index[i], &index[i + 1], (head->index_count - i - 1) * sizeof(index[0]));
    head->index_count--;
    nspaces[nspace].index_count--;
    for (uint32_t next = nspace + 1; next < head->nspace_count; next++) {
        nspaces[next].index_first--;
    }
    place[rank] = (struct sx_membership_place){ SX_MEMBERSHIP_GAP, PMIX_RANK_INVALID };
}

pmix_status_t sx_membership_publish(struct sx_store_writer *writer, const void *bytes, size_t size)
{
    const struct sx_membership_head *const head = bytes;
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = (uint32_t)size };

    return sx_store_put_flat(writer, sx_membership_realm(head->kind), SX_ROW_JOB,
                             (const char *)bytes + head->name_off, PMIX_SCOPE_UNDEF, &cell, bytes);
}

pmix_status_t sx_membership_enter(struct sx_store_writer *writer, enum sx_realm realm,
                                  uint64_t subject, const char *name)
{
    const struct sx_cell cell = { .type = PMIX_STRING, .len = (uint32_t)strlen(name) + 1 };

    return sx_store_put_flat(writer, realm, sx_membership_row(subject), SX_MEMBERSHIP_ROWS,
                             PMIX_SCOPE_UNDEF, &cell, name);
}

void sx_membership_withdraw(struct sx_store_writer *writer, enum sx_realm realm, uint64_t subject,
                            const char *name)
{
    (void)sx_store_unset(writer, realm, SX_ROW_JOB, name);
    (void)sx_store_unset(writer, realm, sx_membership_row(subject), SX_MEMBERSHIP_ROWS);
}
