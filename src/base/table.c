/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* table.c - buckets are lists; their number doubles when there are more nodes than buckets.
 *     steady --full--> splitting --each bucket is split--> steady, with twice as many buckets
 *
 * A larger table is filled in steps, so that no addition costs more than a few nodes.  Each
 * addition splits SPLITS_PER_ADD buckets in two: bucket i of n becomes i and n + i of 2n.  Which
 * of the two tables has a hash follows from its bucket, so a search is in one list as ever. */
#include "base/table.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"

#define BUCKETS_FIRST 16u
#define SPLITS_PER_ADD 2u /* all are split when half as many nodes again are there */

uint64_t sx_table_seed(void)
{
    uint64_t seed = sx_now_ns();

    /* Without entropy (early boot) the clock has to do. */
    (void)!getrandom(&seed, sizeof(seed), GRND_NONBLOCK);
    return seed;
}

void sx_table_deinit(struct sx_table *table)
{
    free(table->buckets);
    free(table->larger);
    *table = (struct sx_table){ .buckets = NULL };
}

static struct sx_list *bucket_of(const struct sx_table *table, uint64_t hash)
{
    const size_t index = hash & (table->bucket_count - 1);

    return index < table->split_count ? &table->larger[hash & (2 * table->bucket_count - 1)]
                                      : &table->buckets[index];
}

/* Return: false when memory is out; the table is as it was. */
static bool table_begin(struct sx_table *table)
{
    table->buckets = malloc(BUCKETS_FIRST * sizeof(*table->buckets));
    if (table->buckets == NULL) {
        return false;
    }
    table->bucket_count = BUCKETS_FIRST;
    for (size_t i = 0; i < BUCKETS_FIRST; i++) {
        sx_list_init(&table->buckets[i]);
    }
    return true;
}

static void bucket_split(struct sx_table *table)
{
    struct sx_list *const from = &table->buckets[table->split_count];

    /* Only these two are initialised: the rest of the larger table costs nothing yet. */
    sx_list_init(&table->larger[table->split_count]);
    sx_list_init(&table->larger[table->bucket_count + table->split_count]);
    table->split_count++; /* from here on bucket_of leads to the two */
    SX_LIST_EACH(it, from) {
        sx_list_remove(it);
        sx_list_append(bucket_of(table, SX_LIST_ENTRY(it, struct sx_table_node, link)->hash), it);
    }
}

/* Go on with the larger table, or begin it.  Without memory for it the table gets slower. */
static void table_grow(struct sx_table *table)
{
    if (table->larger == NULL && table->count >= table->bucket_count) {
        table->larger = malloc(2 * table->bucket_count * sizeof(*table->larger));
    }
    for (unsigned i = 0; i < SPLITS_PER_ADD && table->larger != NULL; i++) {
        bucket_split(table);
        if (table->split_count == table->bucket_count) {
            free(table->buckets);
            table->buckets = table->larger;
            table->bucket_count *= 2;
            table->larger = NULL;
            table->split_count = 0;
        }
    }
}

bool sx_table_add(struct sx_table *table, struct sx_table_node *node, uint64_t hash)
{
    if (table->bucket_count == 0 && !table_begin(table)) {
        return false;
    }
    table_grow(table);
    node->hash = hash;
    sx_list_append(bucket_of(table, hash), &node->link);
    table->count++;
    return true;
}

void sx_table_remove(struct sx_table *table, struct sx_table_node *node)
{
    sx_list_remove(&node->link);
    table->count--;
}

void sx_table_replace(struct sx_table_node *node, struct sx_table_node *by)
{
    by->hash = node->hash;
    sx_list_append(&node->link, &by->link); /* in front of it */
    sx_list_remove(&node->link);
}

/* From @it on, in its bucket. */
static struct sx_table_node *find_from(const struct sx_list *bucket, struct sx_list *it,
                                       uint64_t hash)
{
    for (; it != bucket; it = it->next) {
        struct sx_table_node *node = SX_LIST_ENTRY(it, struct sx_table_node, link);

        if (node->hash == hash) {
            return node;
        }
    }
    return NULL;
}

struct sx_table_node *sx_table_first(const struct sx_table *table, uint64_t hash)
{
    if (table->count == 0) { /* and perhaps no bucket */
        return NULL;
    }
    return find_from(bucket_of(table, hash), bucket_of(table, hash)->next, hash);
}

struct sx_table_node *sx_table_next(const struct sx_table *table, const struct sx_table_node *node)
{
    return find_from(bucket_of(table, node->hash), node->link.next, node->hash);
}

struct sx_table_node *sx_table_any(const struct sx_table *table, size_t *bucket)
{
    for (; *bucket < table->bucket_count + table->split_count; (*bucket)++) {
        /* As hashes, the numbers up to here lead to each bucket once. */
        const struct sx_list *const list = bucket_of(table, *bucket);

        if (!sx_list_empty(list)) {
            return SX_LIST_ENTRY(list->next, struct sx_table_node, link);
        }
    }
    return NULL;
}
