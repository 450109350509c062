/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* launch.h - the launcher's one door: start a job on this node, with its PMIx data in shared
 * memory.
 *
 * `shmix run` calls it, and any program that is linked with this folder can.  A call takes the
 * process over while it lasts: its signals, its children, and its standard descriptors.  So a
 * process makes one call at a time, with one thread. */
#ifndef SX_LAUNCH_LAUNCH_H
#define SX_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/ask/options.h"

/* @words are those of `shmix run`, which follow the verb, and end with NULL.  --timeout counts from
 * @begin_ns.  Return: the exit code of the command. */
int sx_launch(char **words, uint64_t begin_ns);

/* ---- prepared -------------------------------------------------------------------------------- */

/* A launch whose slow steps, those that need no options, are done before it has any words.  The
 * machine and its devices are discovered once, for this process and all that it forks; each of them
 * prepares the rest.  When it runs, TMPDIR and the variables of hwloc must be the same. */
struct sx_launch;

/* Discover the machine.  Return: NULL with one line in @message. */
struct sx_launch *sx_launch_new(char message[SX_RUN_MESSAGE_MAX]);
/* Name the session, and start the processes that every launcher has; discover the machine again if
 * it has changed, or not @is_known any more.  Return: false when that is not possible; free it
 * then. */
bool sx_launch_prepare(struct sx_launch *launch, bool is_known);
/* As sx_launch, once, and then free it. */
int sx_launch_prepared(struct sx_launch *launch, char **words, uint64_t begin_ns);
/* Return: NULL. */
struct sx_launch *sx_launch_free(struct sx_launch *launch);

#endif
