/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull_index.h - pulls of output, found by the processes that they name.
 *
 * Some output is for the pulls that name its process, or all of its job.  Those are found through
 * one table, hashed with a seed that no client knows: no number of other pulls makes it slower.
 * Memory: that of the pulls, an entry for each process that one names.  Loop thread. */
#ifndef SX_SERVER_IOF_PULL_INDEX_H
#define SX_SERVER_IOF_PULL_INDEX_H

#include "server/iof/pull.h"

/* @pull is found from now on; its processes stay as they are.  Return: false when memory is out. */
bool sx_pull_index_add(struct sx_server *server, struct sx_pull *pull);
/* It is not found any more.  Safe for one that is not there. */
void sx_pull_index_remove(struct sx_server *server, struct sx_pull *pull);

/* Call @fn once with each pull that is about @output by name and channel.  @fn ends none. */
void sx_pull_index_each(struct sx_server *server, struct sx_output *output,
                        void (*fn)(void *arg, struct sx_pull *pull, struct sx_output *output),
                        void *arg);

#endif
