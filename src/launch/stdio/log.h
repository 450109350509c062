/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.h - what ranks log: to the launcher's streams, or as records into the file of --log.
 *
 *   library's thread: call --> a part for each info --> outlet's queue
 *   launcher's thread: a piece of the oldest part, while the sink takes some --> all parts: answer
 *
 * An outlet is one more reader of its sink, and pauses with the others.  The library has bounded
 * what a rank may have waiting, and what is waiting lies where the library keeps it until it is
 * answered. */
#ifndef SX_LAUNCH_STDIO_LOG_H
#define SX_LAUNCH_STDIO_LOG_H

#include <pmix_server.h>
#include <stdbool.h>

#include "launch/ask/options.h"
#include "launch/job/loop.h"

struct sx_run_state;

/* Open the file that @options name.  Return: 0 or errno. */
int sx_run_log_init(const struct sx_run_options *options);
void sx_run_log_deinit(void);

/* The entry of the host's module; there is one of these a process. */
void sx_run_log(const pmix_proc_t *client, const pmix_info_t data[], size_t ndata,
                const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                void *cbdata);

/* While @run has its sinks.  Return: 0 or errno. */
int sx_run_log_open(struct sx_run_state *run);
void sx_run_log_close(struct sx_run_loop *loop);
/* Is there something that has not been written? */
bool sx_run_log_waits(void);

/* Answer what is left: it is not written any more, nor is what comes later. */
void sx_run_log_end(void);

#endif
