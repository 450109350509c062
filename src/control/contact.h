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

#endif
