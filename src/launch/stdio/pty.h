/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pty.h - a terminal in the place of a pipe, for a rank's output.
 *
 * Programs keep what they write to a pipe until they have some KiB of it, and to a terminal until a
 * line ends.  Terminals take a tenth of a pipe's bytes a second (docs/performance.md).  None of
 * them is anybody's controlling terminal: signals go their way without it.  With --pty, the rank
 * that reads the input has one that is, and the user's own passes on what is typed. */
#ifndef SX_LAUNCH_STDIO_PTY_H
#define SX_LAUNCH_STDIO_PTY_H

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

#define SX_RUN_PTY_END 4 /* this byte ends the input, at the begin of a line */

/* One for all three of a rank's, with the settings of the user's own where that is taken; else
 * lines come as they are.  The rank makes it its controlling terminal.  Return: 0 or errno. */
int sx_run_pty_open_whole(int pair[2]);

/* Let the user's terminal, if there is one and it is ours, pass every key on to a rank that has one
 * of its own; and let it be as it was.  Return: whether it was taken. */
void sx_run_pty_take(void);
bool sx_run_pty_give_back(void);

/* The launcher's own may have got another size: so has that of @fd. */
void sx_run_pty_resize(int fd);

#endif
