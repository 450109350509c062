/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull_index.h - an index from processes to the pulls of their output.
 *
 * An output is for the pulls that name its process, or all of its job.  They are found through one
 * table, hashed with a secret seed: no number of other pulls makes it slower.  Memory: that of the
 * pulls, an entry for each process that a pull names.  Loop thread. */
#ifndef SX_SERVER_IOF_PULL_INDEX_H
#define SX_SERVER_IOF_PULL_INDEX_H

#include "server/iof/pull.h"

/* Add @pull to the index; its processes must not change.  Return: false when memory is out. */
bool sx_pull_index_add(struct sx_server *server, struct sx_pull *pull);
/* Remove the pull from the index.  Safe for one that is not in it. */
void sx_pull_index_remove(struct sx_server *server, struct sx_pull *pull);

/* Call @fn once with each pull that matches @output by name and channel.  @fn must not end a
 * pull. */
void sx_pull_index_each(struct sx_server *server, struct sx_output *output,
                        void (*fn)(void *arg, struct sx_pull *pull, struct sx_output *output),
                        void *arg);

#endif
