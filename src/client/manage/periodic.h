/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* periodic.h - tasks that this process runs once a period, for monitors that it has asked for.
 *
 *     PREPARED --sx_periodic_go--> run once a period --ended, or PMIx_Finalize--> freed
 *         \------------------------ended----------------------------------------^
 *
 * All tasks run on one thread, which the first task starts and PMIx_Finalize ends.  That thread
 * does not run callbacks.  A file system that hangs there delays the other monitors of this
 * process, and PMIx_Finalize, and nothing else.  Any thread may call these. */
#ifndef SX_CLIENT_MANAGE_PERIODIC_H
#define SX_CLIENT_MANAGE_PERIODIC_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/list.h"

#define SX_PERIODICS_MAX 16u

struct sx_periodic {
    struct sx_list link;
    uint64_t number; /* identifies the task, which may have ended */
    uint32_t place;  /* from 0; unique among living tasks */
    uint64_t period_ns, due_ns;
    bool at_once;   /* the first run is now */
    bool ended;     /* freed after the run that is under way */
    const char *id; /* chosen by its owner; empty: none */
    void (*run)(struct sx_periodic *periodic);
    void (*free)(struct sx_periodic *periodic); /* under a lock; calls no function of this file */
};

/* Take over @periodic, whose period, id and functions are set.  Return: PMIX_SUCCESS, and its place
 * and number; PMIX_ERR_EXISTS when another has its id; PMIX_ERR_OUT_OF_RESOURCE (logged) when there
 * are SX_PERIODICS_MAX or no thread can be made.  On an error it is still the caller's. */
pmix_status_t sx_periodic_prepare(struct sx_periodic *periodic, uint32_t *ret_place,
                                  uint64_t *ret_number);
/* The first run is a period from now, unless `at_once` is set. */
void sx_periodic_go(uint64_t number);
/* End a task; safe when it has ended. */
void sx_periodic_end(uint64_t number);
/* End all tasks with that id (empty: all).  Return: whether there were any. */
bool sx_periodics_end_called(const char *id);

/* End all tasks, and the thread. */
void sx_periodics_stop(void);
/* In a forked child, which lacks the thread: copies of tasks stay as they are, and are never
 * run. */
void sx_periodics_forked(void);

#endif
