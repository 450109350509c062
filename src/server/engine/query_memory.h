/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.h - how much memory the server and its clients use. */
#ifndef SX_SERVER_ENGINE_QUERY_MEMORY_H
#define SX_SERVER_ENGINE_QUERY_MEMORY_H

#include "server/model/state.h"

/* How many clients are looked at: each costs the kernel a walk over its mappings. */
#define SX_QUERY_MEMORY_CLIENTS 64u

struct sx_query_memory {
    float average, min, max;
};

/* Megabytes, where pages that several processes share count in parts (PSS).  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the kernel does not tell, and when @of (NULL: everybody) is no client
 * whose user is @asker's (NULL: of any user).  Its rank may be a wildcard. */
pmix_status_t sx_query_memory_server(float *ret);
pmix_status_t sx_query_memory_clients(const struct sx_server *server, const struct sx_client *asker,
                                      const pmix_proc_t *of, struct sx_query_memory *ret);

#endif
