/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.h - forward this process's own standard input to other processes.
 *
 *     IDLE --sx_input_start--> READING --its end, a refusal, sx_input_stop--> IDLE
 *
 * First the targets are sent to the server: from then on their input ends when this process ends,
 * even before it has read anything.  A thread reads a piece and pushes it, and reads no more before
 * the host has taken that piece.  So input that a slow target has not taken stays in the pipe
 * (back-pressure), and memory here is one piece. */
#ifndef SX_CLIENT_IOF_INPUT_H
#define SX_CLIENT_IOF_INPUT_H

#include <stddef.h>

#include <pmix.h>

#define SX_INPUT_BYTES 32768u

/* As PMIx_IOF_push, with arguments that were checked. */
typedef pmix_status_t (*sx_input_push_fn)(const pmix_proc_t targets[], size_t ntargets,
                                          const pmix_byte_object_t *bo,
                                          const pmix_info_t directives[], size_t ndirs,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* Called when the server has accepted or refused the targets; PMIX_ERR_LOST_CONNECTION: stopped
 * before its answer.  On the thread that reads. */
typedef void (*sx_input_begun_fn)(void *arg, pmix_status_t status);

/* Push the standard input to @targets, which are copied, by @push.  Return: PMIX_SUCCESS, and
 * @begun is called once; PMIX_ERR_RESOURCE_BUSY while the input is pushed already;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_input_start(const pmix_proc_t targets[], size_t ntargets, sx_input_push_fn push,
                             sx_input_begun_fn begun, void *arg);
/* Read no more.  No end of input is sent.  Not on the thread that runs callbacks. */
void sx_input_stop(void);
/* In a forked child, which lacks the thread. */
void sx_input_forked(void);

#endif
