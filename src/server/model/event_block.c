/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_block.c - judge the bytes of a client's event, write those of the host's, read both.
 *
 *     struct sx_event | source | targets | affected processes | flat infos
 *                              ^target_off ^affected_off      ^info_off
 *
 * A client's source is replaced by the process of its connection.  Bounded by
 * SX_EVENT_BYTES_MAX. */
#include "server/model/event_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/message/payloads.h"
#include "base/status.h"
#include "base/system/pages.h"
#include "base/util.h"
#include "base/value/value.h"
#include "server/model/membership.h"
#include "server/model/nspace.h"

#define FLAGS_OF_SENDER (SX_EVENT_NON_DEFAULT | SX_EVENT_DO_NOT_CACHE | SX_EVENT_STAYS_LOCAL)

/* ---- making -------------------------------------------------------------------------------- */

/* Room for an event of @size bytes.  Return: NULL when memory is out or it is too large. */
static struct sx_event_block *block_new(size_t size)
{
    struct sx_event_block *const block = size > SX_EVENT_BYTES_MAX
                                             ? NULL
                                             : sx_pages_malloc(sizeof(*block) + size);

    if (block == NULL) {
        return NULL;
    }
    memset(block, 0, sizeof(*block));
    block->reference_count = 1;
    block->session = SX_SESSION_UNKNOWN;
    sx_list_init(&block->link);
    sx_list_init(&block->cache);
    sx_list_init(&block->entries);
    block->size = (uint32_t)size;
    return block;
}

/* Settle the meaning of the range by the targets. */
static void range_settle(struct sx_event_block *block)
{
    struct sx_event *head = sx_event_block_head(block);

    if (head->target_count > 0) {
        head->range = PMIX_RANGE_CUSTOM;
    }
    block->is_job = head->range == PMIX_RANGE_CUSTOM || head->range == PMIX_RANGE_NAMESPACE;
}

struct sx_event_block *sx_event_block_retain(struct sx_event_block *block)
{
    block->reference_count++;
    return block;
}

struct sx_event_block *sx_event_block_release(struct sx_event_block *block)
{
    if (block != NULL && --block->reference_count == 0) {
        sx_assert(sx_list_empty(&block->link) && sx_list_empty(&block->entries));
        free(block);
    }
    return NULL;
}

/* ---- judging ------------------------------------------------------------------------------- */

pmix_status_t sx_event_block_judge(const pmix_proc_t *source, const struct sx_opened *body,
                                   struct sx_event_block **ret)
{
    const struct sx_event *const given = body->head;
    const uint8_t *const targets = body->parts[SX_EVENT_TARGETS].at;
    const struct sx_opened_part *const infos = &body->parts[SX_EVENT_INFOS];
    const size_t rest_size = (size_t)(infos->at - targets) + infos->size;
    const size_t source_len = sx_name_len(source->nspace, PMIX_MAX_NSLEN);
    const size_t target_off = sizeof(*given) + (size_t)sx_align_up(source_len, 8);

