/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stores.h - the stores of running jobs, found through /proc. */
#ifndef SX_LAUNCH_COMMON_STORES_H
#define SX_LAUNCH_COMMON_STORES_H

#include <stdbool.h>
#include <sys/types.h>

#include "shmem/store.h"

/* Whether @store is the node's newest store, made by the server @pid. */
bool sx_cli_store_is_of_node(pid_t pid, const struct sx_store *store);

/* Whether @store is of a job that a host has registered: tools have a namespace with a store,
 * too. */
bool sx_cli_store_is_of_job(const struct sx_store *store);

/* Call @each for the newest store of each namespace of the server @pid (0: of every server);
 * @nspace is its name.  Return: false when some process could not be examined. */
bool sx_cli_stores_each(pid_t pid,
                        void (*each)(void *arg, pid_t server, const char *nspace,
                                     const struct sx_store *store),
                        void *arg);

#endif
