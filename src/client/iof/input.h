/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.h - this process's own standard input, on its way to others.
 *
 *     IDLE --sx_input_start--> READING --its end, a refusal, sx_input_stop--> IDLE
 *
 * First the server is told whom it goes to: from then on they see its end when this process goes,
 * even before it has read anything.  A thread reads a piece and pushes it; it reads no more before
 * the host has taken that.  So what a slow target has not taken stays in the input, and memory here
 * is one piece. */
#ifndef SX_CLIENT_IOF_INPUT_H
#define SX_CLIENT_IOF_INPUT_H

#include <stddef.h>

#include <pmix.h>

#define SX_INPUT_BYTES 32768u

/* As PMIx_IOF_push; its call has been judged. */
typedef pmix_status_t (*sx_input_push_fn)(const pmix_proc_t targets[], size_t ntargets,
                                          const pmix_byte_object_t *bo,
                                          const pmix_info_t directives[], size_t ndirs,
                                          pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The server knows the targets, or does not take them; PMIX_ERR_LOST_CONNECTION: it was stopped
 * before that was known.  On the thread that reads. */
typedef void (*sx_input_begun_fn)(void *arg, pmix_status_t status);

/* Push it to @targets, which are copied, by @push.  Return: PMIX_SUCCESS, and @begun is called
 * once; PMIX_ERR_RESOURCE_BUSY while it is pushed already; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_input_start(const pmix_proc_t targets[], size_t ntargets, sx_input_push_fn push,
                             sx_input_begun_fn begun, void *arg);
/* Read no more.  Nobody is told of an end.  Not on the thread that runs callbacks. */
void sx_input_stop(void);
/* In a child, where the thread is not. */
void sx_input_forked(void);

#endif
