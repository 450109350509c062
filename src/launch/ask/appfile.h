/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* appfile.h - programs named by the lines of a file, as mpirun's --app has them.
 *
 *     # the model
 *     -n 2 --wdir run/ocean ./ocean "two words"
 *     -n 3 ./ice
 *
 * Blanks separate words.  '...' and "..."  keep all between them, also ends of lines; in "..."  a
 * backslash keeps " or itself.  Elsewhere it keeps any character, and at the end of a line it joins
 * the next line to it.  launch/ask/options.c defines the meaning of a line. */
#ifndef SX_LAUNCH_ASK_APPFILE_H
#define SX_LAUNCH_ASK_APPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/ask/options.h"

#define SX_RUN_APPFILE_BYTES_MAX (16u << 20)

struct sx_run_appline {
    char **words;    /* at least one; ends with NULL */
    uint32_t number; /* in the file, from 1; the first one, if the entry has several lines */
};

struct sx_run_appfile {
    char *text;   /* cut into words */
    char **words; /* of all lines */
    struct sx_run_appline *lines;
    size_t line_count;
};

/* Read the file, or pipe, at @path.  Return: true; false with one line in @message, and nothing to
 * deinit.  It fails when it cannot be read, is too large, is not text, leaves a quote open, or
 * names no program. */
bool sx_run_appfile_init(struct sx_run_appfile *file, const char *path,
                         char message[SX_RUN_MESSAGE_MAX]);
void sx_run_appfile_deinit(struct sx_run_appfile *file);

#endif
