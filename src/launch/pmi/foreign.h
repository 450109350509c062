/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.h - hear of ranks that have loaded another PMIx library.
 *
 * OpenPMIx looks for its server in PMIX_SERVER_URI41 and the like.  Without them a rank with that
 * library is on its own and nobody says so: an MPI job of N becomes N jobs of one.  So these
 * variables name a socket of the launcher, on the loopback interface, which reads what such a
 * client says of itself, closes, and tells the user once.  A rank with our library does not look
 * at them.
 *
 * Ranks in a container may see none of these variables, nor ours: each is a job of one, and ends
 * with 0.  Where a runtime of containers was started and no rank has connected, the user is told at
 * the end of the job.  Of other programs nobody can tell whether they were to connect. */
#ifndef SX_LAUNCH_PMI_FOREIGN_H
#define SX_LAUNCH_PMI_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/job/job.h"
#include "launch/job/loop.h"

struct sx_run_foreign {
    struct sx_run_watch watch; /* fd -1: there is no such socket */
    char *uri;
    const struct sx_run_jobs *jobs; /* borrowed, as ... */
    const char *lib_dir;
    bool told;
};

/* A machine without a loopback interface does without.  Return: 0 or errno. */
int sx_run_foreign_init(struct sx_run_foreign *foreign, struct sx_run_loop *loop,
                        const struct sx_run_jobs *jobs, const char *lib_dir);
void sx_run_foreign_deinit(struct sx_run_foreign *foreign); /* safe on a zeroed one, and twice */

/* The variables, for a rank's environment. */
void sx_run_foreign_env(const struct sx_run_foreign *foreign, char ***env);

/* @job is over: say so if none of its ranks has connected, and they were in containers, or are
 * programs of a library that connects behind another one. */
void sx_run_foreign_over(const struct sx_run_foreign *foreign, const struct sx_run_job *job);

/* What a client of @nspace has said: its rank, and its library's version in @bytes.  Return: false
 * when this is nothing of that kind. */
bool sx_run_foreign_parse(const uint8_t *bytes, size_t size, const char *nspace, uint32_t *ret_rank,
                          const char **ret_version);

#endif
