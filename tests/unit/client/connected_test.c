/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connected_test.c - in which connected namespaces a process is, oldest first. */
#include "client/data/connected.h"

#include "alone.h"
#include "node_store.h"

TestSuite(connected, .init = alone_begin, .fini = alone_end);

static void list_put(struct sx_store_writer *writer, const char *name, uint64_t serial,
                     enum sx_membership_kind kind, const pmix_proc_t *procs, size_t count)
{
    const struct sx_membership_head head = { .subject = serial << SX_MEMBERSHIP_ROW_BITS | serial,
                                             .kind = kind,
                                             .generation = 1 };

    node_store_put(writer, &head, name, procs, count);
}

Test(connected, has_the_ranks_of_a_process_in_the_order_of_the_connects)
{
    const struct sx_store_options options = { .nspace = "" };
    const pmix_proc_t both[] = { { "a", 3 }, { "b", 1 } }, turned[] = { { "b", 1 }, { "a", 3 } };
    struct sx_store_writer writer;
    pmix_value_t value;

    cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
    node_store_map(&writer);
    cr_expect_eq(sx_connected_find("b", 1, &value), PMIX_ERR_NOT_FOUND);
    list_put(&writer, "newer", 7, SX_MEMBERSHIP_CONNECTED, turned, 2);
    list_put(&writer, "older", 2, SX_MEMBERSHIP_CONNECTED, both, 2);
    list_put(&writer, "group", 3, SX_MEMBERSHIP_GROUP, both, 2);
    list_put(&writer, "others", 4, SX_MEMBERSHIP_CONNECTED, both, 1);

    cr_assert_eq(sx_connected_find("b", 1, &value), PMIX_SUCCESS);
    cr_assert_eq(value.type, PMIX_DATA_ARRAY);
    cr_assert_eq(value.data.darray->type, PMIX_PROC);
    cr_assert_eq(value.data.darray->size, 2);
    const pmix_proc_t *const there = value.data.darray->array;

    cr_expect_str_eq(there[0].nspace, "older");
    cr_expect_eq(there[0].rank, 1);
    cr_expect_str_eq(there[1].nspace, "newer");
    cr_expect_eq(there[1].rank, 0);
    PMIx_Value_destruct(&value);
    cr_expect_eq(sx_connected_find("b", 2, &value), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}
