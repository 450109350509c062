/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* janitor.h - a small process that cleans up when the launcher is killed before it can.
 *
 *   launcher --- what there is to clean: groups, a directory, files ---> janitor
 *            --- goodbye ---> the janitor leaves at once and touches nothing
 *            --- dies without a goodbye ---> groups killed, directory and files removed
 *
 * It is forked before the launcher has set anything up, so it is small; it lives in a session of
 * its own, so no terminal signal reaches it, and keeps none of the launcher's descriptors, so
 * nobody waits for it.  The socket is close-on-exec: when it ends, the launcher has ended (its
 * pidfd says so too).  The launcher names a thing before it makes it. */
#ifndef SX_LAUNCH_JOB_JANITOR_H
#define SX_LAUNCH_JOB_JANITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/list.h"

#define SX_JANITOR_TEXT_MAX 8192
#define SX_JANITOR_FILES_A_JOB 6 /* kinds of files that it has room for, besides one directory */

struct sx_janitor {
    pid_t pid; /* 0: none */
    int fd;
    _Atomic pid_t *groups; /* shared with it; 0: no group */
    struct sx_list said;   /* what there is to clean, for the next one; not set up: none */
    unsigned lives;        /* janitors that took the place of one that was killed */
};

#define SX_JANITOR_NULL ((struct sx_janitor){ .pid = 0, .fd = -1, .groups = NULL })

/* The janitor was killed, and has been reaped: fork another one, which learns all that there is to
 * clean.  Return: 0 or errno, or SX_JANITOR_WORN when it was
 * the last of SX_JANITOR_LIVES_MAX that took another's place; then there is none. */
#define SX_JANITOR_LIVES_MAX 64u
#define SX_JANITOR_WORN (-1)
int sx_janitor_replace(struct sx_janitor *janitor);

/* Fork the janitor; call it while the process has one thread.  Return: 0 or errno. */
int sx_janitor_init(struct sx_janitor *janitor);

/* A process group that must not outlive the launcher.  One store: the new process itself calls it
 * between fork and exec, before it can have children. */
void sx_janitor_group_add(const struct sx_janitor *janitor, pid_t group);
/* Before the group's leader is reaped, hence before its number can mean another group. */
void sx_janitor_group_remove(const struct sx_janitor *janitor, pid_t group);

/* Processes in whose environment PMIX_NAMESPACE is @nspace, or that and a dot and more: those that
 * have left their groups. */
void sx_janitor_nspace_add(struct sx_janitor *janitor, const char *nspace);

/* The directory @parent/@name, to be removed with all it holds. */
void sx_janitor_tree_add(struct sx_janitor *janitor, const char *parent, const char *name);

/* Files in @dir of our own uid whose names begin with @prefix and contain @part. */
void sx_janitor_files_add(struct sx_janitor *janitor, const char *dir, const char *prefix,
                          const char *part);
/* There will be no more of them than there are: the same words again. */
void sx_janitor_files_forget(struct sx_janitor *janitor, const char *dir, const char *prefix,
                             const char *part);

/* The contact file @name in @dir, unless another server has it by then. */
void sx_janitor_contact_add(struct sx_janitor *janitor, const char *dir, const char *name);

/* Goodbye: the janitor exits, and is waited for.  Safe on SX_JANITOR_NULL and twice. */
void sx_janitor_deinit(struct sx_janitor *janitor);

/* Remove the files that sx_janitor_files_add describes; what the launcher does itself at an
 * orderly end. */
void sx_janitor_files_remove(const char *dir, const char *prefix, const char *part, uid_t uid);

#endif
