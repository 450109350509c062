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

/* @words are those of `shmix run`, which follow the verb, and end with NULL.  Return: the exit code
 * of the command. */
int sx_launch(char **words);

#endif
