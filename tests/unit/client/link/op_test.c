/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op_test.c - when an operation's callback is called, and with what. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "client/link/link.h"
#include "client/link/op.h"

static unsigned called, notified, finished, steps;
static pmix_status_t received;
static size_t received_number;

static void on_op(pmix_status_t status, void *cbdata)
{
    received = status;
    received_number = *(size_t *)cbdata;
    called++;
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)release;
    (void)release_cbdata;
    cr_expect(info == NULL && ninfo == 0);
    on_op(status, cbdata);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    on_op(status, cbdata);
    received_number = value->data.size;
}

static void on_handler(pmix_status_t status, size_t handler, void *cbdata)
{
    on_op(status, cbdata);
    received_number = handler;
}

static bool finish(struct sx_op *op)
{
    (void)op;
    finished++;
    return finished > steps;
}

static void on_notified(struct sx_op *op)
{
    (void)op;
    notified++;
}

static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                        .finish = finish,
                                        .release = on_notified };

/* As if it was sent. */
static struct sx_op *op_new(struct sx_callback callback)
{
    struct sx_op *const op = malloc(sizeof(*op));

    cr_assert_not_null(op);
    *op = (struct sx_op)SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    sx_list_append(&sx_primary()->requests, &op->task.node);
    return op;
}

static bool task_run(void)
{
    struct sx_list *const node = sx_list_pop(&sx_process.tasks);

    if (node != NULL) {
        struct sx_task *const task = SX_LIST_ENTRY(node, struct sx_task, node);

        task->run(task);
    }
    return node != NULL;
}

Test(op, calls_back_in_the_shape_it_was_given)
{
    static pmix_value_t value = { .type = PMIX_SIZE, .data.size = 7 };
    size_t cbdata = 3;
    const struct {
        struct sx_callback callback;
        size_t want;
    } rows[] = {
        { { .shape = SX_SHAPE_OP, .op = on_op, .cbdata = &cbdata }, 3 },
        { { .shape = SX_SHAPE_INFO, .info = on_info, .cbdata = &cbdata }, 3 },
        { { .shape = SX_SHAPE_VALUE, .value = on_value, .cbdata = &cbdata }, 7 },
        { { .shape = SX_SHAPE_HANDLER, .handler = on_handler, .cbdata = &cbdata }, 5 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_op *const op = op_new(rows[i].callback);

        if (rows[i].callback.shape == SX_SHAPE_VALUE) {
            op->value = &value;
        } else if (rows[i].callback.shape == SX_SHAPE_HANDLER) {
            op->handler = 5;
        }
        sx_op_complete(op, PMIX_ERR_NOT_FOUND, NULL);
        cr_expect_eq(called, i, "not under lock");
        cr_assert(task_run());
        cr_expect_eq(called, i + 1);
        cr_expect_eq(received, PMIX_ERR_NOT_FOUND);
        cr_expect_eq(received_number, rows[i].want, "row %zu", i);
        cr_expect_eq(notified, i + 1, "and its answer is given back");
        cr_expect_not(task_run());
    }
}

Test(op, that_is_being_started_is_not_notified_of)
{
    size_t cbdata = 0;
    struct sx_op *const op = op_new(
        (struct sx_callback){ .shape = SX_SHAPE_OP, .op = on_op, .cbdata = &cbdata });

    op->held = true;
    sx_op_complete(op, PMIX_SUCCESS, NULL);
    cr_expect_not(task_run());
    sx_op_release_locked(op);
    cr_expect(task_run());
    cr_expect_eq(called, 1u);
}

Test(op, goes_on_until_its_kind_has_finished)
{
    size_t cbdata = 0;
    struct sx_op *const op = op_new(
        (struct sx_callback){ .shape = SX_SHAPE_OP, .op = on_op, .cbdata = &cbdata });

    steps = 1;
    sx_op_complete(op, PMIX_SUCCESS, NULL);
    cr_expect(task_run());
    cr_expect_eq(called, 0u);
    sx_list_append(&sx_primary()->requests, &op->task.node); /* asked again */
    sx_op_complete(op, PMIX_SUCCESS, NULL);
    cr_expect(task_run());
    cr_expect_eq(called, 1u);
}

Test(op, that_somebody_waits_for_is_left_to_him)
{
    struct sx_op op = SX_OP_INIT(&kind, sx_primary());

    sx_list_append(&sx_primary()->requests, &op.task.node);
    sx_op_complete(&op, PMIX_ERR_LOST_CONNECTION, NULL);
    cr_expect_not(task_run());
    cr_expect(op.done);
    cr_expect_eq(op.status, PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(finished, 0u);
}

Test(op, that_has_been_started_with_a_callback_may_be_gone)
{
    struct sx_op *const gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(gone, MAP_FAILED);
    cr_expect_eq(sx_op_settle(gone, false, PMIX_SUCCESS), PMIX_SUCCESS);
}
