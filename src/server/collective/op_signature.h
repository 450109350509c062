/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op_signature.h - by what an open operation is known: its kind, its processes and the callers'
 * id. */
#ifndef SX_SERVER_COLLECTIVE_OP_SIGNATURE_H
#define SX_SERVER_COLLECTIVE_OP_SIGNATURE_H

#include "server/collective/collective_kind.h"

struct sx_op_signature {
    uint32_t kind;            /* enum sx_collective_kind */
    const pmix_proc_t *procs; /* in the order of sx_proc_order, each once; or the id says all */
    size_t proc_count;
    const char *id; /* NULL: none */
};

/* Return: its place in a table.  Clients cannot guess it. */
uint64_t sx_op_signature_hash(const struct sx_server *server,
                              const struct sx_op_signature *meeting);

/* Return: the oldest operation of @meeting, whose hash is @hash, that is open; NULL when none
 * is. */
struct sx_collective *sx_op_signature_oldest(const struct sx_server *server,
                                             const struct sx_op_signature *meeting, uint64_t hash);
/* Return: the newest that has been named in other words, which mean the processes of @meeting (no
 * names of lists); NULL when there is none. */
struct sx_collective *sx_op_signature_meant(const struct sx_server *server,
                                            const struct sx_op_signature *meeting, uint64_t hash);
/* The same of those that have ended, and of whose end somebody has to hear yet. */
struct sx_collective *sx_op_signature_owed(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash);

#endif
