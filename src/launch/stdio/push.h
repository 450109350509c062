/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* push.h - input that others push to ranks of a job that was spawned for it.
 *
 *   server's thread: push_stdin --copied, news--> launcher's: a place in the queue of each target
 *   launcher's: feed (queue, the writing end of the rank's stdin) --all targets have it, or have
 *   closed theirs--> answered, once
 *
 * A rank that does not read delays the answers, and so those who push, and nobody else; memory is
 * bounded by what clients may have unanswered. */
#ifndef SX_LAUNCH_STDIO_PUSH_H
#define SX_LAUNCH_STDIO_PUSH_H

#include <pmix_server.h>

#include "launch/job/job.h"
#include "launch/job/loop.h"

struct sx_run_push; /* some input */
struct sx_run_feed; /* where it goes */

/* Copy what is pushed.  Return: PMIX_SUCCESS, and @cbfunc will be called; as sx_options_read. */
pmix_status_t sx_run_push_new(struct sx_run_push **ret_push, const pmix_proc_t targets[],
                              size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                              const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata);
/* Answer and free it; @fn is not called where the server has ended. */
void sx_run_push_end(struct sx_run_push *push, pmix_status_t status, bool answer);

/* Hand it out, which frees it sooner or later.  It is answered PMIX_SUCCESS if at least one target
 * has it; PMIX_ERR_NOT_FOUND for processes that are not there; PMIX_ERR_IOF_COMPLETE for those
 * whose input is closed. */
void sx_run_push_deal(const struct sx_run_jobs *jobs, struct sx_run_push *push);

/* @fd, the writing end of a rank's stdin, non-blocking, is taken over. */
struct sx_run_feed *sx_run_feed_new(struct sx_run_loop *loop, int fd);
/* Outside the loop's turn; NULL is fine. */
struct sx_run_feed *sx_run_feed_free(struct sx_run_feed *feed);

#endif
