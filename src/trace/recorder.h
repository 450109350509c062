/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* recorder.h - what the wrappers of the preloaded library call.
 *
 *     PMIx_X --begin: claim a record--> notes: who and what --go--> the library's PMIx_X --end-->
 *
 * Any thread.  A call that a library makes of its own functions is not recorded: only the outermost
 * call of a thread is. */
#ifndef SX_TRACE_RECORDER_H
#define SX_TRACE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix.h>

#include "trace/record.h"

struct sx_trace_call {
    struct sx_trace_record *record; /* NULL: the call is not recorded */
};

/* The function @name of the library that the process has; NULL: it has none. */
void *sx_trace_next(const char *name);

void sx_trace_begin(struct sx_trace_call *call, uint16_t function);
void sx_trace_go(struct sx_trace_call *call);
void sx_trace_end(struct sx_trace_call *call, pmix_status_t status);

/* PMIx_Init has named this process. */
void sx_trace_self(const pmix_proc_t *self);

/* ---- notes ----------------------------------------------------------------------------------- */

/* NULL may be given to each. */
void sx_trace_procs(struct sx_trace_call *call, const pmix_proc_t *procs, size_t count);
void sx_trace_text(struct sx_trace_call *call, const char *text);

/* ---- callbacks ------------------------------------------------------------------------------- */

typedef void (*sx_trace_fn)(void);

struct sx_trace_back {
    _Atomic int state; /* of recorder.c */
    struct sx_trace_record *record;
    sx_trace_fn fn;
    void *cbdata;
};

/* Return: malloc'ed, what the library gets in the place of @cbdata; NULL: the caller's own callback
 * is to be given. */
struct sx_trace_back *sx_trace_back_new(struct sx_trace_call *call, sx_trace_fn fn, void *cbdata);
/* The call has returned @status: if that is an error, no callback comes any more.  NULL is safe. */
void sx_trace_back_done(struct sx_trace_back *back, pmix_status_t status);

/* The callback has come: record it.  Return: what the caller gave. */
struct sx_trace_given {
    sx_trace_fn fn;
    void *cbdata;
};
struct sx_trace_given sx_trace_back_take(void *cbdata, pmix_status_t status);

#endif
