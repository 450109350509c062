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

/* Return: the entries of both, borrowed, but for those of @shared that @own has values for; free()
 * takes it. */
char **sx_run_env_join(char *const *shared, char *const *own);

/* Drop what an outer job left behind: its addresses would lead the ranks to a server that is not
 * theirs.  The user's own settings stay: PMIX_MCA_*, SHMIX_LOG and the like, and OMPI_MCA_* but
 * for those that mpirun sets, if mpirun set them. */
void sx_run_env_drop_outer(char **env);

/* What the ranks of @app share: @outer without the remains of an outer job, what Open MPI 4.1
 * needs to take the part of a client (the user's own values win), the user's --env, and @lib_dir
 * first in LD_LIBRARY_PATH.  @oversubscribed: there are more ranks than CPUs. */
char **sx_run_env_build(char *const *outer, const struct sx_run_app *app, const char *lib_dir,
                        bool oversubscribed);

/* What wrapper scripts and MPI_INFO_ENV read of the job, under the names that mpirun made common:
 * its sizes, its applications' first ranks and sizes, the command of @app; @universe: the ranks of
 * all jobs.  The user cannot set them otherwise: they say what is. */
void sx_run_env_put_job(char ***env, const struct sx_run_job *job, const struct sx_run_app *app,
                        uint32_t universe);
/* The same for one rank, whose place among those of all jobs is @place; all of them are on this
 * node. */
void sx_run_env_put_rank(char ***env, uint32_t rank, uint32_t place);

/* The value of @name that the ranks of @app get, as far as the environment here and the words of
 * the application say.  Return: malloc'ed, or NULL. */
char *sx_run_env_value(const struct sx_run_app *app, const char *name);

/* The directory with this build's libpmix.so.2, seen from the command's own file @exe: ../lib,
 * ../lib/MULTIARCH, ../lib64.  Return: malloc'ed, or NULL with one line in @message. */
char *sx_run_env_lib_dir(const char *exe, char message[SX_RUN_MESSAGE_MAX]);

#endif
