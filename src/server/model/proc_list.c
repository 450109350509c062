/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc_list.c - an array that doubles, its order, and the hash of such a list. */
#include "server/model/proc_list.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/system/pages.h"
#include "base/util.h"
#include "base/value/value.h"

#define FIRST 16u

bool sx_proc_list_add(struct sx_proc_list *list, const char *nspace, uint32_t rank)
{
    if (!SX_ARRAY_RESERVE(list->all, list->count, list->capacity, FIRST)) {
        return false;
    }
    PMIx_Load_procid(&list->all[list->count++], nspace, rank);
    return true;
}

bool sx_proc_list_reserve(struct sx_proc_list *list, size_t count)
{
    if (count <= list->capacity) {
        return true;
    }
    pmix_proc_t *const grown = list->all == NULL ? sx_pages_malloc(count * sizeof(*grown))
                                                 : realloc(list->all, count * sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    list->all = grown;
    list->capacity = count;
    return true;
}

bool sx_proc_list_append(struct sx_proc_list *list, const pmix_proc_t *procs, size_t count)
{
    const size_t twice = 2 * list->capacity, all = list->count + count;

    if (all > list->capacity && !sx_proc_list_reserve(list, twice > all ? twice : all)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        pmix_proc_t *const added = &list->all[list->count++];

        *added = procs[i];
        added->nspace[PMIX_MAX_NSLEN] = '\0';
    }
    return true;
}

/* Whether each is there once, and in order, as lists mostly are. */
static bool is_in_order(const pmix_proc_t *procs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (sx_proc_order(&procs[i - 1], &procs[i]) >= 0) {
            return false;
        }
    }
    return true;
}

/* Neighbours of one name. */
struct run {
    const char *name;
    uint32_t first, count;
};

/* The place of a process among all: its name's, then its rank. */
struct place {
    uint64_t key;
    uint32_t index;
};

static int runs_order(const void *left, const void *right)
{
    return strcmp(((const struct run *)left)->name, ((const struct run *)right)->name);
}

/* Sort by the key, a byte at a time from the lowest: bytes in which all keys are the same take no
 * time, and no order of the list takes longer than another.  @other: room for as many. */
static struct place *places_sort(struct place *places, struct place *other, size_t count)
{
    uint64_t differ = 0;

    for (size_t i = 1; i < count; i++) {
        differ |= places[0].key ^ places[i].key;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t ends[256] = { 0 }, end = 0;
        struct place *const from = places;

        if ((differ >> shift & 0xff) == 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            ends[from[i].key >> shift & 0xff]++;
        }
        for (size_t i = 0; i < SX_COUNT(ends); i++) {
            const size_t first = end;

            end += ends[i];
            ends[i] = first;
        }
        for (size_t i = 0; i < count; i++) {
            other[ends[from[i].key >> shift & 0xff]++] = from[i];
        }
        places = other;
        other = from;
    }
    return places;
}

/* Return: how many runs there are, which are in @ret. */
static size_t runs_find(const pmix_proc_t *procs, size_t proc_count, struct run *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < proc_count; i++) {
        const char *const name = procs[i].nspace;

        if (count == 0 || strcmp(ret[count - 1].name, name) != 0) {
            ret[count++] = (struct run){ .name = name, .first = (uint32_t)i };
        }
        ret[count - 1].name = name; /* the nearest one is in the cache */
        ret[count - 1].count++;
    }
    return count;
}

/* Names are compared once for a run, and then only numbers. */
static void places_find(const pmix_proc_t *procs, size_t proc_count, struct run *runs,
                        struct place *ret)
{
    const size_t run_count = runs_find(procs, proc_count, runs);
    uint64_t name = 0;
    size_t count = 0;

    qsort(runs, run_count, sizeof(*runs), runs_order);
    for (size_t r = 0; r < run_count; r++) {
        name += r > 0 && strcmp(runs[r - 1].name, runs[r].name) != 0;
        for (uint32_t i = runs[r].first; i < runs[r].first + runs[r].count; i++) {
            ret[count++] = (struct place){ .key = name << 32 | procs[i].rank, .index = i };
        }
    }
}

