/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.h - detect ranks that have loaded another PMIx library.
 *
 * OpenPMIx looks for its server in PMIX_SERVER_URI41 and the like.  Without these variables a rank
 * with that library is a singleton, without any message: an MPI job of N becomes N jobs of one.  So
 * these variables name a socket of the launcher, on the loopback interface.  The launcher reads the
 * client's first message, closes the connection, and reports it to the user once.  A rank with our
 * library does not read them.
 *
 * Ranks in a container may have none of these variables, nor ours: each is a job of one, and ends
 * with 0.  If a container runtime was started and no rank has connected, a message at the end of
 * the job reports it.  For other programs it is unknown whether they were to connect. */
#ifndef SX_LAUNCH_PMI_FOREIGN_H
#define SX_LAUNCH_PMI_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/job/job.h"
#include "launch/job/loop.h"

struct sx_run_foreign {
    struct sx_poll watch; /* fd -1: there is no such socket */
    char *uri;
    const struct sx_run_jobs *jobs; /* borrowed, as ... */
    const char *lib_dir;
    bool told;
};

/* Without a loopback interface there is no such socket.  Return: 0 or errno. */
int sx_run_foreign_init(struct sx_run_foreign *foreign, struct sx_run_loop *loop,
                        const struct sx_run_jobs *jobs, const char *lib_dir);
void sx_run_foreign_deinit(struct sx_run_foreign *foreign); /* safe on a zeroed one, and twice */

/* Add the variables to a rank's environment. */
void sx_run_foreign_env(const struct sx_run_foreign *foreign, char ***env);

/* @job is over: write a message if none of its ranks has connected, and they were in containers, or
 * run programs of a library that connects behind another one. */
void sx_run_foreign_over(const struct sx_run_foreign *foreign, const struct sx_run_job *job);

/* Parse the first message of a client of @nspace: its rank, and its library's version in @bytes.
 * Return: false when it is not such a message. */
bool sx_run_foreign_parse(const uint8_t *bytes, size_t size, const char *nspace, uint32_t *ret_rank,
                          const char **ret_version);

#endif
