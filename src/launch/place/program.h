/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* program.h - find the programs before anything is started, and keep everything that exec needs. */
#ifndef SX_LAUNCH_PLACE_PROGRAM_H
#define SX_LAUNCH_PLACE_PROGRAM_H

#include <stdbool.h>

#include "launch/ask/options.h"

#define SX_EXIT_NOT_EXECUTABLE 126
#define SX_EXIT_NOT_FOUND 127

/* Find @name as a shell would: as a path where it has a slash, relative to @wdir (NULL: here), else
 * along @path (the value of PATH; NULL: the system's default).  Return: 0 with a malloc'ed path
 * that execve takes from inside @wdir; or the exit code SX_EXIT_NOT_FOUND or SX_EXIT_NOT_EXECUTABLE
 * with one line in @message. */
int sx_run_program_find(const char *name, const char *wdir, const char *path, char **ret_path,
                        char message[SX_RUN_MESSAGE_MAX]);

/* The program that the ranks of one application execute. */
struct sx_run_program {
    char *path;       /* for execve, relative to wdir if not absolute */
    char **argv;      /* borrowed */
    char **sh_argv;   /* for a script without "#!": sh PATH ARGUMENTS; NULL: it is an ELF file */
    const char *wdir; /* NULL: the launcher's; borrowed */
    char **env;       /* shared by the ranks; the caller sets it before the first start */
    bool is_served;   /* the server has added its part to env (launch/job/start.c) */
};

/* Find the program of @app, along the PATH of its ranks.  If PATH does not have it, search the
 * ranks' working directory, which --verbose reports.  Return: 0, or the exit code with one line in
 * @message.  Deinit in either case; it is safe on a zeroed program. */
int sx_run_program_init(struct sx_run_program *program, const struct sx_run_app *app,
                        char message[SX_RUN_MESSAGE_MAX]);
/* Whether exec can pass its words and its environment.  Return: true; false with one line in
 * @message. */
bool sx_run_program_fits(const struct sx_run_program *program, char message[SX_RUN_MESSAGE_MAX]);
/* The reason why execve has refused it with @error, to be appended to the text of strerror; or
 * "". */
#define SX_RUN_FAULT_MAX 128
void sx_run_program_fault(const struct sx_run_program *program, int error,
                          char text[SX_RUN_FAULT_MAX]);
void sx_run_program_deinit(struct sx_run_program *program);

/* Whether it is mpirun of Open MPI 4, which is another name of its orterun. */
bool sx_run_program_is_mpirun(const struct sx_run_program *program);

#endif
