/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agreement.h - what a server contributes to a connect, or a group, over several nodes, as bytes.
 *
 *   agreement: struct sx_agreement, its members here, a name, namespaces, what else its kind says
 *   namespace: struct sx_agreement_nspace, its name, what the host has said of the job
 *
 * All servers read the same agreements, in any order.  The members are those of all agreements.
 * The name is that of the server which has the first of the members, in the order of
 * sx_proc_order. */
#ifndef SX_SERVER_COLLECTIVE_AGREEMENT_H
#define SX_SERVER_COLLECTIVE_AGREEMENT_H

#include "base/message/signature.h"
#include "server/model/blob.h"

#define SX_AGREEMENT_HEAP_MAX (UINT64_C(64) << 20) /* of one namespace, once unpacked */

struct sx_agreement {
    uint32_t member_count, name_len;
    uint64_t nspaces_size;
    uint32_t said_size;
    uint32_t is_partial; /* some of the processes that were named may be missing */
};
static_assert(sizeof(struct sx_agreement) == 24, "fixed by blob version 1");
enum { SX_AGREEMENT_MEMBERS, SX_AGREEMENT_NAME, SX_AGREEMENT_NSPACES, SX_AGREEMENT_SAID };
extern const struct sx_signature sx_agreement_body;

struct sx_agreement_nspace {
    uint32_t name_len, job_size;
    uint64_t info_size;
};
static_assert(sizeof(struct sx_agreement_nspace) == 16, "fixed by blob version 1");
enum { SX_AGREEMENT_NSPACE_NAME, SX_AGREEMENT_NSPACE_INFOS };
extern const struct sx_signature sx_agreement_nspace_body;

/* Append the body of @draft.  Return: PMIX_SUCCESS; as sx_body_measure and sx_body_write. */
pmix_status_t sx_agreement_add(struct sx_blob *blob, struct sx_draft *draft);

/* The agreements of all servers, merged. */
struct sx_agreed {
    pmix_proc_t *members; /* in order, no duplicates */
    size_t member_count;
    char name[PMIX_MAX_NSLEN + 1]; /* "": no server has proposed one */
    bool is_partial;               /* a server has set it */
};
void sx_agreed_clear(struct sx_agreed *agreed);

/* Functions for the other contents: one gets each namespace, opened, and one gets the kind's
 * contribution of each server.  Return: PMIX_SUCCESS; another status ends the reading. */
struct sx_agreement_reader {
    pmix_status_t (*nspace)(const struct sx_opened *nspace, void *arg);
    pmix_status_t (*said)(const struct sx_opened_part *said, void *arg);
    void *arg;
};
/* Read agreements that are concatenated (at a multiple of 8).  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNPACK_FAILURE for bytes that are not agreements; PMIX_ERR_OUT_OF_RESOURCE; the status
 * of @reader. */
pmix_status_t sx_agreements_read(const char *bytes, size_t size,
                                 const struct sx_agreement_reader *reader, struct sx_agreed *ret);

#endif
