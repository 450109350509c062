/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unclaimed.h - output that nobody has pulled yet, by the jobs that it is from.
 *
 *     deliver --nobody pulls it--> KEPT --the first pull that is about it--> given
 *                                   \--there is too much, and its job has the most--> gone
 *
 * A job that writes much pushes out what is its own, and not the few lines of another.  An end
 * takes no room, and goes only when there are too many of them.
 * Bounds: SX_KEPT_BYTES, SX_KEPT_COUNT.  What is there again for one pull is not counted: it is
 * given, or dropped, as soon as that pull has been answered.  Loop thread. */
#ifndef SX_SERVER_IOF_UNCLAIMED_H
#define SX_SERVER_IOF_UNCLAIMED_H

#include "server/iof/output.h"
#include "server/model/state.h"

#define SX_KEPT_BYTES (1u << 20) /* in all ... */
#define SX_KEPT_COUNT 4096u      /* ... in so many pieces */

void sx_kept_init(struct sx_server *server);

/* Keep @output, as long as there is room; without memory it is gone at once. */
void sx_kept_add(struct sx_server *server, struct sx_output *output);

/* Ask @takes about all that is kept, what is of one process in its order; what it says yes to is
 * kept no more, and gone unless it has retained it. */
void sx_kept_each(struct sx_server *server, bool (*takes)(void *arg, struct sx_output *output),
                  void *arg);

/* Drop what is of the job of this name. */
void sx_kept_forget(struct sx_server *server, const char *nspace);
/* Drop all. */
void sx_kept_clear(struct sx_server *server);

#endif
