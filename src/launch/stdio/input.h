/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.h - the launcher's standard input, copied to one rank or to all.
 *
 * One buffer: the next piece is read when every reader has had the last one whole, so the slowest
 * sets the pace and memory stays bounded.  A reader that has gone is forgotten; when none is left,
 * nothing more is read.  At the end of the input the readers see the end of theirs.
 *
 * A terminal refuses to be read by a job in the background.  A shell tells nobody that it has
 * brought a job to the front which was running: until then the terminal is asked now and then. */
#ifndef SX_LAUNCH_STDIO_INPUT_H
#define SX_LAUNCH_STDIO_INPUT_H

#include <stddef.h>

#include "launch/job/loop.h"

#define SX_RUN_INPUT_BYTES 65536u

struct sx_run_input;

struct sx_run_reader {
    struct sx_run_input *input;
    struct sx_run_watch watch; /* of the pipe to the rank; fd -1: gone */
    size_t off;                /* what it has had of the buffer */
    bool terminal;             /* whose end is a byte */
    bool waits;                /* for room in the pipe */
};

struct sx_run_input {
    struct sx_run_loop *loop;
    struct sx_run_watch source;
    int fd;
    bool always_ready; /* a regular file */
    bool reading;      /* the source is watched */
    bool ended;
    uint64_t look_ns; /* in the background: when the terminal is asked again; a deadline */
    char *buffer;
    size_t used;
    struct sx_run_reader *readers;
    size_t count, live, behind;
};

/* Copy from @fd, which stays the caller's, to at most @count readers. */
void sx_run_input_init(struct sx_run_input *input, struct sx_run_loop *loop, int fd, size_t count);
void sx_run_input_deinit(struct sx_run_input *input); /* safe on a zeroed one */

/* One more reader: the writing end of its pipe, non-blocking, taken over.  Before the start. */
void sx_run_input_add(struct sx_run_input *input, int fd);

/* All readers are there: begin.  Again after the launcher was stopped, or when it may be in the
 * front again. */
void sx_run_input_start(struct sx_run_input *input);

/* When sx_run_input_check has something to do; it does nothing before. */
uint64_t sx_run_input_deadline_ns(const struct sx_run_input *input);
/* Read on if this process is in the front of its terminal again. */
void sx_run_input_check(struct sx_run_input *input, uint64_t now_ns);

#endif
