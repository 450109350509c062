/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_block.c - judge the bytes of a client's event, write those of the host's, read both.
 *
 *     struct sx_event | source | targets | affected processes | flat infos
 *                              ^target_off ^affected_off      ^info_off
 *
 * A client's source is left out and written anew from what its connection says.  Bounded by
 * SX_EVENT_BYTES_MAX. */
#include "server/model/event_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/flat.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value.h"
#include "server/model/nspace.h"
#include "server/model/procs.h"

#define FLAGS_OF_SENDER (SX_EVENT_NON_DEFAULT | SX_EVENT_DO_NOT_CACHE | SX_EVENT_STAYS_LOCAL)

/* ---- making -------------------------------------------------------------------------------- */

/* Room for an event of @source with @rest_size bytes behind the source; *ret_rest is where they
 * go.  Return: NULL when memory is out or the event would be too large. */
static struct sx_event_block *block_new(const pmix_proc_t *source, size_t rest_size,
                                        char **ret_rest)
{
    const size_t source_len = sx_name_len(source->nspace, PMIX_MAX_NSLEN);
    const size_t rest_off = sizeof(struct sx_event) + sx_align_up(source_len, 8);
    struct sx_event_block *block = NULL;

    if (rest_size > SX_EVENT_BYTES_MAX - rest_off) {
        return NULL;
    }
    block = malloc(sizeof(*block) + rest_off + rest_size);
    if (block == NULL) {
        return NULL;
    }
    memset(block, 0, sizeof(*block) + rest_off);
    block->reference_count = 1;
    block->session = SX_SESSION_UNKNOWN;
    sx_list_init(&block->link);
    sx_list_init(&block->cache);
    sx_list_init(&block->entries);
    block->size = (uint32_t)(rest_off + rest_size);
    block->target_off = (uint32_t)rest_off;

    struct sx_event *head = sx_event_block_head(block);

    head->source_rank = source->rank;
    head->source_len = (uint16_t)source_len;
    memcpy(head + 1, source->nspace, source_len);
    *ret_rest = block->bytes + rest_off;
    return block;
}

/* What a range means once the targets are known. */
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

/* Pass over a process list.  Return: false when it is none. */
static bool procs_skip(const char **at, size_t *left, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sx_proc_ref proc;
        const size_t size = sx_proc_ref_read(*at, *left, &proc);

        if (size == 0) {
            return false;
        }
        *at += size;
        *left -= size;
    }
    return true;
}

/* Whether @size bytes are flat infos and nothing else, and what the host will get of them is in
 * proportion. */
