/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* open_ops_test.c - rows come and go, are read whole or not at all, and nothing in them is
 * trusted. */
#include "support.h"

#include <pmix_common.h>
#include <pthread.h>
#include <sys/mman.h>

#include "ring/open_ops.h"

TestSuite(open_ops, .timeout = 60);

#define STRESS_WRITES UINT64_C(200000)

static struct sx_open_ops ops_new(void)
{
    struct sx_open_ops ops;

    cr_assert_eq(sx_open_ops_create(&ops, "test", NULL), PMIX_SUCCESS);
    return ops;
}

static struct sx_open_ops ops_view(const struct sx_open_ops *ops)
{
    struct sx_open_ops view;
    const int fd = test_share(&ops->seg);

    cr_assert_eq(sx_open_ops_attach(&view, fd), PMIX_SUCCESS);
    close(fd);
    return view;
}

/* An operation of which everything follows from @number. */
static struct sx_open_op op_of(uint64_t number)
{
    struct sx_open_op op = { .since_ns = number,
                             .deadline_ns = number + 1,
                             .kind = 1,
                             .expected = (uint32_t)number,
                             .text_bytes = 5,
                             .id_off = 1 };

    memcpy(op.text + 1, "job", 4);
    op.procs[0] = (struct sx_open_proc){ .rank = (uint32_t)number, .nspace_off = 1 };
    op.procs_listed = 1;
    for (uint32_t i = 0; i < SX_OPEN_MISSING; i++) {
        op.missing[i] = (struct sx_open_missing){ .rank = (uint32_t)number + i, .nspace_off = 1 };
    }
    op.missing_listed = SX_OPEN_MISSING;
    return op;
}

static void expect_op(const struct sx_open_ops *view, uint32_t index, uint64_t number)
{
    const struct sx_open_op want = op_of(number);
    struct sx_open_op op;

    cr_assert_eq(sx_open_ops_read(view, index, &op), PMIX_SUCCESS);
    cr_expect_eq(memcmp(&op, &want, sizeof(op)), 0);
}

Test(open_ops, a_row_is_read_as_it_was_written_last)
{
    struct sx_open_ops ops = ops_new(), empty = ops_view(&ops);
    struct sx_open_op op = op_of(7);
    uint32_t index[3];

    cr_expect_eq(empty.row_count, 0, "no row was ever in use");
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(sx_open_ops_claim(&ops, &index[i]), PMIX_SUCCESS);
        cr_expect_eq(index[i], i);
    }
    sx_open_ops_publish(&ops, 1, &op);
    struct sx_open_ops view = ops_view(&ops);
    cr_expect_eq(view.row_count, 3);
    cr_expect_eq(sx_open_ops_read(&view, 0, &op), PMIX_ERR_NOT_FOUND, "claimed, not yet written");
    expect_op(&view, 1, 7);
    op = op_of(8);
    sx_open_ops_publish(&ops, 1, &op);
    expect_op(&view, 1, 8);
    sx_open_ops_abandon(&ops, 1);
    cr_expect_eq(sx_open_ops_read(&view, 1, &op), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(sx_open_ops_claim(&ops, &index[0]), PMIX_SUCCESS);
    cr_expect_eq(index[0], 1, "the row that was given back is used again");
    sx_open_ops_hide(&ops, 12);
    cr_expect_eq(atomic_load(&view.header->hidden), 12);
    sx_open_ops_deinit(&empty);
    sx_open_ops_deinit(&view);
    sx_open_ops_deinit(&ops);
    sx_open_ops_deinit(&ops);
}

Test(open_ops, there_are_so_many_rows)
{
    struct sx_open_ops ops = ops_new();
    uint32_t index;

    for (uint32_t i = 0; i < SX_OPEN_ROWS; i++) {
        cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    }
    cr_expect_eq(sx_open_ops_claim(&ops, &index), PMIX_ERR_NOT_FOUND);
    struct sx_open_ops view = ops_view(&ops);
    cr_expect_eq(view.row_count, SX_OPEN_ROWS);
    sx_open_ops_deinit(&view);
    sx_open_ops_deinit(&ops);
}

/* The writer was killed between its two stores of the number. */
Test(open_ops, nobody_waits_for_a_row_that_is_half_written)
{
    struct sx_open_ops ops = ops_new();
    const struct sx_open_op op = op_of(7);
    struct sx_open_op got;
    uint32_t index;

    cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    sx_open_ops_publish(&ops, index, &op);
    struct sx_open_ops view = ops_view(&ops);
    atomic_fetch_add(&ops.rows[index].seq, 1);
    cr_expect_eq(sx_open_ops_read(&view, index, &got), PMIX_ERR_NOT_AVAILABLE);
    sx_open_ops_deinit(&view);
    sx_open_ops_deinit(&ops);
}

static void *write_all(void *arg)
{
    struct sx_open_ops *const ops = arg;

    for (uint64_t number = 1; number <= STRESS_WRITES; number++) {
        const struct sx_open_op op = op_of(number);

        sx_open_ops_publish(ops, 0, &op);
    }
    return NULL;
}

