/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* serve.h - `shmix serve`: launchers that are ready before a job comes, for one user; and the door
 * of `shmix run` to them.
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

#include "launch/job/loop.h"
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

/* ---- handed: the launcher of a job that was handed over -------------------------------------- */

/* The connection of a launcher to the `shmix run` that has handed it its job.
 *
 * Signals that come to that command come to the launcher, as if they had been sent to it.  If the
 * command is lost, the launcher ends without a goodbye, and the janitor ends the job.  A launcher
 * that has no such command ignores all calls.  One thread. */

/* Take @fd over: from here on this process is a launcher with such a command. */
void sx_handed_begin(int fd);

/* Take what comes in the loop's turns.  Return: 0 or errno. */
int sx_handed_open(struct sx_run_loop *loop);
void sx_handed_close(void);

/* The ranks are stopped: stop the command, and wait until it goes on.  Return: false when there is
 * none, and the launcher has to stop itself. */
bool sx_handed_pause(void);

/* The job is over, and nothing of it is left: the command ends with @code.  Later messages of this
 * process are dropped. */
void sx_handed_end(int code);

/* ---- submit ---------------------------------------------------------------------------------- */

/* `shmix run`: hand the job to the user's server where there is one, or run it here.
 *
 *   SENT --offer--> GO --exit code--> ended with it
 *     \--refused, no answer in a second, lost--> run here       \--lost--> ended with an error
 *
 * Before GO nothing of this process has changed: a signal ends or stops it as any other command,
 * and no launcher runs its job.  With --server it does not run the job here, but ends. */

/* @words are those of `shmix run`.  Return: the exit code of the command. */
int sx_submit(char **words);

#endif
