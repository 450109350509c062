/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* open_ops.c - rows given out from the front, each written and read whole (words.h). */
#include "ring/open_ops.h"

#include <inttypes.h>
#include <sched.h>

#include "base/status.h"
#include "ring/words.h"

#define ROWS_OFF (SX_SEGMENT_BODY_OFF + sizeof(struct sx_open_header))
#define READ_TRIES 100u

static struct sx_open_header *header_of(const struct sx_segment *seg)
{
    return (struct sx_open_header *)(void *)(seg->base + SX_SEGMENT_BODY_OFF);
}

static uint64_t row_end(uint64_t index)
{
    return ROWS_OFF + (index + 1) * sizeof(struct sx_open_row);
}

/* ---- the writer ------------------------------------------------------------------------------ */

pmix_status_t sx_open_ops_create(struct sx_open_ops *ops, const char *name,
                                 const struct sx_placement *placement)
{
    const uint64_t size_bytes = row_end(SX_OPEN_ROWS - 1);
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_OPS,
        .nspace = name,
        .size_bytes = size_bytes,
        .size_min_bytes = size_bytes,
        .generation = 1,
        .placement = placement,
    };

    *ops = SX_OPEN_OPS_NULL;
    const pmix_status_t rc = sx_segment_create(&ops->seg, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    ops->header = header_of(&ops->seg);
    ops->rows = (struct sx_open_row *)(void *)(ops->seg.base + ROWS_OFF);
    ops->header->rows_off = ROWS_OFF;
    ops->header->row_count = SX_OPEN_ROWS;
    ops->header->row_bytes = sizeof(struct sx_open_row);
    ops->header->delay_ns = SX_OPEN_DELAY_NS;
    /* relaxed: covered by the magic's release in sx_segment_publish. */
    atomic_store_explicit(&sx_segment_header(&ops->seg)->used_bytes, ROWS_OFF,
                          memory_order_relaxed);
    sx_segment_publish(&ops->seg);
    return PMIX_SUCCESS;
}

pmix_status_t sx_open_ops_claim(struct sx_open_ops *ops, uint32_t *ret_index)
{
    if (ops->free_count > 0) {
        *ret_index = ops->row_free[--ops->free_count];
        return PMIX_SUCCESS;
    }
    if (ops->row_next == SX_OPEN_ROWS) {
        return PMIX_ERR_NOT_FOUND;
    }
    const uint64_t end = row_end(ops->row_next);
    const pmix_status_t rc = sx_segment_back(&ops->seg, end);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* R2 -> A2 (sx_open_ops_attach): the memory exists before used_bytes covers it. */
    atomic_store_explicit(&sx_segment_header(&ops->seg)->used_bytes, end, memory_order_release);
    *ret_index = ops->row_next++;
    return PMIX_SUCCESS;
}

static void row_write(struct sx_open_ops *ops, uint32_t index, const void *words, size_t count)
{
    sx_assert(index < ops->row_next);
    sx_seqlock_write(&ops->rows[index].seq, ops->rows[index].words, words, count);
}

void sx_open_ops_publish(struct sx_open_ops *ops, uint32_t index, const struct sx_open_op *op)
{
    row_write(ops, index, op, SX_OPEN_OP_WORDS);
}

void sx_open_ops_abandon(struct sx_open_ops *ops, uint32_t index)
{
    static const uint64_t no_kind[3] = { 0 };

    static_assert(offsetof(struct sx_open_op, kind) < sizeof(no_kind), "they cover the kind");
    row_write(ops, index, no_kind, SX_COUNT(no_kind));
    ops->row_free[ops->free_count++] = (uint16_t)index;
}

void sx_open_ops_hide(struct sx_open_ops *ops, uint64_t count)
{
    /* relaxed: a figure for reports. */
    atomic_store_explicit(&ops->header->hidden, count, memory_order_relaxed);
}

/* ---- readers -------------------------------------------------------------------------------- */

pmix_status_t sx_open_ops_attach(struct sx_open_ops *ops, int fd)
{
    *ops = SX_OPEN_OPS_NULL;
    const pmix_status_t rc = sx_segment_attach(&ops->seg, fd, SX_SEGMENT_OPS);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* A2 <- R2 (sx_open_ops_claim) */
    const uint64_t used = atomic_load_explicit(&sx_segment_header(&ops->seg)->used_bytes,
                                               memory_order_acquire);
    const struct sx_open_header *const header = header_of(&ops->seg);

    if (used < ROWS_OFF || used > ops->seg.size_bytes || header->rows_off != ROWS_OFF ||
        header->row_bytes != sizeof(struct sx_open_row)) {
        sx_segment_deinit(&ops->seg);
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a table of open operations with %" PRIu64 " bytes",
                        used);
    }
    const uint64_t count = (used - ROWS_OFF) / sizeof(struct sx_open_row);

    ops->header = header_of(&ops->seg);
    ops->rows = (struct sx_open_row *)(void *)(ops->seg.base + ROWS_OFF);
    ops->row_count = (uint32_t)(count < SX_OPEN_ROWS ? count : SX_OPEN_ROWS);
    return PMIX_SUCCESS;
}

/* Whether all counts and offsets of the copy are within their bounds. */
static bool op_is_sound(const struct sx_open_op *op)
{
    bool sound = op->text_bytes > 0 && op->text_bytes <= sizeof(op->text) && op->text[0] == '\0' &&
                 op->text[op->text_bytes - 1] == '\0' && op->id_off < op->text_bytes &&
                 op->procs_listed <= SX_OPEN_PROCS && op->missing_listed <= SX_OPEN_MISSING;

    for (size_t i = 0; sound && i < op->procs_listed; i++) {
        sound = op->procs[i].nspace_off < op->text_bytes;
    }
    for (size_t i = 0; sound && i < op->missing_listed; i++) {
        sound = op->missing[i].nspace_off < op->text_bytes;
    }
    return sound;
}

pmix_status_t sx_open_ops_read(const struct sx_open_ops *ops, uint32_t index,
                               struct sx_open_op *ret)
{
    const struct sx_open_row *const row = &ops->rows[index];
    unsigned tries = READ_TRIES;

    sx_assert(index < ops->row_count);
    while (!sx_seqlock_read(&row->seq, row->words, ret, SX_OPEN_OP_WORDS)) {
        if (--tries == 0) {
            return PMIX_ERR_NOT_AVAILABLE;
        }
        sched_yield();
    }
    if (ret->kind == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    return op_is_sound(ret) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

void sx_open_ops_deinit(struct sx_open_ops *ops)
{
    sx_segment_deinit(&ops->seg);
    *ops = SX_OPEN_OPS_NULL;
}
