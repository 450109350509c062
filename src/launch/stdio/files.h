/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* files.h - the files for the output of ranks, and their names.
 *
 *     OPEN --a write fails: one message with its name--> FAILED: output is dropped, the job lives
 *
 * Two streams may share a file.  A write waits for the disk, so only files and devices are opened,
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
    const void *line_owner;   /* owner of the unfinished line at the end; NULL: none */
    struct sx_run_file *next; /* in the list of files that all ranks share */
    void (*failed)(void *arg, const struct sx_run_file *file); /* called once */
    void *arg;
};

/* The rank whose output the file receives. */
struct sx_run_file_of {
    const char *nspace, *host, *stream; /* stream: "stdout" or "stderr" */
    uint32_t rank;
    uint32_t job; /* of the command line's jobs, from 1, as scripts number them; 0: a spawned job */
    bool goes_on; /* append to an existing file */
};

/* Whether @output names files; whether its values for them are valid.  Return: false with one line
 * in @message of @room bytes. */
bool sx_run_files_wanted(const struct sx_output_options *output);
bool sx_run_files_judge(const struct sx_output_options *output, char *message, size_t room);

/* A descriptor of the file @path, which is made, and emptied unless @goes_on.  Pipes are refused,
 * since they might have no reader.  Return: -1 with errno; ENOTSUP, ENXIO: it is not a file. */
int sx_run_file_descriptor(const char *path, bool goes_on);

/* Whether several streams share one file: then only whole lines are written. */
bool sx_run_files_shared(const struct sx_output_options *output);

/* Open the file that @output, which names some, has for @of, and make its directories.  Return:
 * NULL with one line in @message; else the caller sets failed and arg. */
struct sx_run_file *sx_run_file_open(const struct sx_output_options *output,
                                     const struct sx_run_file_of *of, char *message, size_t room);
/* Accepts NULL.  Return: NULL. */
struct sx_run_file *sx_run_file_release(struct sx_run_file *file);

void sx_run_file_write(struct sx_run_file *file, const char *bytes, size_t size);
/* The same, for a line of @owner: another owner's line without an end is ended first. */
void sx_run_file_write_line(struct sx_run_file *file, const void *owner, const char *bytes,
                            size_t size);

#endif
