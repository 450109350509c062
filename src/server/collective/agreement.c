/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* agreement.c - the same members, in the same order, and the same name at each server. */
#include "server/collective/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/value.h"

const struct sx_signature sx_agreement_body = {
    .head_size = sizeof(struct sx_agreement),
    .parts = { [SX_AGREEMENT_MEMBERS] = SX_PROCS_PART(struct sx_agreement, member_count, 1),
               [SX_AGREEMENT_NAME] = SX_NAME_PART(struct sx_agreement, name_len, 0, PMIX_MAX_NSLEN),
               [SX_AGREEMENT_NSPACES] = SX_ARRAY_PART(struct sx_agreement, nspaces_size, char, 0),
               [SX_AGREEMENT_SAID] = SX_ARRAY_PART(struct sx_agreement, said_size, char,
                                                   UINT32_MAX) },
};

const struct sx_signature sx_agreement_nspace_body = {
    .head_size = sizeof(struct sx_agreement_nspace),
    .parts = { [SX_AGREEMENT_NSPACE_NAME] = SX_NAME_PART(struct sx_agreement_nspace, name_len, 1,
                                                         PMIX_MAX_NSLEN),
               [SX_AGREEMENT_NSPACE_INFOS] = SX_INFOS_PART(struct sx_agreement_nspace, info_size) },
    .heap_max = SX_AGREEMENT_HEAP_MAX,
};

pmix_status_t sx_agreement_add(struct sx_blob *blob, struct sx_draft *draft)
{
    size_t size;
    const pmix_status_t rc = sx_body_measure(draft, &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    char *const at = sx_blob_extend(blob, sx_align_up(size, 8));

    return at == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_body_write(draft, at);
}

void sx_agreed_clear(struct sx_agreed *agreed)
{
    free(agreed->members);
    *agreed = (struct sx_agreed){ .members = NULL };
}

static pmix_status_t nspaces_read(const struct sx_opened_part *nspaces,
                                  const struct sx_agreement_reader *reader)
{
    const uint8_t *at = nspaces->at;
    size_t left = nspaces->size;
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_opened nspace;

    while (rc == PMIX_SUCCESS && left > 0) {
        rc = sx_body_next(&nspace, &sx_agreement_nspace_body, &at, &left) != NULL
                 ? PMIX_ERR_UNPACK_FAILURE
                 : reader->nspace(&nspace, reader->arg);
    }
    return rc;
}

/* Add the members of one more server.  The name is that of the server with the first member,
 * *first. */
static pmix_status_t members_add(struct sx_agreed *agreed, const struct sx_opened *agreement,
                                 pmix_proc_t *first)
{
    const struct sx_opened_part *const name = &agreement->parts[SX_AGREEMENT_NAME];
    const size_t count = agreement->parts[SX_AGREEMENT_MEMBERS].count;
    pmix_proc_t *const grown = realloc(agreed->members,
                                       (agreed->member_count + count) * sizeof(*grown));
    pmix_proc_t *more;

    if (grown == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    agreed->members = grown;
    const pmix_status_t rc = sx_part_procs(&agreement->parts[SX_AGREEMENT_MEMBERS], &more);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(grown + agreed->member_count, more, count * sizeof(*more));
    qsort(more, count, sizeof(*more), sx_proc_order);
    if (agreed->member_count == 0 || sx_proc_order(&more[0], first) < 0) {
        *first = more[0];
        memset(agreed->name, 0, sizeof(agreed->name));
        memcpy(agreed->name, name->at, name->size);
    }
    agreed->member_count += count;
    agreed->is_partial |= ((const struct sx_agreement *)agreement->head)->is_partial != 0;
    free(more);
    return PMIX_SUCCESS;
}

static void members_sort(struct sx_agreed *agreed)
{
    size_t kept = 0;

    if (agreed->member_count > 0) {
        qsort(agreed->members, agreed->member_count, sizeof(*agreed->members), sx_proc_order);
    }
    for (size_t i = 0; i < agreed->member_count; i++) {
        if (kept == 0 || sx_proc_order(&agreed->members[kept - 1], &agreed->members[i]) != 0) {
            agreed->members[kept++] = agreed->members[i];
        }
    }
    agreed->member_count = kept;
}

pmix_status_t sx_agreements_read(const char *bytes, size_t size,
                                 const struct sx_agreement_reader *reader, struct sx_agreed *ret)
{
    const uint8_t *at = (const uint8_t *)bytes;
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_opened agreement;
    pmix_proc_t first;

    *ret = (struct sx_agreed){ .members = NULL };
    while (rc == PMIX_SUCCESS && size > 0) {
        rc = sx_body_next(&agreement, &sx_agreement_body, &at, &size) != NULL
                 ? PMIX_ERR_UNPACK_FAILURE
                 : members_add(ret, &agreement, &first);
        if (rc == PMIX_SUCCESS) {
            rc = nspaces_read(&agreement.parts[SX_AGREEMENT_NSPACES], reader);
        }
        if (rc == PMIX_SUCCESS) {
            rc = reader->said(&agreement.parts[SX_AGREEMENT_SAID], reader->arg);
        }
    }
    members_sort(ret);
    if (rc != PMIX_SUCCESS) {
        sx_agreed_clear(ret);
    }
    return rc;
}
