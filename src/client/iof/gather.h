/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gather.h - output of other processes that is held back until there is enough of it.
 *
 *     put --> held --so many bytes, its time, its stream's end, sx_gather_end--> emit
 *
 * Each process and channel is held on its own, at most SX_GATHER_HELD_MAX bytes of all: then what
 * is held longest goes first.  One thread uses it. */
#ifndef SX_CLIENT_IOF_GATHER_H
#define SX_CLIENT_IOF_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "control/message.h"

#define SX_GATHER_BYTES 65536u         /* of a stream, if a time alone is given ... */
#define SX_GATHER_BYTES_MAX (1u << 20) /* ... and at most */
#define SX_GATHER_HELD_MAX (8u << 20)

struct sx_gather {
    size_t size;            /* bytes that are handed on at once */
    uint64_t time_ns;       /* so long they are held at most; 0: for ever */
    struct sx_list streams; /* that have some, the oldest first */
    size_t held;
    /* Return: false when nobody wants more. */
    bool (*emit)(void *arg, const struct sx_iof_piece *piece, const char *bytes, size_t size);
    void *arg;
};

/* Take @size bytes, or the end.  Return: as emit. */
bool sx_gather_put(struct sx_gather *gather, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size, uint64_t now_ns);

/* When sx_gather_check has something to do: hand on what is old.  Return: as emit. */
uint64_t sx_gather_deadline_ns(const struct sx_gather *gather);
bool sx_gather_check(struct sx_gather *gather, uint64_t now_ns);

/* Nothing more comes: hand on what is held if @wanted, and free it. */
void sx_gather_end(struct sx_gather *gather, bool wanted);

#endif