    if (given->range > PMIX_RANGE_CUSTOM) { /* it cannot leave its process */
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (body->status != PMIX_SUCCESS) {
        return body->status;
    }
    if (given->range == PMIX_RANGE_CUSTOM && given->target_count == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    struct sx_event_block *const block = block_new(target_off + rest_size);

    if (block == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *sx_event_block_head(block) = (struct sx_event){
        .code = given->code,
        .source_rank = source->rank,
        .range = given->range,
        .flags = given->flags & FLAGS_OF_SENDER,
        .source_len = (uint16_t)source_len,
        .target_count = given->target_count,
        .affected_count = given->affected_count,
        .info_size = given->info_size,
    };
    memset(block->bytes + sizeof(*given), 0, target_off - sizeof(*given));
    memcpy(block->bytes + sizeof(*given), source->nspace, source_len);
    memcpy(block->bytes + target_off, targets, rest_size);
    block->target_off = (uint32_t)target_off;
    block->affected_off = (uint32_t)(target_off +
                                     (size_t)(body->parts[SX_EVENT_AFFECTED].at - targets));
    block->info_off = (uint32_t)(target_off + (size_t)(infos->at - targets));
    range_settle(block);
    *ret = block;
    return PMIX_SUCCESS;
}

/* ---- building ------------------------------------------------------------------------------ */

/* A block of the size of @draft; its bytes are not written yet. */
static pmix_status_t block_room(struct sx_draft *draft, struct sx_event_block **ret)
{
    size_t size;
    const pmix_status_t rc = sx_body_measure(draft, &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *ret = block_new(size);
    return *ret != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Write the event of @draft.  If that fails, @block is released. */
static pmix_status_t block_write(struct sx_event_block *block, struct sx_draft *draft,
                                 struct sx_event_block **ret)
{
    const struct sx_event *const event = draft->head;
    const pmix_status_t rc = sx_body_write(draft, block->bytes);

    if (rc != PMIX_SUCCESS) {
        sx_event_block_release(block);
        return rc;
    }
    block->target_off = (uint32_t)(sizeof(*event) + sx_align_up(draft->sizes[SX_EVENT_SOURCE], 8));
    block->affected_off = block->target_off + (uint32_t)draft->sizes[SX_EVENT_TARGETS];
    block->info_off = block->affected_off + (uint32_t)draft->sizes[SX_EVENT_AFFECTED];
    range_settle(block);
    *ret = block;
    return PMIX_SUCCESS;
}

pmix_status_t sx_event_block_begin(struct sx_event_building *building, pmix_status_t code,
                                   const pmix_proc_t *source,
                                   const struct sx_notify_options *options,
                                   const pmix_info_t info[], size_t ninfo)
{
    building->block = NULL;
    if (options->range > PMIX_RANGE_PROC_LOCAL ||
        (options->range == PMIX_RANGE_CUSTOM && options->targets.count == 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    sx_event_draft(&building->draft, &building->event, code, source, options, info, ninfo);
    const pmix_status_t rc = block_room(&building->draft, &building->block);

    if (rc == PMIX_SUCCESS && options->session.given) {
        building->block->session = options->session.number;
    }
    return rc;
}

pmix_status_t sx_event_block_finish(struct sx_event_building *building, struct sx_event_block **ret)
{
    struct sx_event_block *const block = building->block;

    building->block = NULL;
    return block_write(block, &building->draft, ret);
}

pmix_status_t sx_event_block_build(pmix_status_t code, const pmix_proc_t *source,
                                   const struct sx_notify_options *options,
                                   const pmix_info_t info[], size_t ninfo,
                                   struct sx_event_block **ret)
{
    struct sx_event_building building;
    const pmix_status_t rc = sx_event_block_begin(&building, code, source, options, info, ninfo);
    size_t size;

    if (rc == PMIX_ERR_OUT_OF_RESOURCE && sx_body_measure(&building.draft, &size) == PMIX_SUCCESS) {
        (void)sx_message_size_judge(SX_MSG_EVENT_BULK, size); /* the log has the limit */
    }
    return rc == PMIX_SUCCESS ? sx_event_block_finish(&building, ret) : rc;
}

static const struct sx_event *head_of(const struct sx_event_block *block)
{
    return (const struct sx_event *)(const void *)block->bytes;
}

/* The processes of a list are written as the list has them: as structs, many take milliseconds. */

static pmix_status_t list_judge(const struct sx_alias_list *list)
{
    struct sx_alias_walk walk = { .list = list };
    size_t runs = 0;

    while (list->count <= SX_PROCS_MAX && sx_alias_next(&walk)) {
        runs += walk.is_new;
    }
    return sx_procs_judge(list->count, runs);
}

/* Write the processes to @at, unless it is NULL.  Return: their size. */
static size_t list_write(const struct sx_alias_list *list, char *at)
{
    struct sx_alias_walk walk = { .list = list };
    uint32_t head[2] = { 0 };
    size_t size = 0, padded = 0;

    while (sx_alias_next(&walk)) {
        if (walk.is_new) {
            head[1] = (uint32_t)sx_name_len(walk.nspace, PMIX_MAX_NSLEN);
            padded = (size_t)sx_align_up(head[1], 8);
        }
        if (at != NULL) {
            head[0] = walk.rank;
            memcpy(at + size, head, sizeof(head));
            memset(at + size + sizeof(head), 0, padded);
            memcpy(at + size + sizeof(head), walk.nspace, head[1]);
        }
        size += sizeof(head) + padded;
    }
    return size;
}

/* Room for an event as @block, with a source and lists of other sizes. */
static struct sx_event_block *renamed_new(const struct sx_event_block *block, size_t source_size,
                                          size_t targets_size, size_t affected_size)
{
    const size_t target_off = sizeof(struct sx_event) + source_size;
    const size_t info_off = target_off + targets_size + affected_size;
    struct sx_event_block *const renamed = block_new(info_off + head_of(block)->info_size);

    if (renamed != NULL) {
        renamed->target_off = (uint32_t)target_off;
        renamed->affected_off = (uint32_t)(target_off + targets_size);
        renamed->info_off = (uint32_t)info_off;
        renamed->session = block->session;
        renamed->has_user = block->has_user;
        renamed->user = block->user;
    }
    return renamed;
}

pmix_status_t sx_event_block_rename(const struct sx_event_block *block, const pmix_proc_t *source,
                                    const struct sx_alias_list *targets,
                                    const struct sx_alias_list *affected,
                                    struct sx_event_block **ret)
{
    const struct sx_event *const from = head_of(block);
    const size_t source_len = sx_name_len(source->nspace, PMIX_MAX_NSLEN);
    const size_t source_size = (size_t)sx_align_up(source_len, 8);
    pmix_status_t rc = list_judge(targets);

    if (rc == PMIX_SUCCESS) {
        rc = list_judge(affected);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (from->range == PMIX_RANGE_CUSTOM && targets->count == 0) {
        return PMIX_ERR_BAD_PARAM; /* an event without targets is for all */
    }
    struct sx_event_block *const renamed = renamed_new(block, source_size,
                                                       list_write(targets, NULL),
                                                       list_write(affected, NULL));

    if (renamed == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct sx_event *const head = sx_event_block_head(renamed);

    *head = *from;
    head->flags &= FLAGS_OF_SENDER;
    head->source_rank = source->rank;
    head->source_len = (uint16_t)source_len;
    head->target_count = (uint32_t)targets->count;
    head->affected_count = (uint32_t)affected->count;
    memset(head + 1, 0, source_size);
    memcpy(head + 1, source->nspace, source_len);
    (void)list_write(targets, renamed->bytes + renamed->target_off);
    (void)list_write(affected, renamed->bytes + renamed->affected_off);
    memcpy(renamed->bytes + renamed->info_off, block->bytes + block->info_off, from->info_size);
    range_settle(renamed);
    *ret = renamed;
    return PMIX_SUCCESS;
}

/* ---- reading ------------------------------------------------------------------------------- */

void sx_event_block_source(const struct sx_event_block *block, pmix_proc_t *ret)
{
    memset(ret, 0, sizeof(*ret));
    memcpy(ret->nspace, head_of(block) + 1, head_of(block)->source_len);
    ret->rank = head_of(block)->source_rank;
}

bool sx_event_block_aims_at(const struct sx_event_block *block, const char *nspace, uint32_t rank)
{
    const size_t name_len = strlen(nspace);
    const char *at = block->bytes + block->target_off;

    for (uint32_t i = 0; i < head_of(block)->target_count; i++) {
        uint32_t head[2];

        memcpy(head, at, sizeof(head));
        if (head[1] == name_len && memcmp(at + sizeof(head), nspace, name_len) == 0 &&
            (head[0] == rank || head[0] == PMIX_RANK_WILDCARD || rank == PMIX_RANK_WILDCARD)) {
            return true;
        }
        at += sizeof(head) + sx_align_up(head[1], 8);
    }
    return head_of(block)->target_count == 0;
}

struct sx_opened_part sx_event_block_list(const struct sx_event_block *block, unsigned part)
{
    const bool targets = part == SX_EVENT_TARGETS;
    const uint32_t off = targets ? block->target_off : block->affected_off;

    return (struct sx_opened_part){ .at = (const uint8_t *)block->bytes + off,
                                    .size = block->size - off,
                                    .count = targets ? head_of(block)->target_count
                                                     : head_of(block)->affected_count };
}

pmix_status_t sx_event_block_procs(const struct sx_event_block *block, unsigned part,
                                   pmix_proc_t **ret_procs, size_t *ret_count)
{
    const struct sx_opened_part list = sx_event_block_list(block, part);

    *ret_count = list.count;
    return sx_part_procs(&list, ret_procs);
}

pmix_status_t sx_event_block_infos(const struct sx_event_block *block, pmix_info_t **ret_info,
                                   size_t *ret_ninfo)
{
    *ret_info = NULL;
    *ret_ninfo = 0;
    return head_of(block)->info_size == 0
               ? PMIX_SUCCESS
               : sx_flat_infos_decode(block->bytes + block->info_off, head_of(block)->info_size,
                                      ret_info, ret_ninfo);
}
