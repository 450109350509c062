/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_program.h - find the program before anything is started. */
#ifndef SX_CLI_RUN_PROGRAM_H
#define SX_CLI_RUN_PROGRAM_H

#include "cli/run_options.h"

#define SX_EXIT_NOT_EXECUTABLE 126
#define SX_EXIT_NOT_FOUND 127

/* Find @name as a shell would: as a path where it has a slash, relative to @wdir (NULL: here),
 * else along @path (the value of PATH, NULL: the system's default).  Return: 0 with a malloc'ed
 * path that execve takes from inside @wdir; or the exit code SX_EXIT_NOT_FOUND or
 * SX_EXIT_NOT_EXECUTABLE with one line in @message. */
int sx_run_program_find(const char *name, const char *wdir, const char *path, char **ret_path,
                        char message[SX_RUN_MESSAGE_MAX]);

#endif
