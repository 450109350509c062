/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* table.h - an intrusive hash table: the owner hashes, and distinguishes nodes of equal hash.
 *
 * A node lies in its owner's struct.  Adding may need memory; finding and removing never do.  An
 * owner whose keys other users choose hashes with a secret seed (sx_table_seed). */
#ifndef SX_BASE_TABLE_H
#define SX_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct sx_table_node {
    struct sx_list link;
    uint64_t hash;
};

/* Zeroed is empty. */
struct sx_table {
    struct sx_list *buckets; /* a power of two of them */
    size_t bucket_count, count;
    struct sx_list *larger; /* twice as many, while it is filled; or NULL */
    size_t split_count;     /* so many of the first buckets have been split into the larger table */
};

/* Return: another unpredictable number each time. */
uint64_t sx_table_seed(void);

/* The nodes belong to their owners; none is read. */
void sx_table_deinit(struct sx_table *table);

/* The cost does not depend on how many nodes there are.  Return: false when memory is out. */
bool sx_table_add(struct sx_table *table, struct sx_table_node *node, uint64_t hash);
/* @node is in @table. */
void sx_table_remove(struct sx_table *table, struct sx_table_node *node);
/* Put @by in the place of @node, under its hash.  It needs no memory. */
void sx_table_replace(struct sx_table_node *node, struct sx_table_node *by);

/* The nodes with @hash: the first, then the one behind @node.  Return: NULL when there is none. */
struct sx_table_node *sx_table_first(const struct sx_table *table, uint64_t hash);
struct sx_table_node *sx_table_next(const struct sx_table *table, const struct sx_table_node *node);

/* Any node, to empty a table with: of @bucket (at first 0) or a later one.  Return: NULL when there
 * is none. */
struct sx_table_node *sx_table_any(const struct sx_table *table, size_t *bucket);

#endif
