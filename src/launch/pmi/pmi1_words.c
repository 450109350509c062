/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_words.c - a table of pairs, each one block of memory. */
#include "launch/pmi/pmi1_words.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/util.h"
#include "launch/common/say.h"

struct pair {
    struct sx_table_node node;
    uint32_t rank; /* the rank that owns it */
    size_t size_bytes;
    const char *value; /* stored behind the key */
    char key[];
};

void sx_run_pmi1_words_init(struct sx_run_pmi1_words *words, uint32_t rank_count)
{
    *words = (struct sx_run_pmi1_words){ .seed = sx_table_seed(),
                                         .used = sx_cli_calloc(rank_count, sizeof(*words->used)) };
}

static uint64_t hash_of(const struct sx_run_pmi1_words *words, const char *key)
{
    return XXH3_64bits_withSeed(key, strlen(key), words->seed);
}

static struct pair *find(const struct sx_run_pmi1_words *words, const char *key)
{
    struct sx_table_node *node = sx_table_first(&words->table, hash_of(words, key));

    for (; node != NULL; node = sx_table_next(&words->table, node)) {
        struct pair *const pair = SX_CONTAINER(node, struct pair, node);

        if (strcmp(pair->key, key) == 0) {
            return pair;
        }
    }
    return NULL;
}

static void drop(struct sx_run_pmi1_words *words, struct pair *pair)
{
    sx_table_remove(&words->table, &pair->node);
    words->used[pair->rank] -= pair->size_bytes;
    free(pair);
}

void sx_run_pmi1_words_deinit(struct sx_run_pmi1_words *words)
{
    for (size_t i = 0; i < words->table.bucket_count; i++) {
        struct sx_list *const bucket = &words->table.buckets[i];

        while (!sx_list_empty(bucket)) {
            drop(words, SX_CONTAINER(bucket->next, struct pair, node.link));
        }
    }
    sx_table_deinit(&words->table);
    free(words->used);
    *words = (struct sx_run_pmi1_words){ .used = NULL };
}

bool sx_run_pmi1_words_put(struct sx_run_pmi1_words *words, uint32_t rank, const char *key,
                           const char *value)
{
    const size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    const size_t size_bytes = sizeof(struct pair) + key_size + value_size;
    struct pair *const former = find(words, key);
    const size_t freed = former != NULL && former->rank == rank ? former->size_bytes : 0;
    struct pair *pair;

    if (words->used[rank] - freed + size_bytes > SX_RUN_PMI1_RANK_BYTES_MAX) {
        return false;
    }
    if (former != NULL) {
        drop(words, former);
    }
    pair = sx_cli_calloc(1, size_bytes);
    pair->rank = rank;
    pair->size_bytes = size_bytes;
    memcpy(pair->key, key, key_size);
    pair->value = memcpy(pair->key + key_size, value, value_size);
    if (!sx_table_add(&words->table, &pair->node, hash_of(words, key))) {
        sx_cli_no_memory();
    }
    words->used[rank] += size_bytes;
    return true;
}

const char *sx_run_pmi1_words_get(const struct sx_run_pmi1_words *words, const char *key)
{
    const struct pair *const pair = find(words, key);

    return pair == NULL ? NULL : pair->value;
}
