/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unclaimed.h - output without a pull so far, stored by the job that wrote it.
 *
 *     deliver --no pull matches--> KEPT --the first pull that matches it----> given
 *                                   \--there is too much, and its job has the most--> gone
 *
 * A job that writes much displaces its own output, and not the few lines of another job.  An end
 * takes no room, and is dropped only when there are too many ends.  Bounds: SX_KEPT_BYTES,
 * SX_KEPT_COUNT.  An output that is repeated for one pull is not counted: it is given, or dropped,
 * as soon as that pull has been answered.  Loop thread. */
#ifndef SX_SERVER_IOF_UNCLAIMED_H
#define SX_SERVER_IOF_UNCLAIMED_H

#include "server/iof/output.h"
#include "server/model/state.h"

#define SX_KEPT_BYTES (1u << 20) /* of all kept outputs ... */
#define SX_KEPT_COUNT 4096u      /* ... and their number */

void sx_kept_init(struct sx_server *server);

/* Keep @output, as long as there is room; without memory it is dropped at once. */
void sx_kept_add(struct sx_server *server, struct sx_output *output);

/* Call @takes for all kept outputs, those of one process in their order.  An output for which it
 * returns true is kept no more, and freed unless @takes has retained it. */
void sx_kept_each(struct sx_server *server, bool (*takes)(void *arg, struct sx_output *output),
                  void *arg);

/* Drop the output of the job of this name. */
void sx_kept_forget(struct sx_server *server, const char *nspace);
/* Drop all output. */
void sx_kept_clear(struct sx_server *server);

#endif
