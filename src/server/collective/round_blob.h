/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* round_blob.h - the blob that one server sends in a round (collective/rounds.h).  It has the
 * operations over one set of processes in which all members on its node have called.
 *
 *   blob:  its header (blob.h), entries
 *   entry: struct sx_round_entry, id with its NUL, what the node contributes to the operation
 *
 * A server that only has a fence sends the fence's own bytes, a blob of puts. */
#ifndef SX_SERVER_COLLECTIVE_ROUND_BLOB_H
#define SX_SERVER_COLLECTIVE_ROUND_BLOB_H

#include "base/message/signature.h"
#include "server/model/blob.h"

enum sx_round_step {
    SX_ROUND_READY = 1, /* all have called here */
    SX_ROUND_COMMIT,    /* ... and on all nodes: this server will not withdraw */
};

struct sx_round_entry {
    uint32_t kind;   /* enum sx_collective_kind; unknown ones are skipped */
    uint32_t step;   /* enum sx_round_step */
    int32_t status;  /* error with which it failed here; PMIX_SUCCESS: none */
    uint32_t id_len; /* with its NUL; 0: none */
    uint64_t size;   /* of the contribution */
};
static_assert(sizeof(struct sx_round_entry) == 24, "fixed by blob version 1");
enum { SX_ROUND_ID, SX_ROUND_CONTRIBUTION };
extern const struct sx_signature sx_round_entry_body;

/* Append an entry; @head needs neither id_len nor size.  Return: PMIX_SUCCESS,
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_round_blob_add(struct sx_blob *blob, const struct sx_round_entry *head,
                                const char *id, const struct sx_blob *contribution);

#endif
