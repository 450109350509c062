/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull.h - output of other processes that is sent to this one: a socket and a thread for each pull.
 *
 *     READING --sx_pull_end, or the server's end--> the rest --> gone
 *
 * The thread reads a piece and hands it to the thread that runs callbacks, or writes it to a
 * standard stream of this process.  It reads no more before that is done: so a slow reader slows
 * the server down (back-pressure), and memory here is one piece a pull. */
#ifndef SX_CLIENT_IOF_PULL_H
#define SX_CLIENT_IOF_PULL_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_tool.h>

#include "base/call/directive_tables.h"
#include "client/link/op.h"

/* Read from @fd, which it takes over in any case; @cbfunc NULL: for the standard streams.  Return:
 * PMIX_SUCCESS, and its number, from 1; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_pull_start(const struct sx_iof_options *options, pmix_iof_cbfunc_t cbfunc, int fd,
                            size_t *ret_number);

/* Output that is under way still arrives, then @op is answered.  Return: PMIX_SUCCESS when @op will
 * be answered; PMIX_ERR_NOT_FOUND: no pull has that number, or it is ending already. */
pmix_status_t sx_pull_end(size_t number, struct sx_op *op);
/* The same, and wait for the end.  Return: PMIX_ERR_NOT_FOUND, as above; PMIX_ERR_NOT_SUPPORTED on
 * the thread that runs callbacks. */
pmix_status_t sx_pull_end_wait(size_t number);

/* PMIx_Finalize: end all pulls, within SX_PULLS_END_NS for output that is under way. */
#define SX_PULLS_END_NS (2 * SX_NS_PER_SEC)
void sx_pulls_stop(void);
/* In a forked child, which lacks the threads. */
void sx_pulls_forked(void);

#endif
