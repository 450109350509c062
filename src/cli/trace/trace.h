/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* trace.h - `shmix trace`: the PMIx calls of ranks as a timeline.
 *
 *     `shmix run` in a child, whose ranks get the library src/trace preloaded --> a file for each
 *     process (trace/record.h) --read.c--> calls --waits.c: who was waited for-->
 *     timeline.c: JSON for Perfetto;  summary.c: text
 *
 * Bounded by the records of the files, which the recorder bounds. */
#ifndef SX_CLI_TRACE_TRACE_H
#define SX_CLI_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/record.h"

struct sx_trace_process {
    uint32_t pid, rank, size, error;
    bool named; /* rank and nspace are known, since PMIx_Init */
    char nspace[256], library[128], program[256];
    uint64_t left_out; /* calls that have no record */
};

struct sx_trace_item {
    uint32_t process; /* of the set */
    uint16_t function;
    bool ended;        /* the call has returned */
    uint64_t begin_ns; /* end_ns: of the call, or of the whole set while it has not returned */
    uint64_t end_ns, back_ns;
    int32_t status, back_status;
    uint32_t tid, proc_count, rank, procs_hash;
    bool calls_back;
    char nspace[56], key[80];
    /* of a collective operation (waits.c) */
    uint32_t ordinal; /* which one of these processes it is, from 1; 0: not a collective */
    uint32_t members; /* that have a record of it */
    uint32_t last;    /* the item of the member that came last */
    bool is_longest;  /* of these members */
};

struct sx_trace_set {
    struct sx_trace_process *processes;
    struct sx_trace_item *items; /* by the time they began */
    size_t process_count, item_count;
    uint64_t begin_ns, end_ns; /* of all */
    unsigned damaged;          /* files that are not traces of this version */
};

/* The name of a traced function; NULL: there is none. */
const char *sx_trace_name(uint32_t function);

/* The time that an item took: until its callback, if it has one that came. */
uint64_t sx_trace_duration_ns(const struct sx_trace_item *item);

/* Read all files of @dir.  Return: false, with a message, when it cannot be read.  sx_trace_free
 * releases the set, also an empty one. */
bool sx_trace_read(const char *dir, struct sx_trace_set *ret);
void sx_trace_free(struct sx_trace_set *set);

/* Fill in the last four fields of the items. */
void sx_trace_waits(struct sx_trace_set *set);

/* Write JSON in Chrome's format of trace events.  Errors are those of @out. */
void sx_trace_timeline(const struct sx_trace_set *set, FILE *out);

/* Write the figures of each function, and the @longest longest waits. */
void sx_trace_summary(const struct sx_trace_set *set, size_t longest, FILE *out);

#endif
