/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact.h - files by which tools find a server: their contents, and when a reader trusts one.
 *
 * A server that takes tools leaves files in its temporary directory, under the names that tools of
 * PMIx search for.  A file is text:
 *
 *   NSPACE.RANK;unix:...     who the server is, and where (rendezvous.h)
 *   shmix 1                  this format
 *   PID
 *   UID:GID
 *
 * Anybody may leave files in /tmp.  So a reader follows no link, and trusts only a regular file of
 * at most SX_CONTACT_BYTES_MAX bytes that only its own user or root can have written.  The reader
 * asks the kernel for the listener's credentials before it sends a byte. */
#ifndef SX_CONTROL_CONTACT_H
#define SX_CONTROL_CONTACT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include <pmix_common.h>

#define SX_CONTACT_BYTES_MAX 8192u
#define SX_CONTACT_URI_MAX (PMIX_MAX_NSLEN + 32 + PATH_MAX)
#define SX_CONTACT_NAME_MAX 768 /* of a file, its host and its namespace included */

struct sx_contact {
    pmix_proc_t server;
    char uri[SX_CONTACT_URI_MAX]; /* the first line */
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* Roles that one server of a host has for all its users: there is a file for each role. */
enum sx_contact_role {
    SX_CONTACT_ROLE_SYSTEM,
    SX_CONTACT_ROLE_SCHEDULER,
    SX_CONTACT_ROLE_CONTROLLER,
    SX_CONTACT_ROLES
};

/* "the system server", for a message. */
const char *sx_contact_role_text(enum sx_contact_role role);

/* The names, without their directory: of the one server of a host that has a role; of any server,
 * by its distinction from others of the host (its namespace, its process; NULL: none). */
void sx_contact_role_name(char ret[SX_CONTACT_NAME_MAX], enum sx_contact_role role,
                          const char *host);
void sx_contact_system_name(char ret[SX_CONTACT_NAME_MAX], const char *host);
void sx_contact_tool_name(char ret[SX_CONTACT_NAME_MAX], const char *host, const char *of);

/* Return: the bytes of the file, less than @size. */
size_t sx_contact_print(const struct sx_contact *contact, char *ret, size_t size);

/* Read the file @name in directory @dir_fd (AT_FDCWD: it is a path).  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is none; PMIX_ERR_NO_PERMISSIONS when it cannot be read, or is not
 * trusted; PMIX_ERR_NOT_SUPPORTED for the file of another PMIx library; PMIX_ERR_BAD_PARAM for a
 * file that is not a contact file.  Nothing is logged: *ret_why has the reason (static text). */
pmix_status_t sx_contact_read(int dir_fd, const char *name, struct sx_contact *ret,
                              const char **ret_why);

/* Whether the server that wrote the file has ended: no process accepts at its address. */
bool sx_contact_is_stale(const struct sx_contact *contact);

/* Where in "NSPACE.RANK;unix:..." the address begins.  Return: NULL when it does not name a server
 * of this library; @ret (or NULL) is then undefined. */
const char *sx_contact_address(const char *uri, pmix_proc_t *ret);

/* ---- contact scan ---------------------------------------------------------------------------- */

/* Where contact files (contact.h) lie.
 *
 *   of the system server   in the system directory
 *   of other servers       in the directory of sessions, and in those of this user's launchers
 *                          in it (shmix-UID-...)
 *
 * Any user may fill a directory: SX_CONTACT_SCAN_MAX names of each are read. */

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

/* ---- contact file ---------------------------------------------------------------------------- */

/* A server's own contact files (contact.h): made, and taken back.
 *
 *     written beside its place --link(2): nobody has the name--> PUBLISHED --close--> removed
 *        \--a live server has it--> refused        \--the server is killed--> STALE
 *        \--STALE: taken aside, looked at again, removed; once more             \--the next server,
 *                                                                    or a sweep of the directory-->
 *                                                                                          removed
 *
 * Two servers that start at once over a stale file both find it stale.  A server that has moved the
 * other's file aside puts it back.
 *
 * A server of root does not leave a predictable name to other users: no tool of root or of a third
 * user trusts their files.  So it removes any file that they have put there. */

struct sx_contact_file {
    int dir_fd; /* -1: there is no file */
    int fd;     /* of the file: as long as it is open, no other file has its inode */
    char name[SX_CONTACT_NAME_MAX];
    pid_t creator_pid; /* a forked child removes nothing */
};

#define SX_CONTACT_FILE_NULL ((struct sx_contact_file){ .dir_fd = -1, .fd = -1 })

struct sx_contact_place {
    const char *dir, *name;
    mode_t mode;
    bool is_foreseen; /* by all users of this node: the path was not chosen by a user */
};

/* Make the file.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS when a live server has it, *ret_other (or
 * NULL) is that one; PMIX_ERR_BAD_PARAM when the file there is not a contact file, or the name is
 * invalid; else as errno. *ret_why has the reason (static text, or errno's).  Only the removal of
 * another user's file by root is logged. */
pmix_status_t sx_contact_file_open(struct sx_contact_file *file,
                                   const struct sx_contact_place *place,
                                   const struct sx_contact *contact, struct sx_contact *ret_other,
                                   const char **ret_why);
/* Remove the file if it is still the same.  Safe twice, and on SX_CONTACT_FILE_NULL. */
void sx_contact_file_close(struct sx_contact_file *file);

/* Remove what killed servers of this user have left in @dir. */
void sx_contact_sweep(const char *dir);
/* The same for the file @name. */
void sx_contact_remove_stale(const char *dir, const char *name);

#endif
