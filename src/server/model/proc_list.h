/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc_list.h - processes that are gathered from several places, then sorted. */
#ifndef SX_SERVER_MODEL_PROC_LIST_H
#define SX_SERVER_MODEL_PROC_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

/* Zeroed is empty. */
struct sx_proc_list {
    pmix_proc_t *all; /* owned */
    size_t count, capacity;
};

/* Return: false when memory is out, and the list is as it was. */
bool sx_proc_list_add(struct sx_proc_list *list, const char *nspace, uint32_t rank);
/* Make room for @count at once, since a long list takes long to grow. */
bool sx_proc_list_reserve(struct sx_proc_list *list, size_t count);
bool sx_proc_list_append(struct sx_proc_list *list, const pmix_proc_t *procs, size_t count);
/* In the order of sx_proc_order, each once. */
void sx_proc_list_sort(struct sx_proc_list *list);
/* The same.  *ret_repeated, for free, has a mark for each process, in the order that the list had,
 * that is the same as one before it; NULL: none is.  Return: false when memory is out, and the list
 * is as it was. */
bool sx_proc_list_sort_marking(struct sx_proc_list *list, bool **ret_repeated);
/* Safe twice. */
void sx_proc_list_clear(struct sx_proc_list *list);

/* The processes of a list in any order, found by hash. */
struct sx_proc_set {
    struct sx_proc_list *list; /* borrowed; nothing else adds to it */
    uint32_t *places;          /* of processes in the list, from 1; 0: free */
    size_t mask;
    uint64_t seed;
};
/* For up to @most processes, none yet.  @seed is secret from clients.  Return: false when memory is
 * out. */
bool sx_proc_set_init(struct sx_proc_set *set, struct sx_proc_list *list, size_t most,
                      uint64_t seed);
bool sx_proc_set_has(const struct sx_proc_set *set, const char *nspace, uint32_t rank);
/* Append to the list a process that it does not have.  Return: false when memory is out. */
bool sx_proc_set_add(struct sx_proc_set *set, const char *nspace, uint32_t rank);
/* The list stays.  Safe on a zeroed set and twice. */
void sx_proc_set_deinit(struct sx_proc_set *set);

/* Whether two lists, each in order, are the same. */
bool sx_procs_are_equal(const pmix_proc_t *left, size_t left_count, const pmix_proc_t *right,
                        size_t right_count);
/* Sort @ranks, each once.  Return: false when memory is out, and they are as they were. */
bool sx_ranks_sort(uint32_t *ranks, size_t *count);
/* Return: the hash of processes of which the last is @rank of @nspace; @before: of the others, or
 * the seed. */
uint64_t sx_proc_hash(const char *nspace, uint32_t rank, uint64_t before);
/* The same of @count processes of @nspace, with these @ranks, in one part or in parts of
 * SX_RANKS_HASHED each but the last.  @is_first: no process before is of it. */
#define SX_RANKS_HASHED 256u
uint64_t sx_ranks_hash(const char *nspace, const uint32_t *ranks, size_t count, bool is_first,
                       uint64_t before);
/* Return: a hash of the processes in this order. */
uint64_t sx_procs_hash(const pmix_proc_t *procs, size_t count, uint64_t seed);

/* It stands for a list of processes in their order: as @seed is secret, no client can write two
 * lists of the same digest. */
struct sx_procs_digest {
    uint64_t words[2];
};
struct sx_procs_digest sx_procs_digest(const pmix_proc_t *procs, size_t count, uint64_t seed);

#endif