/* Move each process to its place: around each circle of those that stand in one another's. */
static void procs_move(pmix_proc_t *procs, struct place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t to = i;
        pmix_proc_t first;

        if (places[i].index == i) {
            continue;
        }
        first = procs[i];
        while (places[to].index != i) {
            const size_t from = places[to].index;

            procs[to] = procs[from];
            places[to].index = (uint32_t)to;
            to = from;
        }
        procs[to] = first;
        places[to].index = (uint32_t)to;
    }
}

/* Keep each process once.  A sort of places leaves equal ones in the order that the list had. */
static void procs_thin(struct sx_proc_list *list, const struct place *sorted)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (i > 0 && sorted[i - 1].key == sorted[i].key) {
            continue;
        }
        if (kept < i) {
            list->all[kept] = list->all[i];
        }
        kept++;
    }
    list->count = kept;
}

/* Return: false when memory is out; the marks for sx_proc_list_sort_marking. */
static bool repeats_mark(const struct place *sorted, size_t count, bool **ret)
{
    for (size_t i = 1; i < count; i++) {
        if (sorted[i - 1].key == sorted[i].key) {
            *ret = *ret != NULL ? *ret : calloc(count, sizeof(**ret));
            if (*ret == NULL) {
                return false;
            }
            (*ret)[sorted[i].index] = true;
        }
    }
    return true;
}

/* A process is large: places are sorted, then each process is moved once, within the list, since
 * fresh memory takes longer than that.  @repeated: NULL, or for the marks.  Return: false when
 * memory is out. */
static bool places_order(struct sx_proc_list *list, bool **repeated)
{
    const size_t count = list->count;
    struct run *const runs = malloc(count * sizeof(*runs));
    struct place *const places = malloc(2 * count * sizeof(*places));
    bool sorts = runs != NULL && places != NULL;

    if (sorts) {
        places_find(list->all, count, runs, places);
        struct place *const sorted = places_sort(places, places + count, count);

        sorts = repeated == NULL || repeats_mark(sorted, count, repeated);
        if (sorts) {
            procs_move(list->all, sorted, count);
            procs_thin(list, sorted);
        }
    }
    free(runs);
    free(places);
    return sorts;
}

void sx_proc_list_sort(struct sx_proc_list *list)
{
    size_t kept = 0;

    if (is_in_order(list->all, list->count) || places_order(list, NULL)) {
        return;
    }
    qsort(list->all, list->count, sizeof(*list->all), sx_proc_order);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || sx_proc_order(&list->all[kept - 1], &list->all[i]) != 0) {
            list->all[kept++] = list->all[i];
        }
    }
    list->count = kept;
}

bool sx_proc_list_sort_marking(struct sx_proc_list *list, bool **ret_repeated)
{
    *ret_repeated = NULL;
    return is_in_order(list->all, list->count) || places_order(list, ret_repeated);
}

/* As places_sort. */
static uint32_t *ranks_order(uint32_t *ranks, uint32_t *other, size_t count)
{
    uint32_t differ = 0;

    for (size_t i = 1; i < count; i++) {
        differ |= ranks[0] ^ ranks[i];
    }
    for (unsigned shift = 0; shift < 32; shift += 8) {
        size_t ends[256] = { 0 }, end = 0;
        uint32_t *const from = ranks;

        if ((differ >> shift & 0xff) == 0) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            ends[from[i] >> shift & 0xff]++;
        }
        for (size_t i = 0; i < SX_COUNT(ends); i++) {
            const size_t first = end;

            end += ends[i];
            ends[i] = first;
        }
        for (size_t i = 0; i < count; i++) {
            other[ends[from[i] >> shift & 0xff]++] = from[i];
        }
        ranks = other;
        other = from;
    }
    return ranks;
}

bool sx_ranks_sort(uint32_t *ranks, size_t *count)
{
    size_t i = 1, kept = 0;

    while (i < *count && ranks[i - 1] < ranks[i]) {
        i++;
    }
    if (i >= *count) {
        return true;
    }
    uint32_t *const other = malloc(*count * sizeof(*other));

    if (other == NULL) {
        return false;
    }
    const uint32_t *const sorted = ranks_order(ranks, other, *count);

    for (i = 0; i < *count; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1]) {
            ranks[kept++] = sorted[i];
        }
    }
    free(other);
    *count = kept;
    return true;
}

void sx_proc_list_clear(struct sx_proc_list *list)
{
    free(list->all);
    *list = (struct sx_proc_list){ .all = NULL };
}

