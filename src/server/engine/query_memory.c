/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.c - /proc/PID/smaps_rollup, one line of it. */
#include "server/engine/query_memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/port/reply.h"

#define KIB_PER_MIB 1024.0f

/* Return: false when the kernel does not tell. */
static bool pss_read(pid_t pid, unsigned long long *ret_kib)
{
    char path[64], line[256];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return false;
    }
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = sscanf(line, "Pss: %llu kB", ret_kib) == 1;
    }
    fclose(file);
    return found;
}

pmix_status_t sx_query_memory_server(float *ret)
{
    unsigned long long kib;

    if (!pss_read(getpid(), &kib)) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (float)kib / KIB_PER_MIB;
    return PMIX_SUCCESS;
}

pmix_status_t sx_query_memory_clients(const struct sx_server *server, const struct sx_client *asker,
                                      float *ret)
{
    unsigned long long kib, sum = 0;
    unsigned count = 0;

    for (size_t i = 0; i < server->live_count && count < SX_QUERY_MEMORY_CLIENTS; i++) {
        const struct sx_client *const client = server->live[i];

        if (!client->is_tool && (asker == NULL || client->uid == asker->uid) &&
            pss_read(sx_client_peer(client)->pid, &kib)) {
            sum += kib;
            count++;
        }
    }
    if (count == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (float)sum / KIB_PER_MIB / (float)count;
    return PMIX_SUCCESS;
}
