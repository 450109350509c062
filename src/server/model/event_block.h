/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_block.h - one event as the bytes that travel (struct sx_event and what follows it).
 *
 * The contents of a block have been checked or were written here, so its readers need not check.  A
 * block is counted: its publisher holds one reference, the history another. */
#ifndef SX_SERVER_MODEL_EVENT_BLOCK_H
#define SX_SERVER_MODEL_EVENT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#include "base/list.h"
#include "control/message.h"
#include "ring/record.h"

struct sx_event_block {
    unsigned reference_count;
    bool is_job; /* concerns a job: kept until all its local ranks have had it */
    bool from_host;
    bool for_host; /* addressed to the host: its default handlers receive it */
    bool has_user; /* a client published it: only processes that it may reach get it */
    uid_t user;
    uint64_t session;       /* of the range SESSION: the source's, or SX_SESSION_UNKNOWN */
    struct sx_list link;    /* event_log.c: the history, oldest first */
    struct sx_list cache;   /* event_log.c: the events without a job, oldest first */
    struct sx_list entries; /* event_log.c: the logs it is in */
    uint32_t target_off, affected_off, info_off; /* in bytes */
    uint32_t size;
    _Alignas(8) char bytes[]; /* number 0: each namespace has its own */
};

/* The event that a client sent as @body (sx_event_body, opened), made one of @source.  Return:
 * PMIX_SUCCESS and *ret; PMIX_ERR_UNPACK_FAILURE for a range that no correct client writes;
 * PMIX_ERR_BAD_PARAM for a custom range without targets; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_block_judge(const pmix_proc_t *source, const struct sx_opened *body,
                                   struct sx_event_block **ret);

/* An event of this process.  @options are those of @info.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 * (a custom range without targets, an invalid range, a process without a name);
 * PMIX_ERR_NOT_SUPPORTED (infos that cannot travel); PMIX_ERR_OUT_OF_RESOURCE (also: larger than
 * SX_EVENT_BYTES_MAX). */
pmix_status_t sx_event_block_build(pmix_status_t code, const pmix_proc_t *source,
                                   const struct sx_notify_options *options,
                                   const pmix_info_t info[], size_t ninfo,
                                   struct sx_event_block **ret);

struct sx_event_block *sx_event_block_retain(struct sx_event_block *block);
/* Return: NULL, always. */
struct sx_event_block *sx_event_block_release(struct sx_event_block *block);

static inline struct sx_event *sx_event_block_head(struct sx_event_block *block)
{
    return (struct sx_event *)(void *)block->bytes;
}

void sx_event_block_source(const struct sx_event_block *block, pmix_proc_t *ret);

/* Whether process @rank of @nspace is one that the event is for; any event without targets is.
 * PMIX_RANK_WILDCARD: whether any process of the namespace may be. */
bool sx_event_block_aims_at(const struct sx_event_block *block, const char *nspace, uint32_t rank);

/* Malloc'ed, NULL and 0 when there are none.  Return: PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_event_block_targets(const struct sx_event_block *block, pmix_proc_t **ret_procs,
                                     size_t *ret_count);
pmix_status_t sx_event_block_affected(const struct sx_event_block *block, pmix_proc_t **ret_procs,
                                      size_t *ret_count);
/* For PMIX_INFO_FREE. */
pmix_status_t sx_event_block_infos(const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo);

#endif
