/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrival.h - one client's joining of a collective operation, read out of its message. */
#ifndef SX_SERVER_COLLECTIVE_ARRIVAL_H
#define SX_SERVER_COLLECTIVE_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/message/signature.h"

struct sx_client;

struct sx_arrival {
    struct sx_client *client; /* the reader's to say */
    uint32_t kind, op;
    uint8_t hears;                        /* SX_HEARS_* */
    uint32_t open;                        /* that the client has under way, with this one */
    struct sx_collective_options options; /* the reader's to complete, by the kind's table */
    pmix_proc_t *procs;                   /* in the order of sx_proc_order, each once ...; a kind
                                           * makes it NULL when they are those of the others */
    size_t proc_count;
    bool in_order;      /* ... which is for the reader to judge */
    pmix_proc_t *order; /* a kind's that keeps the caller's order; NULL: none */
    size_t order_count;
    pmix_proc_t *written; /* what procs and order were made of; NULL: it is not kept */
    size_t written_count;
    pmix_info_t *info;
    size_t ninfo;
    size_t bytes; /* what processes and infos take, more or less */
};

/* Read an opened sx_arrive_body.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for infos that are none;
 * PMIX_ERR_OUT_OF_RESOURCE, and kind and op are set. */
pmix_status_t sx_arrival_read(struct sx_arrival *ret, const struct sx_opened *body);

/* Safe on a zeroed one and twice. */
void sx_arrival_clear(struct sx_arrival *arrival);

#endif
