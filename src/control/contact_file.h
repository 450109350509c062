/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* contact_file.h - a server's own contact files (contact.h): made, and taken back.
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
#ifndef SX_CONTROL_CONTACT_FILE_H
#define SX_CONTROL_CONTACT_FILE_H

#include "control/contact.h"

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
