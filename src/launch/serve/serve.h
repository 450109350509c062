/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* serve.h - `shmix serve`: launchers that are ready before a job comes, for one user.
 *
 *   server --forks--> spare: SILENT connections wait in it --a whole request--> TAKEN
 *   TAKEN --refused--> spare again
 *     \---offered, GO--> the launcher of that job, until it ends
 *
 * The server accepts nothing and runs nothing: it keeps some spares, which listen at one socket.
 * It forks another one for each that is taken.  A job ends with its own launcher only.  A spare
 * that is killed is replaced.  Spares end with the server; launchers end with their jobs. */
#ifndef SX_LAUNCH_SERVE_SERVE_H
#define SX_LAUNCH_SERVE_SERVE_H

#include <stdbool.h>

#include "launch/common/options.h"
#include "launch/launch.h"

#define SX_SERVE_EXIT_THERE 3 /* there is a server already */

extern const struct sx_verb sx_serve_verb;
int sx_serve(char **words);

/* ---- spare ----------------------------------------------------------------------------------- */

struct sx_spare {
    struct sx_launch *launch;
    int listener, server; /* the end of the socket to the server: spares end with it */
    char *const *carried; /* the server's own when it discovered the machine */
    bool any_session;
};

/* Be a spare, and then the launcher of a job.  This process has one thread. */
__attribute__((noreturn)) void sx_spare_run(struct sx_spare *spare);

#endif
