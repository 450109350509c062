/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pty.h - a terminal in the place of a pipe, for a rank's output (PMIX_SPAWN_PTY). */
#ifndef SX_CLI_RUN_PTY_H
#define SX_CLI_RUN_PTY_H

#include <pmix_common.h>
#include <stdbool.h>

/* Is the value of @info a struct termios, or a struct winsize, by its size?  NULL: not given. */
bool sx_run_pty_termio_fits(const pmix_info_t *info);
bool sx_run_pty_size_fits(const pmix_info_t *info);

/* Open a terminal with these settings; without them, output comes as it is written, and its size is
 * not known.  @pair: the launcher's end, which does not block, and the rank's, both close-on-exec.
 * Return: 0 or errno. */
int sx_run_pty_open(int pair[2], const pmix_info_t *termio, const pmix_info_t *size);

#endif
