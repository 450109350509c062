/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* table.c - buckets are lists; their number doubles when there are more nodes than buckets. */
#include "base/table.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"

#define BUCKETS_FIRST 16u

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
    *table = (struct sx_table){ .buckets = NULL };
}

static struct sx_list *bucket_of(const struct sx_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

/* Return: false when memory is out; the table is as it was. */
static bool table_grow(struct sx_table *table)
{
    const size_t count = table->bucket_count == 0 ? BUCKETS_FIRST : 2 * table->bucket_count;
    const struct sx_table old = *table;
    struct sx_list *buckets = malloc(count * sizeof(*buckets));

    if (buckets == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        sx_list_init(&buckets[i]);
    }
    table->buckets = buckets;
    table->bucket_count = count;
    for (size_t i = 0; i < old.bucket_count; i++) {
        SX_LIST_EACH(it, &old.buckets[i]) {
            sx_list_remove(it);
            sx_list_append(bucket_of(table, SX_LIST_ENTRY(it, struct sx_table_node, link)->hash),
                           it);
        }
    }
    free(old.buckets);
    return true;
}

bool sx_table_add(struct sx_table *table, struct sx_table_node *node, uint64_t hash)
{
    /* A table that cannot grow gets slower; only the first buckets must be there. */
    if (table->count >= table->bucket_count && !table_grow(table) && table->bucket_count == 0) {
        return false;
    }
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
