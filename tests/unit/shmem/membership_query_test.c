/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_query_test.c - in which lists a process is, oldest first. */
#include "shmem/membership.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include <shmix.h>

#include "store_util.h"

static const pmix_proc_t both[] = { { "a", 3 }, { "b", 1 } }, turned[] = { { "b", 1 }, { "a", 3 } };

static void list_put(struct sx_store_writer *writer, const char *name, uint64_t serial,
                     enum sx_membership_kind kind, const pmix_proc_t *procs, size_t count)
{
    const struct sx_membership_head head = { .subject = serial << SX_MEMBERSHIP_ROW_BITS | serial,
                                             .kind = kind,
                                             .generation = 1 };
    size_t size;
    void *bytes;

    cr_assert_eq(sx_membership_encode(&head, name, procs, count, &bytes, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_publish(writer, bytes, size), PMIX_SUCCESS);
    cr_assert_eq(sx_membership_enter(writer, sx_membership_realm(kind), head.subject, name),
                 PMIX_SUCCESS);
    free(bytes);
}

Test(places, are_the_ranks_of_a_process_in_the_order_of_the_connects)
{
    struct sx_store_writer writer;
    pmix_value_t value;

    test_store_create(&writer, 0, 0, false);
    cr_expect_eq(sx_places_find(&writer.view, SHMIX_CONNECTED, "b", 1, &value), PMIX_ERR_NOT_FOUND);
    list_put(&writer, "newer", 7, SX_MEMBERSHIP_CONNECTED, turned, 2);
    list_put(&writer, "older", 2, SX_MEMBERSHIP_CONNECTED, both, 2);
    list_put(&writer, "group", 3, SX_MEMBERSHIP_GROUP, both, 2);
    list_put(&writer, "others", 4, SX_MEMBERSHIP_CONNECTED, both, 1);

    cr_assert_eq(sx_places_find(&writer.view, SHMIX_CONNECTED, "b", 1, &value), PMIX_SUCCESS);
    cr_assert_eq(value.type, PMIX_DATA_ARRAY);
    cr_assert_eq(value.data.darray->type, PMIX_PROC);
    cr_assert_eq(value.data.darray->size, 2);
    const pmix_proc_t *const there = value.data.darray->array;

    cr_expect_str_eq(there[0].nspace, "older");
    cr_expect_eq(there[0].rank, 1);
    cr_expect_str_eq(there[1].nspace, "newer");
    cr_expect_eq(there[1].rank, 0);
    PMIx_Value_destruct(&value);
    cr_expect_eq(sx_places_find(&writer.view, SHMIX_CONNECTED, "b", 2, &value), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}

static void expect_one(const struct sx_store *store, const char *key, const char *want)
{
    pmix_value_t value;

    cr_assert_eq(sx_places_find(store, key, "a", 3, &value), PMIX_SUCCESS);
    cr_assert_eq(value.data.darray->type, PMIX_STRING);
    cr_assert_eq(value.data.darray->size, 1);
    cr_expect_str_eq(((char **)value.data.darray->array)[0], want);
    PMIx_Value_destruct(&value);
}

Test(places, are_notified_by_kind)
{
    struct sx_store_writer writer;
    pmix_value_t value;

    test_store_create(&writer, 0, 0, false);
    list_put(&writer, "same", 1, SX_MEMBERSHIP_GROUP, both, 2);
    list_put(&writer, "connected", 2, SX_MEMBERSHIP_CONNECTED, both, 2);
    cr_expect_eq(sx_places_find(&writer.view, PMIX_PSET_NAMES, "a", 3, &value), PMIX_ERR_NOT_FOUND);
    list_put(&writer, "same", 3, SX_MEMBERSHIP_PSET, both, 1);
    list_put(&writer, "other", 4, SX_MEMBERSHIP_PSET, turned, 1);
    expect_one(&writer.view, PMIX_GROUP_NAMES, "same");
    expect_one(&writer.view, PMIX_PSET_NAMES, "same");
    cr_expect_eq(sx_places_find(&writer.view, PMIX_RANK, "a", 3, &value), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}
