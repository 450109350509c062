/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* periodic.h - what this process does once a period, because it has asked for a monitor.
 *
 *     PREPARED --sx_periodic_go--> run once a period --ended, or PMIx_Finalize--> freed
 *         \------------------------ended----------------------------------------^
 *
 * It all runs on one thread, which the first one starts and PMIx_Finalize ends.  It is not the
 * thread that runs callbacks.  A file system that hangs there holds up the other monitors of this
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
    uint64_t number; /* names it: it may be gone */
    uint32_t place;  /* from 0, which it alone has while it lives */
    uint64_t period_ns, due_ns;
    bool at_once;   /* the first time is now */
    bool ended;     /* it runs just now, and is freed after that */
    const char *id; /* its owner's; empty: none */
    void (*run)(struct sx_periodic *periodic);
    void (*free)(struct sx_periodic *periodic); /* under a lock; it calls nothing of this file */
};

/* Take over @periodic, whose period, id and functions are set.  Return: PMIX_SUCCESS, and its place
 * and number; PMIX_ERR_EXISTS when another has its id; PMIX_ERR_OUT_OF_RESOURCE (told) when there
 * are SX_PERIODICS_MAX or no thread can be made.  On an error it is still the caller's. */
pmix_status_t sx_periodic_prepare(struct sx_periodic *periodic, uint32_t *ret_place,
                                  uint64_t *ret_number);
/* The first time is a period from now, unless `at_once` says else. */
void sx_periodic_go(uint64_t number);
/* Safe when it has ended. */
void sx_periodic_end(uint64_t number);
/* All that go by that id (empty: all).  Return: whether there were any. */
bool sx_periodics_end_called(const char *id);

/* End all of them, and the thread. */
void sx_periodics_stop(void);
/* In a child, where the thread is not: its copies stay as they are, and are never run. */
void sx_periodics_forked(void);

#endif
