/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stores.c - a store counts only for the process that has made it: another process can give a memfd
 * the name that servers use.  Bounded by the descriptors of the processes that the kernel lets the
 * caller read. */
#include "launch/common/stores.h"

#include <string.h>

#include "base/value/value.h"
#include "launch/common/proc.h"
#include "launch/common/segments_of_others.h"
#include "shmem/published.h"

struct each {
    void (*fn)(void *arg, pid_t server, const char *nspace, const struct sx_store *store);
    void *arg;
};

static bool is_newest_of(pid_t pid, const struct sx_store *store)
{
    return sx_store_successor(store) == 0 && sx_proc_has_made(pid, &store->seg);
}

/* The node's store has no name, and published data belong to no namespace. */
static bool has_nspace(const struct sx_store *store)
{
    const char *const name = sx_segment_header(&store->seg)->nspace;

    return name[0] != '\0' && strcmp(name, SX_PUBLISHED_NSPACE) != 0;
}

bool sx_cli_store_is_of_node(pid_t pid, const struct sx_store *store)
{
    return sx_segment_header(&store->seg)->nspace[0] == '\0' && is_newest_of(pid, store);
}

bool sx_cli_store_is_of_job(const struct sx_store *store)
{
    pmix_value_t value;

    /* If the host has not given this key of a job, the server has derived it. */
    if (sx_store_get(store, SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_SIZE, &value) != PMIX_SUCCESS) {
        return false;
    }
    sx_value_destruct(&value);
    return true;
}

static bool store_take(void *arg, pid_t pid, int fd)
{
    const struct each *const each = arg;
    struct sx_store store;

    if (sx_store_attach(&store, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (has_nspace(&store) && is_newest_of(pid, &store)) {
        each->fn(each->arg, pid, sx_segment_header(&store.seg)->nspace, &store);
    }
    sx_store_detach(&store);
    return true;
}

bool sx_cli_stores_each(pid_t pid,
                        void (*each)(void *arg, pid_t server, const char *nspace,
                                     const struct sx_store *store),
                        void *arg)
{
    struct each wanted = { .fn = each, .arg = arg };

    return sx_cli_outside_each(pid, "store:", store_take, &wanted);
}
