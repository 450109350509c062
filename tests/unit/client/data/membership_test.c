/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_test.c - a list in the node's store is looked at where it lies. */
#include "client/data/view.h"
#include "client/link/link.h"

#include "../alone.h"
#include "../node_store.h"

TestSuite(membership, .init = alone_begin, .fini = alone_end);

static const struct sx_membership_head head = { .subject = UINT64_C(5) << SX_MEMBERSHIP_ROW_BITS,
                                                .kind = SX_MEMBERSHIP_CONNECTED,
                                                .generation = 1 };

static const pmix_proc_t both[] = { { "a", 3 }, { "b", 1 } };

Test(membership, is_looked_at_without_a_message_while_the_store_is_the_newest)
{
    const struct sx_store_options options = { .nspace = "" };
    struct sx_store_writer writer;
    struct sx_members_look look;

    cr_assert_eq(sx_store_create(&writer, &options), PMIX_SUCCESS);
    node_store_map(&writer);
    cr_expect_eq(sx_members_open("both", &look), PMIX_ERR_NOT_FOUND);
    node_store_put(&writer, &head, "both", both, 2);
    cr_assert_eq(sx_members_open("both", &look), PMIX_SUCCESS);
    cr_expect_eq(sx_membership_rank(&look.found, "b", 1), 1);
    sx_members_close(&look);
    cr_assert_eq(sx_members_open_subject(sx_primary(), head.subject, &look), PMIX_SUCCESS);
    cr_expect_str_eq(sx_membership_name(&look.found), "both");
    sx_members_close(&look);
    cr_expect_eq(sx_members_open_subject(sx_primary(), head.subject + 1, &look),
                 PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_members_open_subject(sx_primary(), 0, &look), PMIX_ERR_NOT_FOUND);

    /* There is a newer one, and nobody to ask for it: what is old is no answer. */
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_expect_eq(sx_members_open("both", &look), PMIX_ERR_UNREACH);
    node_store_map(&writer);
    cr_assert_eq(sx_members_open("both", &look), PMIX_SUCCESS);
    sx_members_close(&look);
    sx_membership_withdraw(&writer, SX_REALM_MEMBERS, head.subject, "both");
    cr_expect_eq(sx_members_open("both", &look), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}
