/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* janitor.h - a small process that cleans up when the launcher is killed before it can.
 *
 *   launcher --- what there is to clean: groups, a directory, files ---> janitor
 *            --- goodbye ---> the janitor leaves at once and touches nothing
 *            --- dies without a goodbye ---> groups killed, directory and files removed
 *
 * The janitor is forked before the launcher has set anything up, so it is small.  It has a session
 * of its own, so no terminal signal reaches it.  It keeps none of the launcher's descriptors, so
 * nobody waits for it.  The socket is close-on-exec: when it ends, the launcher has ended (the
 * launcher's pidfd shows this too).  The launcher announces a thing before it makes it. */
#ifndef SX_LAUNCH_JOB_JANITOR_H
#define SX_LAUNCH_JOB_JANITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/list.h"

#define SX_JANITOR_TEXT_MAX 8192
#define SX_JANITOR_FILES_A_JOB 6 /* kinds of files for which there is room, besides one directory */

struct sx_janitor {
    pid_t pid; /* 0: none */
    int fd;
    _Atomic pid_t *groups; /* shared with the janitor; 0: no group */
    struct sx_list said;   /* the items to clean, for the next janitor; not set up: none */
    unsigned lives;        /* janitors that replaced a killed one */
};

#define SX_JANITOR_NULL ((struct sx_janitor){ .pid = 0, .fd = -1, .groups = NULL })

/* The janitor was killed, and has been reaped: fork another one, which receives all items to clean.
 * Return: 0 or errno; SX_JANITOR_WORN when it was the last of SX_JANITOR_LIVES_MAX replacements,
 * and then there is no janitor. */
#define SX_JANITOR_LIVES_MAX 64u
#define SX_JANITOR_WORN (-1)
int sx_janitor_replace(struct sx_janitor *janitor);

/* Fork the janitor; call it while the process has one thread.  Return: 0 or errno. */
int sx_janitor_init(struct sx_janitor *janitor);

/* A process group that must not outlive the launcher.  It costs one store.  The new process itself
 * makes this call between fork and exec, before it can have children. */
void sx_janitor_group_add(const struct sx_janitor *janitor, pid_t group);
/* Call this before the group's leader is reaped, hence before its number can name another group. */
void sx_janitor_group_remove(const struct sx_janitor *janitor, pid_t group);

/* Processes that have left their groups: PMIX_NAMESPACE in their environment is @nspace, or begins
 * with @nspace and a dot. */
void sx_janitor_nspace_add(struct sx_janitor *janitor, const char *nspace);

/* The directory @parent/@name, to be removed with all it holds. */
void sx_janitor_tree_add(struct sx_janitor *janitor, const char *parent, const char *name);

/* Files in @dir that belong to our own uid, whose names begin with @prefix and contain @part. */
void sx_janitor_files_add(struct sx_janitor *janitor, const char *dir, const char *prefix,
                          const char *part);
/* No more such files will be made; the arguments are those of sx_janitor_files_add. */
void sx_janitor_files_forget(struct sx_janitor *janitor, const char *dir, const char *prefix,
                             const char *part);

/* The contact file @name in @dir, unless it belongs to another server by then. */
void sx_janitor_contact_add(struct sx_janitor *janitor, const char *dir, const char *name);

/* Send goodbye: the janitor exits, and is waited for.  Safe on SX_JANITOR_NULL and twice. */
void sx_janitor_deinit(struct sx_janitor *janitor);

/* Remove the files that sx_janitor_files_add describes.  The launcher calls this itself at an
 * orderly end. */
void sx_janitor_files_remove(const char *dir, const char *prefix, const char *part, uid_t uid);

#endif
