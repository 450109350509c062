/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* submit.h - `shmix run`: hand the job to the user's server where there is one, or run it here.
 *
 *   SENT --offer--> GO --exit code--> ended with it
 *     \--refused, no answer in a second, lost--> run here       \--lost--> ended with an error
 *
 * Before GO nothing of this process has changed: a signal ends or stops it as any other command,
 * and no launcher runs its job.  With --server it does not run the job here, but ends. */
#ifndef SX_LAUNCH_SERVE_SUBMIT_H
#define SX_LAUNCH_SERVE_SUBMIT_H

/* @words are those of `shmix run`.  Return: the exit code of the command. */
int sx_submit(char **words);

#endif
