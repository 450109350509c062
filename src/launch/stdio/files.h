/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* files.h - the files that the output of ranks goes to, and their names.
 *
 *     OPEN --a write fails: told once, by name--> FAILED: what comes is thrown away, the job lives
 *
 * Two streams may share one.  A write waits for the disk; so what is opened is a file or a device,
 * and nothing that waits for a reader. */
#ifndef SX_LAUNCH_STDIO_FILES_H
#define SX_LAUNCH_STDIO_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call/directive_tables.h"

struct sx_run_file {
    unsigned reference_count;
    int fd;
    int error; /* errno of the write that failed; 0: none has */
    char *path;
    const void *line_owner;   /* whose unfinished line is the last thing in it; NULL: none */
    struct sx_run_file *next; /* of those that all ranks share */
    void (*failed)(void *arg, const struct sx_run_file *file); /* is told once */
    void *arg;
};

/* Whose output goes there. */
struct sx_run_file_of {
    const char *nspace, *host, *stream; /* stream: "stdout" or "stderr" */
    uint32_t rank;
    uint32_t job; /* of the command line's, from 1, as scripts know it; 0: it is a spawn's */
    bool goes_on; /* behind what is there already */
};

/* Whether @output names files; whether what it says of them makes sense.  Return: false with one
 * line in @message of @room bytes. */
bool sx_run_files_wanted(const struct sx_output_options *output);
bool sx_run_files_judge(const struct sx_output_options *output, char *message, size_t room);

/* A descriptor of the file @path, which is made, and emptied unless it @goes_on.  Not of a pipe,
 * which might have no reader.  Return: -1 with errno; ENOTSUP, ENXIO: it is no file. */
int sx_run_file_descriptor(const char *path, bool goes_on);

/* Whether several streams go to one file: then only whole lines are to be written. */
bool sx_run_files_shared(const struct sx_output_options *output);

/* Open the file that @output, which names some, has for @of, and make its directories.  Return:
 * NULL with one line in @message; else the caller sets failed and arg. */
struct sx_run_file *sx_run_file_open(const struct sx_output_options *output,
                                     const struct sx_run_file_of *of, char *message, size_t room);
/* Return: NULL.  Of NULL as well. */
struct sx_run_file *sx_run_file_release(struct sx_run_file *file);

void sx_run_file_write(struct sx_run_file *file, const char *bytes, size_t size);
/* The same, of @owner: where the line of another one has no end, it gets one first. */
void sx_run_file_write_line(struct sx_run_file *file, const void *owner, const char *bytes,
                            size_t size);

#endif
