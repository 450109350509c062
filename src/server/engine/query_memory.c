/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.c - /proc/PID/smaps_rollup, one line of it. */
#include "server/engine/query_memory.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/port/reply.h"

#define KIB_PER_MIB 1024.0f

/* Return: false when the kernel does not tell. */
static bool pss_read(pid_t pid, float *ret_mib)
{
    char path[64], line[256];
    unsigned long long kib = 0;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return false;
    }
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = sscanf(line, "Pss: %llu kB", &kib) == 1;
    }
    fclose(file);
    *ret_mib = (float)kib / KIB_PER_MIB;
    return found;
}

pmix_status_t sx_query_memory_server(float *ret)
{
    float mib;

    if (!pss_read(getpid(), &mib)) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = mib;
    return PMIX_SUCCESS;
}

static bool is_meant(const struct sx_client *client, const struct sx_client *asker,
                     const pmix_proc_t *of)
{
    return !client->is_tool && (asker == NULL || client->uid == asker->uid) &&
           (of == NULL || (strcmp(client->nspace->name, of->nspace) == 0 &&
                           (of->rank == PMIX_RANK_WILDCARD || of->rank == client->rank)));
}

pmix_status_t sx_query_memory_clients(const struct sx_server *server, const struct sx_client *asker,
                                      const pmix_proc_t *of, struct sx_query_memory *ret)
{
    struct sx_query_memory memory = { .min = FLT_MAX };
    unsigned count = 0;
    float mib;

    for (size_t i = 0; i < server->live_count && count < SX_QUERY_MEMORY_CLIENTS; i++) {
        const struct sx_client *const client = server->live[i];

        if (is_meant(client, asker, of) && pss_read(sx_client_peer(client)->pid, &mib)) {
            memory.average += mib;
            memory.min = mib < memory.min ? mib : memory.min;
            memory.max = mib > memory.max ? mib : memory.max;
            count++;
        }
    }
    if (count == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    memory.average /= (float)count;
    *ret = memory;
    return PMIX_SUCCESS;
}
