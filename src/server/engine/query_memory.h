/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_memory.h - how much memory the server and its clients use. */
#ifndef SX_SERVER_ENGINE_QUERY_MEMORY_H
#define SX_SERVER_ENGINE_QUERY_MEMORY_H

#include "server/model/state.h"

/* Of how many clients an average is made: each costs the kernel a walk over its mappings. */
#define SX_QUERY_MEMORY_CLIENTS 64u

/* Megabytes, where pages that several processes share count in parts (PSS).  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when the kernel does not tell, and when there is no client whose user is
 * @asker's (NULL: of any user). */
pmix_status_t sx_query_memory_server(float *ret);
pmix_status_t sx_query_memory_clients(const struct sx_server *server, const struct sx_client *asker,
                                      float *ret);

#endif
