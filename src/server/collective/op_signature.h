/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op_signature.h - the signature of an open operation: its kind, its processes and the callers'
 * id. */
#ifndef SX_SERVER_COLLECTIVE_OP_SIGNATURE_H
#define SX_SERVER_COLLECTIVE_OP_SIGNATURE_H

#include "server/collective/collective_kind.h"

struct sx_op_signature {
    uint32_t kind;            /* enum sx_collective_kind */
    const pmix_proc_t *procs; /* in the order of sx_proc_order, each once; none if the id
                               * suffices */
    size_t proc_count;
    const char *id; /* NULL: none */
};

/* Return: the hash for a table.  Clients cannot guess it. */
uint64_t sx_op_signature_hash(const struct sx_server *server,
                              const struct sx_op_signature *meeting);

/* Return: the oldest open operation of @meeting, whose hash is @hash; NULL: there is none. */
struct sx_collective *sx_op_signature_oldest(const struct sx_server *server,
                                             const struct sx_op_signature *meeting, uint64_t hash);
/* Return: the newest operation that was named in another way, but means the processes of @meeting
 * (no names of lists); NULL: there is none. */
struct sx_collective *sx_op_signature_meant(const struct sx_server *server,
                                            const struct sx_op_signature *meeting, uint64_t hash);
/* The same for operations that have failed, and whose status some members have still to get. */
struct sx_collective *sx_op_signature_owed(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash);

#endif
