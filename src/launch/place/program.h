/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* program.h - find the programs before anything is started, and keep everything that exec needs;
 * and the environments of the ranks. */
#ifndef SX_LAUNCH_PLACE_PROGRAM_H
#define SX_LAUNCH_PLACE_PROGRAM_H

#include <stdbool.h>

#include "launch/ask/options.h"
#include "launch/job/job.h"

#define SX_EXIT_NOT_EXECUTABLE 126
#define SX_EXIT_NOT_FOUND 127

/* Find @name as a shell would: as a path where it has a slash, relative to @wdir (NULL: here), else
 * along @path (the value of PATH; NULL: the system's default).  Return: 0 with a malloc'ed path
 * that execve takes from inside @wdir; or the exit code SX_EXIT_NOT_FOUND or SX_EXIT_NOT_EXECUTABLE
 * with one line in @message. */
int sx_run_program_find(const char *name, const char *wdir, const char *path, char **ret_path,
                        char message[SX_RUN_MESSAGE_MAX]);

/* The first bytes of an ELF file; zeroed: the file is none. */
struct sx_run_image {
    unsigned char ident[16];
    uint16_t type, machine;
};

/* The program that the ranks of one application execute. */
struct sx_run_program {
    char *path;       /* for execve, relative to wdir if not absolute */
    char **argv;      /* borrowed */
    char **sh_argv;   /* for a script without "#!": sh PATH ARGUMENTS; NULL: it is an ELF file */
    const char *wdir; /* NULL: the launcher's; borrowed */
    char **env;       /* shared by the ranks; the caller sets it before the first start */
    struct sx_run_image image;
    bool is_searched; /* it is from the folders that its application names */
    bool is_served;   /* the server has added its part to env (launch/job/start.c) */
};

/* Find the program of @app, along the PATH of its ranks.  If PATH does not have it, search the
 * ranks' working directory, which --verbose reports.  Return: 0, or the exit code with one line in
 * @message.  Deinit in either case; it is safe on a zeroed program. */
int sx_run_program_init(struct sx_run_program *program, const struct sx_run_app *app,
                        char message[SX_RUN_MESSAGE_MAX]);
/* The same for a program that has been found, by another process: @path is copied.  One that is
 * @searched has its path as its first word, which is malloc'ed. */
void sx_run_program_set(struct sx_run_program *program, const struct sx_run_app *app,
                        const char *path, const struct sx_run_image *image, bool searched);
/* Whether exec can pass its words and its environment.  Return: true; false with one line in
 * @message. */
bool sx_run_program_fits(const struct sx_run_program *program, char message[SX_RUN_MESSAGE_MAX]);
/* The reason why execve has refused it with @error, without a look at the file, to be appended to
 * the text of strerror; or "". */
#define SX_RUN_FAULT_MAX 128
void sx_run_program_fault(const struct sx_run_program *program, int error,
                          char text[SX_RUN_FAULT_MAX]);
void sx_run_program_deinit(struct sx_run_program *program);

/* Whether it is mpirun of Open MPI 4, which is another name of its orterun. */
bool sx_run_program_is_mpirun(const struct sx_run_program *program);

/* ---- env ------------------------------------------------------------------------------------- */

/* The environment of the ranks.
 *
 * An environment is a malloc'ed NULL-terminated array of malloc'ed NAME=VALUE, the form that
 * PMIx_server_setup_fork appends to. */

/* Return: a deep copy that sx_run_env_free releases. */
char **sx_run_env_copy(char *const *env);
char **sx_run_env_free(char **env);

/* Return: the value inside @env, or NULL. */
const char *sx_run_env_get(char *const *env, const char *name);

/* Set NAME to @value, in place of a former value or at the end. */
void sx_run_env_put(char ***env, const char *name, const char *value);
void sx_run_env_put_number(char ***env, const char *name, uint32_t number);

/* Return: the entries of both, borrowed, but not those of @shared that @own replaces; release the
 * array with free(). */
char **sx_run_env_join(char *const *shared, char *const *own);

/* Remove the remains of an outer job: its addresses would lead the ranks to another server.  The
 * user's own settings stay: PMIX_MCA_*, SHMIX_LOG and similar ones, and OMPI_MCA_*.  Of these, the
 * variables that mpirun sets are removed if mpirun has set them. */
void sx_run_env_drop_outer(char **env);

/* The environment that the ranks of @app share: @outer without the remains of an outer job, the
 * user's --env, and @lib_dir first in LD_LIBRARY_PATH.  Variables with which Open MPI 4.1 acts as a
 * client are added; the user's own values win.  @oversubscribed: there are more ranks than CPUs. */
char **sx_run_env_build(char *const *outer, const struct sx_run_app *app, const char *lib_dir,
                        bool oversubscribed);

/* Put variables about the job that wrapper scripts and MPI_INFO_ENV read, under mpirun's names,
 * which are common.  They are its sizes, the first ranks and sizes of its applications, and the
 * command of @app.  @universe: the ranks of all jobs.  The user cannot override them, since they
 * are facts. */
void sx_run_env_put_job(char ***env, const struct sx_run_job *job, const struct sx_run_app *app,
                        uint32_t universe);
/* The same for one rank; @place is its place among the ranks of all jobs.  All ranks are on this
 * node. */
void sx_run_env_put_rank(char ***env, uint32_t rank, uint32_t place);

/* Add @word, which is malloc'ed and which @app then owns. */
void sx_run_app_env_add(struct sx_run_app *app, char *word);

/* The value of @name for the ranks of @app, from the environment here and the application's words.
 * Return: malloc'ed, or NULL. */
char *sx_run_env_value(const struct sx_run_app *app, const char *name);

/* The directory with this build's libpmix.so.2, below the folder above that of the command's own
 * file @exe: the library folder of the configuration, lib, lib/MULTIARCH, lib64.  Return:
 * malloc'ed, or NULL with one line in @message. */
char *sx_run_env_lib_dir(const char *exe, char message[SX_RUN_MESSAGE_MAX]);

#endif
