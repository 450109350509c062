/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.h - the local processes of a job's ranks, and figures in readable form.
 *
 *     the connected process --none yet--> the process that the launcher has published
 *                                        \--nothing--> a child of the server, by its environment */
#ifndef SX_CLI_LS_PROCESS_H
#define SX_CLI_LS_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shmem/nspace_read.h"

/* The children of one server that were started as ranks.  A zeroed struct is empty. */
struct sx_ls_started {
    pid_t server;
    struct sx_ls_start *at;
    size_t count;
};

/* The process of @rank of @nspace, whose store is @site's, of @server; 0: unknown.  @started is
 * filled when needed. */
pid_t sx_ls_process_of(struct sx_ls_started *started, pid_t server, const char *nspace,
                       const struct sx_site *site, uint32_t rank);
void sx_ls_started_free(struct sx_ls_started *started);

#define SX_LS_FIGURE_MAX 32

/* "4:05", "2:03:04" or "1-02:03:04", the format of squeue(1). */
const char *sx_ls_time_text(uint64_t ns, char ret[SX_LS_FIGURE_MAX]);
/* "512", "12.3M" */
const char *sx_ls_bytes_text(uint64_t bytes, char ret[SX_LS_FIGURE_MAX]);
/* The name of @uid, or its number. */
const char *sx_ls_user_text(uid_t uid, char ret[SX_LS_FIGURE_MAX]);

#endif
