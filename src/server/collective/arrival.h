/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrival.h - the call with which one client joins a collective operation, read from its
 * message. */
#ifndef SX_SERVER_COLLECTIVE_ARRIVAL_H
#define SX_SERVER_COLLECTIVE_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/message/signature.h"

struct sx_client;

struct sx_arrival {
    struct sx_client *client; /* set by the caller of sx_arrival_read */
    uint32_t kind, op;
    uint8_t hears;                        /* SX_HEARS_* */
    uint32_t open;                        /* open operations of the client, this one included */
    struct sx_collective_options options; /* completed by the caller, from the kind's table */
    pmix_proc_t *procs;                   /* in the order of sx_proc_order, each once ...; a kind
                                           * makes it NULL when they equal those of earlier
                                           * callers */
    size_t proc_count;
    bool in_order;      /* ... which the caller has to check */
    pmix_proc_t *order; /* for a kind that keeps the caller's order; NULL: none */
    size_t order_count;
    pmix_proc_t *written; /* source of procs and order; NULL: not kept */
    size_t written_count;
    pmix_info_t *info;
    size_t ninfo;
    size_t bytes; /* approximate size of processes and infos */
};

/* Read an opened sx_arrive_body.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for invalid infos;
 * PMIX_ERR_OUT_OF_RESOURCE, and kind and op are set. */
pmix_status_t sx_arrival_read(struct sx_arrival *ret, const struct sx_opened *body);

/* Safe on a zeroed @arrival and twice. */
void sx_arrival_clear(struct sx_arrival *arrival);

#endif
