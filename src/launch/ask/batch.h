/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* batch.h - the batch system's allocation for this process: how many ranks it has on this node.
 *
 * Slurm, PBS, LSF, Flux and Grid Engine describe a job to its script in variables and files.
 * Without -n, there are as many ranks as the job has tasks on this node.  Tasks on other nodes
 * cannot be used from here, and one line says so.
 *
 * A task of a parallel step takes nothing from the allocation, or each task would start all ranks.
 * A rank of a launcher takes nothing either, and no line says so. */
#ifndef SX_LAUNCH_ASK_BATCH_H
#define SX_LAUNCH_ASK_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/ask/options.h"

struct sx_run_batch {
    const char *system;  /* "Slurm"; NULL: there is no allocation */
    const char *job;     /* the system's name for this job */
    const char *starter; /* the command that starts programs on all nodes: "srun" */
    uint32_t nodes;      /* 0: unknown */
    uint32_t tasks;      /* on all nodes; 0: unknown */
    uint32_t here;       /* tasks on this node; 0: none, or unknown */
    uint32_t cpus_each;  /* of a task, if the user has given a number; else 0 */
    uint32_t step_tasks; /* more than 1: this process is one of so many tasks */
};

/* Read the variables.  @own is the kernel's name for this node. */
void sx_run_batch_read(struct sx_run_batch *batch, const char *own);

/* If a single program has no number of ranks, take it from the allocation.  Report what was taken
 * and what was not, unless --quiet. */
void sx_run_batch_take(struct sx_run_options *options);

/* For tests.  The number of tasks on the node at @index, by "2(x3),1"; 0: none.  The place of @own
 * in the list "a[01-03,7],b"; UINT32_MAX: it is not in the list. */
uint32_t sx_run_batch_tasks_at(const char *text, uint32_t index);
uint32_t sx_run_batch_index_of(const char *list, const char *own);

#endif
