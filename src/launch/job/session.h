/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session.h - the launcher's private directory, made 0700 under TMPDIR and removed with all it
 * contains, and the files that ranks leave outside of it.
 *
 *   TMPDIR/shmix-UID-PID-XXXXXX/          the server's, while it starts
 *   TMPDIR/shmix-UID-PID-XXXXXX/NSPACE/   the files of a job's ranks' libraries
 *
 * The launcher holds a lock on the directory, which the kernel releases when the launcher is
 * killed.  The janitor removes the directory of a killed launcher.  If the janitor was killed too,
 * as with a container, the next launcher of this user finds a directory without a lock.  Removal
 * follows no link, and leaves other file systems and other users' files alone. */
#ifndef SX_LAUNCH_JOB_SESSION_H
#define SX_LAUNCH_JOB_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch/ask/options.h"
#include "launch/job/janitor.h"
#include "launch/job/job.h"

struct sx_session {
    char *parent; /* absolute */
    char *name;   /* "shmix-1000-4711-a1b2c3" */
    char *dir;    /* parent/name */
    char *nspace; /* "shmix-4711-a1b2c3": the names of its jobs begin with it */
    bool made;
    int lock_fd; /* of dir, once it is made; -1: none */
    /* NULL, or called for each job of a launcher that was killed with its janitor */
    void (*job_deserted)(const char *nspace);
};

/* Choose the names; nothing is made yet, so that the janitor can receive the names first.  @tmpdir
 * is the value of TMPDIR, NULL or empty: /tmp.  Return: false with one line in @message. */
bool sx_session_init(struct sx_session *session, const char *tmpdir,
                     char message[SX_RUN_MESSAGE_MAX]);
/* Make the directory, and remove those that killed launchers left.  Return: false with one line
 * that names the directory, the cause and the remedy. */
bool sx_session_make(struct sx_session *session, char message[SX_RUN_MESSAGE_MAX]);
/* Make the directory @dir inside it.  Return: as above. */
bool sx_session_make_inner(const char *dir, char message[SX_RUN_MESSAGE_MAX]);
/* Remove @dir, which sx_session_job_make has made. */
void sx_session_remove_inner(const char *dir);
/* The directory of a system server's contact file; @session holds the names. */
const char *sx_session_system_dir(const struct sx_session *session);
/* Remove the directory.  Safe on a zeroed session and twice. */
void sx_session_deinit(struct sx_session *session);

/* Call @each with the process id in the name of each other session directory of this user beside
 * it.  @each returns false to stop. */
void sx_session_each_other(const struct sx_session *session,
                           bool (*each)(void *arg, pid_t launcher), void *arg);

/* Remove the directory @name under @parent_fd and all below it that belongs to @uid.  Return: true
 * when it is removed. */
bool sx_session_remove_tree(int parent_fd, const char *name, uid_t uid);

/* ---- leftovers ------------------------------------------------------------------------------- */

/* Files that killed ranks of a job leave outside of its directory. */

/* Announce the files to the janitor before they exist. */
void sx_run_leftovers_announce(struct sx_janitor *janitor, const struct sx_run_job *job);
/* Remove the files of the job named @nspace, of which no process is left.  Nobody else has this
 * name. */
void sx_run_leftovers_sweep(const char *nspace);
/* @job is over: remove its files, and let the janitor forget them. */
void sx_run_leftovers_remove(struct sx_janitor *janitor, const struct sx_run_job *job);

#endif
