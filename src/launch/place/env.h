/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* env.h - the environment of the ranks.
 *
 * An environment is a malloc'ed NULL-terminated array of malloc'ed NAME=VALUE, the form that
 * PMIx_server_setup_fork appends to. */
#ifndef SX_LAUNCH_PLACE_ENV_H
#define SX_LAUNCH_PLACE_ENV_H

#include "launch/job/job.h"

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

/* The value of @name for the ranks of @app, from the environment here and the application's words.
 * Return: malloc'ed, or NULL. */
char *sx_run_env_value(const struct sx_run_app *app, const char *name);

/* The directory with this build's libpmix.so.2, relative to the command's own file @exe: ../lib,
 * ../lib/MULTIARCH, ../lib64.  Return: malloc'ed, or NULL with one line in @message. */
char *sx_run_env_lib_dir(const char *exe, char message[SX_RUN_MESSAGE_MAX]);

#endif
