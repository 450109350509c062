/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session.h - the launcher's private directory: made 0700 under TMPDIR, removed with all it holds.
 *
 *   TMPDIR/shmix-UID-PID-XXXXXX/          the server's, while it starts
 *   TMPDIR/shmix-UID-PID-XXXXXX/NSPACE/   what the own libraries of a job's ranks put there
 *
 * The launcher holds a lock on it, which the kernel gives back when it is killed.  Its janitor
 * removes what it leaves; where that was killed as well, as with a container, the next launcher of
 * this user finds a directory that nobody holds.  Removal follows no link, leaves other file
 * systems and other users' files alone. */
#ifndef SX_LAUNCH_JOB_SESSION_H
#define SX_LAUNCH_JOB_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch/ask/options.h"

struct sx_session {
    char *parent; /* absolute */
    char *name;   /* "shmix-1000-4711-a1b2c3" */
    char *dir;    /* parent/name */
    char *nspace; /* "shmix-4711-a1b2c3", with which the names of its jobs begin */
    bool made;
    int lock_fd; /* of dir while made; -1: none */
    /* NULL, or called for each job of a launcher that was killed with its janitor. */
    void (*job_deserted)(const char *nspace);
};

/* Choose the names; nothing is made yet, so that the janitor can hear of them first.  @tmpdir is
 * the value of TMPDIR, NULL or empty: /tmp.  Return: false with one line in @message. */
bool sx_session_init(struct sx_session *session, const char *tmpdir,
                     char message[SX_RUN_MESSAGE_MAX]);
/* Make the directory, and remove those that killed launchers left.  Return: false with one line
 * that names directory, cause and remedy. */
bool sx_session_make(struct sx_session *session, char message[SX_RUN_MESSAGE_MAX]);
/* Make @dir inside of it.  Return: as above. */
bool sx_session_make_inner(const char *dir, char message[SX_RUN_MESSAGE_MAX]);
/* Remove @dir, which was made there. */
void sx_session_remove_inner(const char *dir);
/* Where the contact file of a system server is; @session has its names. */
const char *sx_session_system_dir(const struct sx_session *session);
/* Remove what was made.  Safe on a zeroed one and twice. */
void sx_session_deinit(struct sx_session *session);

/* Call @each with the process whose name each other directory of this user beside it has; @each
 * returns false to stop. */
void sx_session_each_other(const struct sx_session *session,
                           bool (*each)(void *arg, pid_t launcher), void *arg);

/* Remove the directory @name under @parent_fd and all below it that belongs to @uid.  Return:
 * true when it is gone. */
bool sx_session_remove_tree(int parent_fd, const char *name, uid_t uid);

#endif
