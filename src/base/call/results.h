/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results.h - the results of an event's handlers so far, as the next one receives them.
 *
 *     name: status | what it returned | name: status | what it returned ...
 *
 * One flat array.  For each earlier handler an element with its name as the key (empty when
 * unnamed) and the status it returned, then its infos.  A handler may edit values in place, and
 * delete an element by freeing its key, that is by making it empty.  Of the wishes about
 * termination (PMIX_EVENT_NO_TERMINATION, PMIX_EVENT_WANT_TERMINATION) only the newest stands, and
 * a required PMIX_EVENT_WANT_TERMINATION stands for good.  One thread at a time. */
#ifndef SX_BASE_CALL_RESULTS_H
#define SX_BASE_CALL_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

struct sx_results {
    pmix_info_t *all; /* NULL: none, and nothing to free */
    bool *keyed;      /* which of them had a key: one without it now was deleted */
    size_t count, capacity;
    bool must_terminate; /* a required wish was among them */
};

#define SX_RESULTS_NULL ((struct sx_results){ .all = NULL })

/* Safe on SX_RESULTS_NULL and twice. */
void sx_results_deinit(struct sx_results *results);

/* A handler called @name ("": unnamed) has returned @status and @info; everything is copied.  When
 * memory is short, later handlers receive fewer results, with a line in the log. */
void sx_results_add(struct sx_results *results, const char *name, pmix_status_t status,
                    const pmix_info_t info[], size_t ninfo);

#endif
