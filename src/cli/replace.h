/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* replace.h - a file that is replaced when all of it is written.
 *
 *     open: FILE.PID --end--> renamed to FILE
 *              \------abandon--> removed, and FILE is as it was
 *
 * A reader sees the old text or the new one.  The new one has the mode of the old.  A FILE that is
 * a pipe or a device is not replaced: the text is written into it.  A link that leads to a file
 * stays a link. */
#ifndef SX_CLI_REPLACE_H
#define SX_CLI_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

struct sx_replace {
    FILE *out;
    char *path, *before; /* before NULL: the file is written into */
};

/* Return: false with errno, and nothing to release.  From here on the end of a file's size (ulimit
 * -f) is an error of this process, and not its death. */
bool sx_replace_open(struct sx_replace *replace, const char *path);
/* Return: false with errno, when not all was written, or the file could not be replaced. */
bool sx_replace_end(struct sx_replace *replace);
/* Safe on a zeroed one, twice, and after the end. */
void sx_replace_abandon(struct sx_replace *replace);

#endif