Test(open_ops, no_row_is_ever_a_mixture)
{
    struct sx_open_ops ops = ops_new();
    const struct sx_open_op first = op_of(1);
    struct sx_open_op op = first;
    pthread_t writer;
    uint32_t index;

    cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    sx_open_ops_publish(&ops, index, &first);
    struct sx_open_ops view = ops_view(&ops);
    cr_assert_eq(pthread_create(&writer, NULL, write_all, &ops), 0);
    while (op.since_ns < STRESS_WRITES) {
        const uint64_t before = op.since_ns;

        if (sx_open_ops_read(&view, index, &op) == PMIX_SUCCESS) {
            const struct sx_open_op want = op_of(op.since_ns);

            cr_assert_geq(op.since_ns, before);
            cr_assert_eq(memcmp(&op, &want, sizeof(op)), 0, "write %ju", (uintmax_t)op.since_ns);
        } else {
            op.since_ns = before; /* half a row */
        }
    }
    pthread_join(writer, NULL);
    sx_open_ops_deinit(&view);
    sx_open_ops_deinit(&ops);
}

/* What another process may have written: nothing in a row that is taken leads out of it. */
Test(open_ops, a_row_that_contradicts_itself_is_refused)
{
    static const struct {
        const char *what;
        size_t off, size;
        uint64_t value;
    } rows[] = {
        { "no text", offsetof(struct sx_open_op, text_bytes), 2, 0 },
        { "a text past its end", offsetof(struct sx_open_op, text_bytes), 2,
          SX_OPEN_TEXT_BYTES + 1 },
        { "a text without an end", offsetof(struct sx_open_op, text_bytes), 2, 4 },
        { "an empty string that is none", offsetof(struct sx_open_op, text), 1, 'x' },
        { "an id past the text", offsetof(struct sx_open_op, id_off), 2, 5 },
        { "too many processes", offsetof(struct sx_open_op, procs_listed), 1, SX_OPEN_PROCS + 1 },
        { "too many missing", offsetof(struct sx_open_op, missing_listed), 1, SX_OPEN_MISSING + 1 },
        { "a process past the text", offsetof(struct sx_open_op, procs[0].nspace_off), 2, 5 },
        { "a missing one past the text", offsetof(struct sx_open_op, missing[15].nspace_off), 2,
          UINT16_MAX },
    };
    struct sx_open_ops ops = ops_new();
    struct sx_open_op got;
    uint32_t index;

    cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    struct sx_open_ops view = ops_view(&ops);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_open_op op = op_of(7);

        sx_open_ops_publish(&ops, index, &op);
        cr_assert_eq(sx_open_ops_read(&view, index, &got), PMIX_SUCCESS);
        memcpy((char *)&op + rows[i].off, &rows[i].value, rows[i].size);
        sx_open_ops_publish(&ops, index, &op);
        cr_expect_eq(sx_open_ops_read(&view, index, &got), PMIX_ERR_BAD_PARAM, "%s", rows[i].what);
    }
    sx_open_ops_deinit(&view);
    sx_open_ops_deinit(&ops);
}

/* Any bytes at all, and any of the header's. */
Test(open_ops, garbage_is_refused_or_within_its_bounds)
{
    struct sx_open_ops ops = ops_new();
    uint64_t state = TEST_SEED;
    uint32_t index;

    for (uint32_t i = 0; i < 8; i++) {
        cr_assert_eq(sx_open_ops_claim(&ops, &index), PMIX_SUCCESS);
    }
    struct sx_open_ops view = ops_view(&ops);
    for (unsigned round = 0; round < 20000; round++) {
        struct sx_open_op op = op_of(round), got;

        for (unsigned i = 0; i < 1 + round % 7; i++) {
            ((uint8_t *)&op)[test_random(&state) % 340] = (uint8_t)test_random(&state);
        }
        sx_open_ops_publish(&ops, round % 8, &op);
        if (sx_open_ops_read(&view, round % 8, &got) != PMIX_SUCCESS) {
            continue;
        }
        cr_assert_lt(strlen(got.text + got.id_off), SX_OPEN_TEXT_BYTES - got.id_off);
        for (unsigned i = 0; i < got.missing_listed; i++) {
            const uint16_t off = got.missing[i].nspace_off;

            cr_assert_lt(strlen(got.text + off), SX_OPEN_TEXT_BYTES - off);
        }
    }
    sx_open_ops_deinit(&view);
    sx_open_ops_deinit(&ops);
}

Test(open_ops, a_header_that_does_not_fit_is_refused)
{
    struct sx_open_ops ops = ops_new(), view;
    _Atomic uint64_t *const used = &sx_segment_header(&ops.seg)->used_bytes;
    const uint64_t good = atomic_load(used);
    const int fd = test_share(&ops.seg);

    atomic_store(used, SX_SEGMENT_BODY_OFF);
    cr_expect_eq(sx_open_ops_attach(&view, fd), PMIX_ERR_BAD_PARAM, "no header");
    atomic_store(used, ops.seg.size_bytes + 1);
    cr_expect_eq(sx_open_ops_attach(&view, fd), PMIX_ERR_BAD_PARAM, "more than there is");
    atomic_store(used, good);
    ops.header->rows_off = 8;
    cr_expect_eq(sx_open_ops_attach(&view, fd), PMIX_ERR_BAD_PARAM);
    ops.header->rows_off = 448;
    ops.header->row_bytes = 0;
    cr_expect_eq(sx_open_ops_attach(&view, fd), PMIX_ERR_BAD_PARAM);
    sx_open_ops_deinit(&view);
    close(fd);
    sx_open_ops_deinit(&ops);
}
