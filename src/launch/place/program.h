/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* program.h - find the programs before anything is started, and keep what executing takes. */
#ifndef SX_LAUNCH_PLACE_PROGRAM_H
#define SX_LAUNCH_PLACE_PROGRAM_H

#include <stdbool.h>

#include "launch/ask/options.h"

#define SX_EXIT_NOT_EXECUTABLE 126
#define SX_EXIT_NOT_FOUND 127

/* Find @name as a shell would: as a path where it has a slash, relative to @wdir (NULL: here),
 * else along @path (the value of PATH, NULL: the system's default).  Return: 0 with a malloc'ed
 * path that execve takes from inside @wdir; or the exit code SX_EXIT_NOT_FOUND or
 * SX_EXIT_NOT_EXECUTABLE with one line in @message. */
int sx_run_program_find(const char *name, const char *wdir, const char *path, char **ret_path,
                        char message[SX_RUN_MESSAGE_MAX]);

/* What the ranks of one application execute, and how. */
struct sx_run_program {
    char *path;       /* for execve, relative to wdir if not absolute */
    char **argv;      /* borrowed */
    char **sh_argv;   /* for a script without "#!": sh PATH ARGUMENTS; NULL: it is an ELF file */
    const char *wdir; /* NULL: the launcher's; borrowed */
    char **env;       /* what they share; the caller's to set before the first start */
    bool is_served;   /* the server has added its part to that (launch/job/start.c) */
};

/* Find the program of @app, along the PATH that its ranks get, or, where that has none, in its
 * working directory, which --verbose tells.  Return: 0, or the exit code with
 * one line in @message.  Deinit in either case; it is safe on a zeroed one. */
int sx_run_program_init(struct sx_run_program *program, const struct sx_run_app *app,
                        char message[SX_RUN_MESSAGE_MAX]);
/* Can its words and its environment be given to it?  Return: true; false with one line in
 * @message. */
bool sx_run_program_fits(const struct sx_run_program *program, char message[SX_RUN_MESSAGE_MAX]);
/* Why execve has refused it with @error, in words to stand behind those of strerror; or "". */
#define SX_RUN_FAULT_MAX 128
void sx_run_program_fault(const struct sx_run_program *program, int error,
                          char text[SX_RUN_FAULT_MAX]);
void sx_run_program_deinit(struct sx_run_program *program);

/* Whether it is mpirun of Open MPI 4, which is another name of its orterun. */
bool sx_run_program_is_mpirun(const struct sx_run_program *program);

#endif