static pmix_status_t infos_judge(const char *at, size_t size)
{
    struct sx_cell cell;
    uint16_t type = PMIX_INFO;

    if (size == 0) {
        return PMIX_SUCCESS;
    }
    if (size < sizeof(cell)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(&cell, at, sizeof(cell));
    if (cell.type != PMIX_DATA_ARRAY) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const pmix_status_t rc = sx_flat_check_within(&cell, at + sizeof(cell), size - sizeof(cell),
                                                  SX_EVENT_HEAP_MAX);
    if (rc == PMIX_SUCCESS && (cell.flags & SX_CELL_NULL) == 0) {
        memcpy(&type, at + sizeof(cell), sizeof(type));
    }
    return type == PMIX_INFO ? rc : PMIX_ERR_UNPACK_FAILURE;
}

static bool range_can_leave(uint8_t range)
{
    return range <= PMIX_RANGE_CUSTOM;
}

pmix_status_t sx_event_block_judge(const pmix_proc_t *source, const void *bytes, size_t size,
                                   struct sx_event_block **ret)
{
    struct sx_event given;
    struct sx_event_block *block = NULL;
    const char *at = (const char *)bytes + sizeof(given);
    size_t left;
    char *rest;

    if (size < sizeof(given)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (size > SX_EVENT_BYTES_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(&given, bytes, sizeof(given));
    left = size - sizeof(given);
    if (!range_can_leave(given.range) || sx_align_up(given.source_len, 8) > left) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    at += sx_align_up(given.source_len, 8);
    left -= sx_align_up(given.source_len, 8);
    const char *const targets = at;

    if (!procs_skip(&at, &left, given.target_count)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const char *const affected = at;

    if (!procs_skip(&at, &left, given.affected_count) || given.info_size > left) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    const pmix_status_t rc = infos_judge(at, given.info_size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (given.target_count > SX_PROCS_MAX || given.affected_count > SX_PROCS_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (given.range == PMIX_RANGE_CUSTOM && given.target_count == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    const size_t rest_size = (size_t)(at - targets) + given.info_size;

    block = block_new(source, rest_size, &rest);
    if (block == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(rest, targets, rest_size);
    block->affected_off = block->target_off + (uint32_t)(affected - targets);
    block->info_off = block->target_off + (uint32_t)(at - targets);

    struct sx_event *head = sx_event_block_head(block);

    head->code = given.code;
    head->range = given.range;
    head->flags = given.flags & FLAGS_OF_SENDER;
    head->target_count = given.target_count;
    head->affected_count = given.affected_count;
    head->info_size = given.info_size;
    range_settle(block);
    *ret = block;
    return PMIX_SUCCESS;
}

/* ---- building ------------------------------------------------------------------------------ */

static pmix_status_t procs_judge(const struct sx_some_procs *procs)
{
    for (size_t i = 0; i < procs->count; i++) {
        if (procs->all[i].nspace[0] == '\0') {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    return procs->count <= SX_PROCS_MAX ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static size_t procs_size(const struct sx_some_procs *procs)
{
    size_t size = 0;

    for (size_t i = 0; i < procs->count; i++) {
        size += 8 + sx_align_up(sx_name_len(procs->all[i].nspace, PMIX_MAX_NSLEN), 8);
    }
    return size;
}

static char *procs_write(char *at, const struct sx_some_procs *procs)
{
    for (size_t i = 0; i < procs->count; i++) {
        const size_t len = sx_name_len(procs->all[i].nspace, PMIX_MAX_NSLEN);
        const uint32_t head[2] = { procs->all[i].rank, (uint32_t)len };

        memcpy(at, head, sizeof(head));
        memset(at + sizeof(head), 0, sx_align_up(len, 8));
        memcpy(at + sizeof(head), procs->all[i].nspace, len);
        at += sizeof(head) + sx_align_up(len, 8);
    }
    return at;
}

pmix_status_t sx_event_block_build(pmix_status_t code, const pmix_proc_t *source,
                                   const struct sx_notify_options *options,
                                   const pmix_info_t info[], size_t ninfo,
                                   struct sx_event_block **ret)
{
    struct sx_event_block *block = NULL;
    size_t info_size = 0;
    char *at;

    if (options->range > PMIX_RANGE_PROC_LOCAL ||
        (options->range == PMIX_RANGE_CUSTOM && options->targets.count == 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = procs_judge(&options->targets);
    if (rc == PMIX_SUCCESS) {
        rc = procs_judge(&options->affected);
    }
    if (rc == PMIX_SUCCESS && ninfo > 0) {
        rc = sx_flat_infos_size(info, ninfo, &info_size);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const size_t target_size = procs_size(&options->targets);
    const size_t affected_size = procs_size(&options->affected);

    if (info_size > SX_EVENT_BYTES_MAX ||
        (block = block_new(source, target_size + affected_size + info_size, &at)) == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct sx_event *head = sx_event_block_head(block);

    head->code = code;
    head->range = options->range;
    head->flags = sx_event_flags(options);
    head->target_count = (uint32_t)options->targets.count;
    head->affected_count = (uint32_t)options->affected.count;
    head->info_size = (uint32_t)info_size;
    block->affected_off = block->target_off + (uint32_t)target_size;
    block->info_off = block->affected_off + (uint32_t)affected_size;
    at = procs_write(at, &options->targets);
    at = procs_write(at, &options->affected);
    rc = ninfo == 0 ? PMIX_SUCCESS : sx_flat_infos_encode(info, ninfo, at, info_size);
    if (rc != PMIX_SUCCESS) {
        sx_event_block_release(block);
        return rc;
    }
    range_settle(block);
    if (options->session.given) {
        block->session = options->session.number;
    }
    *ret = block;
    return PMIX_SUCCESS;
}

/* ---- reading ------------------------------------------------------------------------------- */

static const struct sx_event *head_of(const struct sx_event_block *block)
{
    return (const struct sx_event *)(const void *)block->bytes;
}

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

static pmix_status_t procs_read(const struct sx_event_block *block, uint32_t off, uint32_t count,
                                pmix_proc_t **ret_procs, size_t *ret_count)
{
    const char *at = block->bytes + off;
    size_t left = block->size - off;

    *ret_count = count;
    return sx_procs_read(&at, &left, count, ret_procs);
}

pmix_status_t sx_event_block_targets(const struct sx_event_block *block, pmix_proc_t **ret_procs,
                                     size_t *ret_count)
{
    return procs_read(block, block->target_off, head_of(block)->target_count, ret_procs, ret_count);
}

pmix_status_t sx_event_block_affected(const struct sx_event_block *block, pmix_proc_t **ret_procs,
                                      size_t *ret_count)
{
    return procs_read(block, block->affected_off, head_of(block)->affected_count, ret_procs,
                      ret_count);
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
