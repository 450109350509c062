/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull_index.c - a node in the table for each process that a pull names. */
#include "server/iof/pull_index.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/value/value.h"

struct sx_pull_name {
    struct sx_table_node node; /* server.pull_names */
    struct sx_pull *pull;      /* the name's index in pull->names is that of its process in
                                * pull->procs */
};

static uint64_t hash_of(const struct sx_server *server, const pmix_proc_t *proc)
{
    return XXH3_64bits_withSeed(proc->nspace, strlen(proc->nspace), server->seed + proc->rank);
}

bool sx_pull_index_add(struct sx_server *server, struct sx_pull *pull)
{
    pull->names = calloc(pull->proc_count + 1, sizeof(*pull->names));
    if (pull->names == NULL) {
        return false;
    }
    while (pull->name_count < pull->proc_count) {
        struct sx_pull_name *const name = &pull->names[pull->name_count];

        name->pull = pull;
        if (!sx_table_add(&server->pull_names, &name->node,
                          hash_of(server, &pull->procs[pull->name_count]))) {
            sx_pull_index_remove(server, pull);
            return false;
        }
        pull->name_count++;
    }
    return true;
}

void sx_pull_index_remove(struct sx_server *server, struct sx_pull *pull)
{
    while (pull->name_count > 0) {
        sx_table_remove(&server->pull_names, &pull->names[--pull->name_count].node);
    }
    free(pull->names);
    pull->names = NULL;
}

/* Whether this is the name of @proc, and not another one with the same hash. */
static bool is_name(const struct sx_pull_name *name, const pmix_proc_t *proc)
{
    const struct sx_pull *const pull = name->pull;

    return sx_proc_order(&pull->procs[name - pull->names], proc) == 0;
}

void sx_pull_index_each(struct sx_server *server, struct sx_output *output,
                        void (*fn)(void *arg, struct sx_pull *pull, struct sx_output *output),
                        void *arg)
{
    const uint64_t serial = ++server->output_last;
    pmix_proc_t procs[2] = { output->source, output->source };

    procs[1].rank = PMIX_RANK_WILDCARD;
    for (size_t i = 0; i < SX_COUNT(procs); i++) {
        struct sx_table_node *it = sx_table_first(&server->pull_names, hash_of(server, &procs[i]));

        for (; it != NULL; it = sx_table_next(&server->pull_names, it)) {
            const struct sx_pull_name *const name = SX_CONTAINER(it, struct sx_pull_name, node);
            struct sx_pull *const pull = name->pull;

            if (pull->output_last != serial && (pull->channels & output->channel) != 0 &&
                is_name(name, &procs[i])) {
                pull->output_last = serial; /* a pull may name both */
                fn(arg, pull, output);
            }
        }
    }
}
