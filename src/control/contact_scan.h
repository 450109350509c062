/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact_scan.h - where contact files (contact.h) lie.
 *
 *   of the system server   in the system directory
 *   of other servers       in the directory of sessions, and in those of this user's launchers
 *                          in it (shmix-UID-...)
 *
 * Any user may fill a directory: SX_CONTACT_SCAN_MAX names of each are read. */
#ifndef SX_CONTROL_CONTACT_SCAN_H
#define SX_CONTROL_CONTACT_SCAN_H

#define SX_CONTACT_SCAN_MAX 4096

/* The variables that name the directories of sessions and of the system server. */
#define SX_ENV_SESSION_DIR "PMIX_SERVER_TMPDIR"
#define SX_ENV_SYSTEM_DIR "PMIX_SYSTEM_TMPDIR"

/* Return: the first of these that is there and not empty, borrowed: @given, the variable @name of
 * the environment, TMPDIR, "/tmp". */
const char *sx_contact_dir(const char *given, const char *name);

/* Call @look for the directory @path, and for those of this user's launchers in it.  Return: 0;
 * errno when it cannot be read. */
int sx_contact_dirs_each(const char *path, void (*look)(void *arg, int dir_fd), void *arg);

/* Call @look for each name in the directory @dir_fd, which stays the caller's. */
void sx_contact_names_each(int dir_fd, void (*look)(void *arg, int dir_fd, const char *name),
                           void *arg);

#endif
