/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc_list.c - an array that doubles, and the hash of such a list. */
#include "server/model/proc_list.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
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

bool sx_proc_list_append(struct sx_proc_list *list, const pmix_proc_t *procs, size_t count)
{
    if (count > list->capacity - list->count) {
        pmix_proc_t *const grown = realloc(list->all, (list->count + count) * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        list->all = grown;
        list->capacity = list->count + count;
    }
    for (size_t i = 0; i < count; i++) {
        pmix_proc_t *const added = &list->all[list->count++];

        *added = procs[i];
        added->nspace[PMIX_MAX_NSLEN] = '\0';
    }
    return true;
}

/* Whether each is there once, and in order, as lists mostly are. */
static bool is_in_order(const struct sx_proc_list *list)
{
    for (size_t i = 1; i < list->count; i++) {
        if (sx_proc_order(&list->all[i - 1], &list->all[i]) >= 0) {
            return false;
        }
    }
    return true;
}

static int pointers_order(const void *left, const void *right)
{
    return sx_proc_order(*(const pmix_proc_t *const *)left, *(const pmix_proc_t *const *)right);
}

/* A process is large: pointers are sorted, and each process is copied once.  Return: false when
 * memory is out. */
static bool sort_by_pointers(struct sx_proc_list *list)
{
    const pmix_proc_t **const sorted = malloc(list->count * sizeof(*sorted));
    pmix_proc_t *const all = malloc(list->count * sizeof(*all));
    size_t kept = 0;

    if (sorted == NULL || all == NULL) {
        free(sorted);
        free(all);
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        sorted[i] = &list->all[i];
    }
    qsort(sorted, list->count, sizeof(*sorted), pointers_order);
    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || sx_proc_order(&all[kept - 1], sorted[i]) != 0) {
            all[kept++] = *sorted[i];
        }
    }
    free(sorted);
    free(list->all);
    *list = (struct sx_proc_list){ .all = all, .count = kept, .capacity = list->count };
    return true;
}

void sx_proc_list_sort(struct sx_proc_list *list)
{
    size_t kept = 0;

    if (is_in_order(list) || sort_by_pointers(list)) {
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

void sx_proc_list_clear(struct sx_proc_list *list)
{
    free(list->all);
    *list = (struct sx_proc_list){ .all = NULL };
}

bool sx_procs_are_equal(const pmix_proc_t *left, size_t left_count, const pmix_proc_t *right,
                        size_t right_count)
{
    size_t i = 0;

    while (left_count == right_count && i < left_count && sx_proc_order(&left[i], &right[i]) == 0) {
        i++;
    }
    return left_count == right_count && i == left_count;
}

uint64_t sx_procs_hash(const pmix_proc_t *procs, size_t count, uint64_t seed)
{
    uint64_t hash = seed;

    for (size_t i = 0; i < count; i++) {
        hash = XXH3_64bits_withSeed(procs[i].nspace, strlen(procs[i].nspace), hash + procs[i].rank);
    }
    return hash;
}
