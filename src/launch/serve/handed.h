/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handed.h - the connection of a launcher to the `shmix run` that has handed it its job.
 *
 * Signals that come to that command come to the launcher, as if they had been sent to it.  If the
 * command is lost, the launcher ends without a goodbye, and the janitor ends the job.  A launcher
 * that has no such command ignores all calls.  One thread. */
#ifndef SX_LAUNCH_SERVE_HANDED_H
#define SX_LAUNCH_SERVE_HANDED_H

#include <stdbool.h>

#include "launch/job/loop.h"

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

#endif
