/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gather.h - output of other processes that is held back until there is enough of it.
 *
 *     put --> held --enough bytes, its time, its stream's end, sx_gather_end--> emit
 *
 * The output of each process and channel is held separately, at most SX_GATHER_HELD_MAX bytes in
 * total.  Beyond that, the output that was held longest is emitted first.  One thread uses a
 * gather. */
#ifndef SX_CLIENT_IOF_GATHER_H
#define SX_CLIENT_IOF_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "control/message.h"

#define SX_GATHER_BYTES 65536u         /* of a stream, if only a time is given ... */
#define SX_GATHER_BYTES_MAX (1u << 20) /* ... and at most */
#define SX_GATHER_HELD_MAX (8u << 20)

struct sx_gather {
    size_t size;            /* bytes that are handed on at once */
    uint64_t time_ns;       /* the longest time that bytes are held; 0: for ever */
    struct sx_list streams; /* streams with held bytes, the oldest first */
    size_t held;
    /* Return: false when no more is wanted. */
    bool (*emit)(void *arg, const struct sx_iof_piece *piece, const char *bytes, size_t size);
    void *arg;
};

/* Add @size bytes, or the end of a stream.  Return: as emit. */
bool sx_gather_put(struct sx_gather *gather, const struct sx_iof_piece *piece, const char *bytes,
                   size_t size, uint64_t now_ns);

/* When sx_gather_check has work: hand on old bytes.  Return: as emit. */
uint64_t sx_gather_deadline_ns(const struct sx_gather *gather);
bool sx_gather_check(struct sx_gather *gather, uint64_t now_ns);

/* No more output arrives: hand on held bytes if @wanted, and free all. */
void sx_gather_end(struct sx_gather *gather, bool wanted);

#endif
