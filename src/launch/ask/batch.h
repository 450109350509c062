/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* batch.h - the allocation of a batch system that this process is in: how many ranks it has here.
 *
 * Slurm, PBS, LSF, Flux and Grid Engine describe a job to its script in variables and files.  Where
 * no -n is given, the ranks are as many as the tasks that this node has in the job.  What the job
 * has on other nodes cannot be used from here, and one line says so.
 *
 * A task of a parallel step takes nothing: each task of the step would start all of it.  A rank of
 * a launcher takes nothing either, and no line says so. */
#ifndef SX_LAUNCH_ASK_BATCH_H
#define SX_LAUNCH_ASK_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/ask/options.h"

struct sx_run_batch {
    const char *system;  /* "Slurm"; NULL: there is no allocation */
    const char *job;     /* how it is called there */
    const char *starter; /* the command that starts on all nodes: "srun" */
    uint32_t nodes;      /* 0: unknown */
    uint32_t tasks;      /* on all nodes; 0: unknown */
    uint32_t here;       /* tasks on this node; 0: it is not one of them, or unknown */
    uint32_t cpus_each;  /* of a task, if the user has said so; else 0 */
    uint32_t step_tasks; /* more than 1: this process is one of so many tasks */
};

/* Read the variables, on a node that the kernel calls @own. */
void sx_run_batch_read(struct sx_run_batch *batch, const char *own);

/* Where a single program has no number of ranks, take it from the allocation; say what was taken
 * and what was not, unless --quiet. */
void sx_run_batch_take(struct sx_run_options *options);

/* For tests.  How many tasks the node at @index has, by "2(x3),1"; 0: it has none there.  Where
 * @own is in the list "a[01-03,7],b"; UINT32_MAX: it is not. */
uint32_t sx_run_batch_tasks_at(const char *text, uint32_t index);
uint32_t sx_run_batch_index_of(const char *list, const char *own);

#endif
