/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* push.h - input that others push to ranks of a job that was spawned for it.
 *
 *   server's thread: push_stdin --copied, news--> launcher's: a place in the queue of each target
 *   launcher's: feed (queue, the writing end of the rank's stdin) --all targets have it, or have
 *   closed theirs--> answered, once
 *
 * A rank that does not read delays the answers, and so only the clients that push.  Memory is
 * bounded by the requests that clients may have pending. */
#ifndef SX_LAUNCH_STDIO_PUSH_H
#define SX_LAUNCH_STDIO_PUSH_H

#include <pmix_server.h>

#include "launch/job/job.h"
#include "launch/job/loop.h"

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
