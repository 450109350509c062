/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.h - the input of ranks: the launcher's standard input, copied to one rank or to all, and
 * what tools push.
 *
 * There is one buffer: the next piece is read when every reader has received all of the last one.
 * So the slowest reader sets the pace, and memory stays bounded.  A reader that has gone is
 * dropped; when none is left, nothing more is read.  At the end of the input the readers' input
 * ends.
 *
 * A job in the background cannot read its terminal.  A shell sends no signal when it brings a
 * running job to the front, so the terminal is polled until then. */
#ifndef SX_LAUNCH_STDIO_INPUT_H
#define SX_LAUNCH_STDIO_INPUT_H

#include <pmix_server.h>
#include <stddef.h>

#include "launch/job/job.h"
#include "launch/job/loop.h"

#define SX_RUN_INPUT_BYTES 65536u

struct sx_run_input;

struct sx_run_reader {
    struct sx_run_input *input;
    struct sx_poll watch; /* of the pipe to the rank; fd -1: gone */
    size_t off;           /* bytes of the buffer that it has received */
    bool terminal;        /* its input ends with a byte */
    bool waits;           /* for room in the pipe */
};

struct sx_run_input {
    struct sx_run_loop *loop;
    struct sx_poll source;
    int fd;
    bool always_ready; /* a regular file */
    bool reading;      /* the source is watched */
    bool ended;
    struct sx_timer look; /* in the background: when to poll the terminal again */
    char *buffer;
    size_t used;
    struct sx_run_reader *readers;
    size_t count, live, behind;
};

/* Copy from @fd, which the caller owns, to at most @count readers. */
void sx_run_input_init(struct sx_run_input *input, struct sx_run_loop *loop, int fd, size_t count);
void sx_run_input_deinit(struct sx_run_input *input); /* safe on a zeroed one */

/* Add a reader: @fd, the writing end of its pipe, non-blocking, is taken over.  Call it before the
 * start. */
void sx_run_input_add(struct sx_run_input *input, int fd);

/* Begin to read: all readers are added.  Call it again after the launcher was stopped, or when it
 * may be in the front again. */
void sx_run_input_start(struct sx_run_input *input);

/* ---- push ------------------------------------------------------------------------------------ */

/* Input that others push to ranks of a job that was spawned for it.
 *
 *   server's thread: push_stdin --copied, news--> launcher's: a place in the queue of each target
 *   launcher's: feed (queue, the writing end of the rank's stdin) --all targets have it, or have
 *   closed theirs--> answered, once
 *
 * A rank that does not read delays the answers, and so only the clients that push.  Memory is
 * bounded by the requests that clients may have pending. */

struct sx_run_push; /* a piece of input */
struct sx_run_feed; /* the input of a rank */

/* Copy the input that is pushed.  Return: PMIX_SUCCESS, and @cbfunc will be called; as
 * sx_options_read. */
pmix_status_t sx_run_push_new(struct sx_run_push **ret_push, const pmix_proc_t targets[],
                              size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                              const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata);
/* Answer and free the push; @fn is not called if the server has ended. */
void sx_run_push_end(struct sx_run_push *push, pmix_status_t status, bool answer);

/* Hand out the push, which is freed when all is done.  The answer is PMIX_SUCCESS if at least one
 * target has received it; PMIX_ERR_NOT_FOUND for processes that do not exist; PMIX_ERR_IOF_COMPLETE
 * for processes whose input is closed. */
void sx_run_push_deal(const struct sx_run_jobs *jobs, struct sx_run_push *push);

/* Take over @fd, the writing end of a rank's stdin, non-blocking. */
struct sx_run_feed *sx_run_feed_new(struct sx_run_loop *loop, int fd);
/* Call it outside the loop's turn; accepts NULL. */
struct sx_run_feed *sx_run_feed_free(struct sx_run_feed *feed);

#endif