/* ---- sets ------------------------------------------------------------------------------------ */

bool sx_proc_set_init(struct sx_proc_set *set, struct sx_proc_list *list, size_t most,
                      uint64_t seed)
{
    size_t size = FIRST;

    while (size < 2 * most) {
        size *= 2;
    }
    *set = (struct sx_proc_set){
        .list = list, .places = calloc(size, sizeof(*set->places)), .mask = size - 1, .seed = seed
    };
    return set->places != NULL;
}

/* Return: the place of the process, or the free one where it belongs. */
static uint32_t *set_place(const struct sx_proc_set *set, const char *nspace, uint32_t rank)
{
    size_t at = sx_proc_hash(nspace, rank, set->seed) & set->mask;

    while (set->places[at] != 0) {
        const pmix_proc_t *const proc = &set->list->all[set->places[at] - 1];

        if (proc->rank == rank && strcmp(proc->nspace, nspace) == 0) {
            break;
        }
        at = (at + 1) & set->mask;
    }
    return &set->places[at];
}

bool sx_proc_set_has(const struct sx_proc_set *set, const char *nspace, uint32_t rank)
{
    return *set_place(set, nspace, rank) != 0;
}

bool sx_proc_set_add(struct sx_proc_set *set, const char *nspace, uint32_t rank)
{
    uint32_t *const place = set_place(set, nspace, rank);

    if (!sx_proc_list_add(set->list, nspace, rank)) {
        return false;
    }
    *place = (uint32_t)set->list->count;
    return true;
}

void sx_proc_set_deinit(struct sx_proc_set *set)
{
    free(set->places);
    *set = (struct sx_proc_set){ .list = NULL };
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool sx_procs_are_equal(const pmix_proc_t *left, size_t left_count, const pmix_proc_t *right,
                        size_t right_count)
{
    size_t i = 0;

    while (left_count == right_count && i < left_count && left[i].rank == right[i].rank &&
           strcmp(left[i].nspace, right[i].nspace) == 0) {
        i++;
    }
    return left_count == right_count && i == left_count;
}

uint64_t sx_proc_hash(const char *nspace, uint32_t rank, uint64_t before)
{
    return XXH3_64bits_withSeed(nspace, strlen(nspace), before + rank);
}

/* The name is hashed once, with the first rank. */
uint64_t sx_ranks_hash(const char *nspace, const uint32_t *ranks, size_t count, bool is_first,
                       uint64_t before)
{
    uint64_t hash = is_first ? sx_proc_hash(nspace, ranks[0], before) : before;

    for (size_t i = is_first; i < count;) {
        const size_t end = i - i % SX_RANKS_HASHED + SX_RANKS_HASHED;
        const size_t part = (end < count ? end : count) - i;

        hash = XXH3_64bits_withSeed(&ranks[i], part * sizeof(*ranks), hash);
        i += part;
    }
    return hash;
}

uint64_t sx_procs_hash(const pmix_proc_t *procs, size_t count, uint64_t seed)
{
    uint32_t ranks[SX_RANKS_HASHED];
    uint64_t hash = seed;
    bool is_first = true;

    for (size_t i = 0; i < count;) {
        const char *const name = procs[i].nspace;
        size_t some = 0;

        do {
            ranks[some++] = procs[i++].rank;
        } while (some < SX_RANKS_HASHED && i < count && strcmp(name, procs[i].nspace) == 0);
        hash = sx_ranks_hash(name, ranks, some, is_first, hash);
        is_first = i < count && strcmp(name, procs[i].nspace) != 0;
    }
    return hash;
}

struct sx_procs_digest sx_procs_digest(const pmix_proc_t *procs, size_t count, uint64_t seed)
{
    XXH3_state_t state = { .seed = seed };

    XXH3_128bits_reset_withSeed(&state, seed);
    for (size_t i = 0; i < count; i++) {
        XXH3_128bits_update(&state, procs[i].nspace, strlen(procs[i].nspace) + 1);
        XXH3_128bits_update(&state, &procs[i].rank, sizeof(procs[i].rank));
    }
    const XXH128_hash_t hash = XXH3_128bits_digest(&state);

    return (struct sx_procs_digest){ { hash.low64, hash.high64 } };
}
