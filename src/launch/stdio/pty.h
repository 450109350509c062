/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pty.h - a terminal in the place of a pipe, for a rank's output.
 *
 * Programs buffer output for a pipe until they have some KiB, and output for a terminal until a
 * line ends.  A terminal has a tenth of a pipe's throughput (docs/performance.md).  These terminals
 * are not controlling terminals: signals are sent without them.  With --pty, the rank that reads
 * the input has a controlling terminal, and the user's own terminal passes on the keys. */
#ifndef SX_LAUNCH_STDIO_PTY_H
#define SX_LAUNCH_STDIO_PTY_H

#include <pmix_common.h>
#include <stdbool.h>

/* Whether the value of @info is a struct termios, or a struct winsize, by its size.  NULL: not
 * given. */
bool sx_run_pty_termio_fits(const pmix_info_t *info);
bool sx_run_pty_size_fits(const pmix_info_t *info);

/* Whether lines are wanted as soon as they are written: by a reader of @out, the launcher's own
 * output, or in a log, a file that @err is written to as well.  A file for output only holds
 * data. */
bool sx_run_pty_suits(int out, int err);

/* Open a terminal with these settings.  Without settings, output is passed unchanged, and the size
 * is that of the launcher's own terminal, or unknown.  @pair: the launcher's end, which does not
 * block, and the rank's end, both close-on-exec.  Return: 0 or errno. */
int sx_run_pty_open(int pair[2], const pmix_info_t *termio, const pmix_info_t *size);

#define SX_RUN_PTY_END 4 /* this byte ends the input, at the begin of a line */

/* Open one terminal for all three descriptors of a rank.  It has the settings of the user's own
 * terminal if that was taken; else lines are passed unchanged.  The rank makes it its controlling
 * terminal.  Return: 0 or errno. */
int sx_run_pty_open_whole(int pair[2]);

/* Let the user's terminal, if it exists and is ours, pass every key to a rank that has a terminal
 * of its own; and restore the user's terminal.  Return: whether it was taken. */
void sx_run_pty_take(void);
bool sx_run_pty_give_back(void);

/* Give @fd the size of the launcher's own terminal, which may have changed. */
void sx_run_pty_resize(int fd);

#endif
