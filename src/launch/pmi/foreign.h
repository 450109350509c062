/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* foreign.h - ranks that have loaded another PMIx library, and their gateway.
 *
 *     the launcher listens --the first client--> a gateway accepts --it was killed--> it listens
 *
 * OpenPMIx looks for its server in PMIX_SERVER_URI41 and the like.  Without these variables a rank
 * with that library is a singleton, without any message: an MPI job of N becomes N jobs of one.  So
 * these variables name a port of the launcher, on the loopback interface.  The first connection
 * starts a gateway (control/gateway.h), one for all jobs, and the first rank is reported to the
 * user.  A rank with our library does not read these variables.
 *
 * Ranks in a container may have none of these variables, nor ours: each is a job of one, and ends
 * with 0.  If a container runtime was started and no rank has connected, a message at the end of
 * the job reports it.  For other programs it is unknown whether they were to connect. */
#ifndef SX_LAUNCH_PMI_FOREIGN_H
#define SX_LAUNCH_PMI_FOREIGN_H

#include <stdbool.h>
#include <sys/types.h>

#include "control/gateway.h"
#include "launch/job/job.h"
#include "launch/job/loop.h"

struct sx_run_state;

struct sx_run_foreign {
    struct sx_gateway_port port;
    struct sx_poll watch;     /* of the port; fd -1: a gateway accepts, or there is no port */
    struct sx_poll news;      /* from the gateways, which end with it */
    int life_fd;              /* their end */
    pid_t pid;                /* of the gateway that accepts; 0: none */
    unsigned lives;           /* gateways that were started */
    struct sx_run_state *run; /* borrowed, as ... */
    const char *lib_dir;
    bool is_announced;
};

#define SX_RUN_FOREIGN_NULL   \
    ((struct sx_run_foreign){ \
        .port.fd = -1, .watch.fd = -1, .news.fd = -1, .life_fd = -1, .run = NULL })

/* Without a loopback interface there is no such port.  Return: 0 or errno. */
int sx_run_foreign_init(struct sx_run_foreign *foreign, struct sx_run_state *run);
void sx_run_foreign_deinit(struct sx_run_foreign *foreign); /* safe on a zeroed one, and twice */

/* A child has been reaped.  Return: whether it was the gateway. */
bool sx_run_foreign_ended(struct sx_run_foreign *foreign, pid_t pid);

/* Add the variables to a rank's environment. */
void sx_run_foreign_env(const struct sx_run_foreign *foreign, char ***env);

/* @job is over: write a message if none of its ranks has connected, and they were in containers, or
 * run programs of a library that connects behind another one. */
void sx_run_foreign_over(const struct sx_run_foreign *foreign, const struct sx_run_job *job);

#endif
