/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* file.h - files that the user names, and that the command writes.
 *
 * A name may lead through symbolic links.  A link of another user is not followed, since it would
 * choose what the caller overwrites; links of root, or of the owner of the root folder, are.  Links
 * of procfs (/dev/stdout, /dev/fd/3) are followed by the kernel.
 *
 * A file that is replaced gets its new text when all of it is written:
 *
 *     open: FILE.PID --end--> renamed to FILE
 *              \------abandon--> removed, and FILE is as it was
 *
 * A reader sees the old text or the new one.  The new one has the mode of the old, and its owner
 * and group where the kernel permits.  A FILE that is
 * a pipe or a device is not replaced: the text is written into it.  A link that leads to a file
 * stays a link. */
#ifndef SX_LAUNCH_COMMON_FILE_H
#define SX_LAUNCH_COMMON_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Where a name leads: an entry of a folder, which is no link, or a link of procfs. */
struct sx_file_at {
    int dir_fd;
    char name[NAME_MAX + 1];
    bool is_there, is_magic; /* a link of procfs is magic */
    struct stat st;          /* if it is there; of what a magic link leads to */
};

/* Find @path.  @makes_folders: those of the way that do not exist are made.  The caller closes
 * ret->dir_fd.  Return: 0, or errno: ELOOP for a link of another user, too. */
int sx_file_find(const char *path, bool makes_folders, struct sx_file_at *ret);
/* Find and open(2) @path; O_CLOEXEC and O_NOCTTY are set.  Return: a descriptor, or -1 with
 * errno. */
int sx_file_open(const char *path, int flags, bool makes_folders);
/* Return: the cause of an error of this file, for a message. */
const char *sx_file_cause(int error);

struct sx_replace {
    FILE *out;
    struct sx_file_at at;
    char *before; /* NULL: the file is written into */
    int error;    /* of the first write into a pipe or a device that failed; all later ones fail */
    int fd;       /* of @out, which refers to this structure: its address stays */
    bool is_open;
};

/* Return: false with errno, and nothing to release.  From here on the end of a file's size (ulimit
 * -f) is an error of this process, and not its death. */
bool sx_replace_open(struct sx_replace *replace, const char *path);
/* Return: false with errno, when not all was written, or the file could not be replaced. */
bool sx_replace_end(struct sx_replace *replace);
/* Safe on a zeroed one, twice, and after the end. */
void sx_replace_abandon(struct sx_replace *replace);

#endif
