/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wrappers.c - a function for each function of PMIx that waits, sends or is answered later; they
 * are made of the headers (cmake/trace.awk).
 *
 * A function that the process's library does not have is PMIX_ERR_NOT_SUPPORTED. */
#include <pmix.h>
#include <pmix_tool.h>

#include "trace/names.h"
#include "trace/recorder.h"

/* The library's function, which is looked up once. */
static void *next_find(_Atomic(void *) *next, const char *name)
{
    /* relaxed: whatever thread looks it up finds the same. */
    void *found = atomic_load_explicit(next, memory_order_relaxed);

    if (found == NULL) {
        found = sx_trace_next(name);
        atomic_store_explicit(next, found, memory_order_relaxed);
    }
    return found;
}

#include "trace/wrappers.inc"
