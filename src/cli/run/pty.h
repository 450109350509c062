/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pty.h - a terminal in the place of a pipe, for a rank's output.
 *
 * Programs keep what they write to a pipe until they have some KiB of it, and to a terminal until a
 * line ends.  Terminals take a tenth of a pipe's bytes a second (docs/performance.md).  None of
 * them is anybody's controlling terminal: signals go their way without it. */
#ifndef SX_CLI_RUN_PTY_H
#define SX_CLI_RUN_PTY_H

#include <pmix_common.h>
#include <stdbool.h>

/* Is the value of @info a struct termios, or a struct winsize, by its size?  NULL: not given. */
bool sx_run_pty_termio_fits(const pmix_info_t *info);
bool sx_run_pty_size_fits(const pmix_info_t *info);

/* Whether lines are wanted as they are written: by a reader of @out, the launcher's own output, or
 * in a log, which is a file that @err goes to as well.  In a file of its own there is data. */
bool sx_run_pty_suits(int out, int err);

/* Open a terminal with these settings; without them, output comes as it is written, and its size is
 * that of the launcher's own, or not known.  @pair: the launcher's end, which does not block, and
 * the rank's, both close-on-exec.  Return: 0 or errno. */
int sx_run_pty_open(int pair[2], const pmix_info_t *termio, const pmix_info_t *size);

#endif
