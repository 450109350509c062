/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* open_ops.h - the open collective operations, for tools that list missing members.
 *
 *   384          448          448 + 1024       448 + 2 * 1024
 *   +------------+------------+----------------+---------------
 *   | header     | row 0      | row 1          | ...
 *   +------------+------------+----------------+---------------
 *
 * A row is one operation: a seqlock and the words that it guards.  The server writes a row when an
 * operation has been open for SX_OPEN_DELAY_NS, and again that long after a change.  An operation
 * that ends sooner has no row.  There are SX_OPEN_ROWS, whose memory is taken as they come into
 * use; the header counts the operations beyond.
 *
 * Recovery after a kill: readers hold nothing.  The memory is freed with the last mapping; a row
 * that was being written is never taken for a whole one (words.h). */
#ifndef SX_RING_OPEN_OPS_H
#define SX_RING_OPEN_OPS_H

#include "shmem/segment.h"

#define SX_OPEN_DELAY_NS (20 * UINT64_C(1000000))
#define SX_OPEN_ROWS 256u
#define SX_OPEN_PROCS 4u
#define SX_OPEN_MISSING 16u
#define SX_OPEN_TEXT_BYTES 688u

struct sx_open_proc {
    uint32_t rank;       /* or PMIX_RANK_WILDCARD */
    uint16_t nspace_off; /* in the row's text */
    uint8_t reserved[2]; /* zero */
};

enum sx_open_presence {
    SX_OPEN_NEVER_CAME = 0, /* it has not called PMIx_Init on this server */
    SX_OPEN_CONNECTED = 1,
    SX_OPEN_LEFT = 2, /* it has called PMIx_Finalize */
};

struct sx_open_missing {
    uint32_t rank;
    uint32_t pid;        /* 0: not known */
    uint16_t nspace_off; /* in the row's text */
    uint8_t presence;    /* enum sx_open_presence */
    uint8_t reserved[5]; /* zero */
};

#define SX_OPEN_WITH_HOST 1u /* all members here have arrived, and the host was asked */
/* The callers have their answer.  The host's answer is still to come; or, where the host was not
 * asked, missing members get the same answer when they call. */
#define SX_OPEN_NOTIFIED 2u
/* All members here have arrived, and a namespace in its list is still to be registered. */
#define SX_OPEN_UNREGISTERED 4u

/* One operation; the text begins with an empty string, and every string in it ends with a NUL. */
struct sx_open_op {
    uint64_t since_ns;    /* CLOCK_MONOTONIC: the first arrival */
    uint64_t deadline_ns; /* 0: none */
    uint16_t kind;        /* enum sx_collective_kind; 0: no operation, and nothing follows */
    uint16_t flags;       /* SX_OPEN_* */
    uint32_t expected;    /* processes of this node */
    uint32_t arrived;     /* of these */
    uint32_t proc_count;  /* in the list that the callers gave */
    uint16_t id_off;      /* in the text; 0: none */
    uint16_t text_bytes;
    uint8_t procs_listed;   /* the first of that list */
    uint8_t missing_listed; /* the first who have not arrived, by namespace and rank */
    uint8_t reserved[2];    /* zero */
    struct sx_open_proc procs[SX_OPEN_PROCS];
    struct sx_open_missing missing[SX_OPEN_MISSING];
    char text[SX_OPEN_TEXT_BYTES];
};
static_assert(sizeof(struct sx_open_op) == 1016, "fixed by layout 2");
static_assert(offsetof(struct sx_open_op, procs) == 40, "fixed by layout 2");
static_assert(offsetof(struct sx_open_op, text) == 328, "fixed by layout 2");

#define SX_OPEN_OP_WORDS (sizeof(struct sx_open_op) / sizeof(uint64_t))

struct sx_open_row {
    _Atomic uint64_t seq; /* of the words' seqlock */
    _Atomic uint64_t words[SX_OPEN_OP_WORDS];
};
static_assert(sizeof(struct sx_open_row) == 1024, "fixed by layout 2");

struct sx_open_header {
    uint64_t rows_off; /* from the segment base; rows past used_bytes were never in use */
    uint32_t row_count;
    uint32_t row_bytes;
    uint64_t delay_ns;       /* SX_OPEN_DELAY_NS */
    _Atomic uint64_t hidden; /* open for longer than that, without a row: all were taken */
    uint8_t reserved[32];    /* zero */
};
static_assert(sizeof(struct sx_open_header) == SX_CACHELINE_BYTES, "fixed by layout 2");

struct sx_open_ops {
    struct sx_segment seg;
    struct sx_open_header *header;
    struct sx_open_row *rows;
    uint32_t row_count;              /* reader: of those that were ever in use */
    uint16_t row_free[SX_OPEN_ROWS]; /* server: stack of rows that were given back */
    uint16_t free_count, row_next;   /* server */
};

#define SX_OPEN_OPS_NULL ((struct sx_open_ops){ .seg = SX_SEGMENT_NULL })

/* ---- the server's loop thread --------------------------------------------------------------- */

/* @name is the server's own.  Return: PMIX_SUCCESS, or as sx_segment_create. */
pmix_status_t sx_open_ops_create(struct sx_open_ops *ops, const char *name,
                                 const struct sx_placement *placement);
/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when all rows are taken; PMIX_ERR_OUT_OF_RESOURCE when
 * memory is short. */
pmix_status_t sx_open_ops_claim(struct sx_open_ops *ops, uint32_t *ret_index);
void sx_open_ops_publish(struct sx_open_ops *ops, uint32_t index, const struct sx_open_op *op);
/* The operation has ended. */
void sx_open_ops_abandon(struct sx_open_ops *ops, uint32_t index);
/* The number of open operations without a row. */
void sx_open_ops_hide(struct sx_open_ops *ops, uint64_t count);

/* ---- readers -------------------------------------------------------------------------------- */

/* Map @fd (not consumed), trusting nothing in it.  Return: as sx_segment_attach. */
pmix_status_t sx_open_ops_attach(struct sx_open_ops *ops, int fd);
/* Copy row @index.  Never waits: a row that is not whole after some tries is given up.  In *ret
 * every count and offset is within its bounds, and the text ends.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when it holds no operation; PMIX_ERR_NOT_AVAILABLE when the writer is, or was
 * killed, in the middle of it; PMIX_ERR_BAD_PARAM when the row contradicts itself. */
pmix_status_t sx_open_ops_read(const struct sx_open_ops *ops, uint32_t index,
                               struct sx_open_op *ret);

/* Both; safe on SX_OPEN_OPS_NULL and twice. */
void sx_open_ops_deinit(struct sx_open_ops *ops);

#endif
