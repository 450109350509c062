/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.h - the file of one traced process: a page of facts, then records of fixed size.
 *
 *   0          4096                      4096 + capacity * 192
 *   +----------+----------+----------+---
 *   | header   | record 0 | record 1 | ...   mapped by the process: a kill leaves what is written
 *   +----------+----------+----------+---
 *
 * A record is claimed by counting up @next, filled, and then its state is stored; records beyond
 * the capacity, or for which the disk has no room, are counted in @next alone.  The command that
 * reads the file trusts nothing in it. */
#ifndef SX_TRACE_RECORD_H
#define SX_TRACE_RECORD_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define SX_TRACE_MAGIC UINT64_C(0x5358545243000001) /* "SXTRC", 0, layout 1: bump on change */
#define SX_TRACE_DIR_VARIABLE "SHMIX_TRACE_DIR"
#define SX_TRACE_RECORDS_VARIABLE "SHMIX_TRACE_RECORDS"
#define SX_TRACE_RECORDS 65536u /* of a process, if the variable does not say otherwise */
#define SX_TRACE_RECORDS_MAX (16u << 20)
#define SX_TRACE_LIBRARY "libshmix-trace.so"

struct sx_trace_header {
    _Atomic uint64_t magic; /* stored last */
    uint32_t record_size_bytes, capacity;
    uint32_t function_count, pid;
    _Atomic uint64_t next;  /* calls so far, with those that were left out */
    _Atomic uint32_t room;  /* records that have blocks on the disk */
    _Atomic uint32_t error; /* errno, when there were no more */
    _Atomic uint32_t named; /* 1: the three fields below are there */
    uint32_t rank;
    uint32_t size; /* ranks of the job; 0: not known */
    uint32_t reserved0;
    char nspace[256];
    char library[128]; /* PMIx_Get_version of the process's library; empty: not known */
    char program[256];
    uint8_t reserved[3400]; /* zero */
};
static_assert(sizeof(struct sx_trace_header) == 4096, "fixed by layout 1");

enum sx_trace_state { SX_TRACE_EMPTY, SX_TRACE_BEGUN, SX_TRACE_ENDED };

#define SX_TRACE_CALLS_BACK 1u /* a callback was given */

struct sx_trace_record {
    _Atomic uint32_t state;
    uint16_t function; /* of the table that is made of the headers */
    uint16_t flags;
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
    _Atomic uint64_t back_ns;  /* when the callback came; 0: not yet, or there is none */
    int32_t status, back_status;
    uint32_t tid;
    uint32_t proc_count; /* processes that were given; 0: none */
    uint32_t rank;       /* of the first */
    uint32_t procs_hash; /* of all, in any order */
    char nspace[56];     /* of the first, cut */
    char key[80];        /* key, group, name or command, cut */
};
static_assert(sizeof(struct sx_trace_record) == 192, "three lines");

#endif
