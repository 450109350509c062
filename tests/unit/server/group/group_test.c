/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_test.c - what a group's name may be, and which context ids there are. */
#include "server/group/group.h"

#include "../bare.h"

static struct sx_server server;
static const pmix_proc_t procs[] = { { "job", 2 }, { "job", 0 } };

static void begin(void)
{
    bare_init(&server);
    strcpy(server.relay_origin, "ffffffff0123456789abcdef01234567");
    (void)bare_job(&server, "job", 3, 3);
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(group, .init = begin, .fini = end);

static struct sx_membership_entry *make(const char *name, uint64_t context_id)
{
    const struct sx_group_options options = { .name = name,
                                              .wants_context = true,
                                              .context_id = context_id,
                                              .procs = procs,
                                              .proc_count = SX_COUNT(procs) };
    struct sx_membership_entry *group;

    cr_assert_eq(sx_group_make(&server, &options, &group), PMIX_SUCCESS);
    return group;
}

Test(group, has_its_members_in_the_order_of_their_ranks_and_says_what_was_asked_for)
{
    static const struct {
        struct sx_group_options options;
        uint32_t flags;
    } rows[] = {
        { { .name = "plain" }, 0 },
        { { .name = "notify", .notify = true }, SX_MEMBERSHIP_NOTIFY },
        { { .name = "goes on", .goes_on = true }, SX_MEMBERSHIP_GOES_ON },
        { { .name = "context", .wants_context = true }, SX_MEMBERSHIP_CONTEXT },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_group_options options = rows[i].options;
        struct sx_membership_entry *group;
        pmix_proc_t first;

        options.procs = procs;
        options.proc_count = SX_COUNT(procs);
        cr_assert_eq(sx_group_make(&server, &options, &group), PMIX_SUCCESS);
        cr_expect_eq(group->published.head.kind, SX_MEMBERSHIP_GROUP);
        cr_expect_eq(group->published.head.flags, rows[i].flags, "%s", options.name);
        cr_expect_eq(group->published.head.context_id != 0, options.wants_context);
        cr_assert_eq(sx_membership_member(&group->published, 0, &first), PMIX_SUCCESS);
        cr_expect_eq(first.rank, 2);
    }
}

Test(group, has_a_context_id_of_its_own_that_is_never_used_again)
{
    struct sx_membership_entry *const first = make("group", 0);
    const uint64_t id = first->published.head.context_id;

    cr_expect_eq(id >> 32, INT32_MAX, "the server's own half");
    sx_group_end(&server, first);
    cr_expect_neq(make("group", 0)->published.head.context_id, id);
    cr_expect_eq(make("hosted", 7)->published.head.context_id, 7);
}

Test(group, has_a_name_that_nobody_else_has)
{
    struct sx_membership_entry *const group = make("group", 0);
    char longest[PMIX_MAX_NSLEN + 2] = { 0 };

    memset(longest, 'n', PMIX_MAX_NSLEN);
    cr_expect_eq(sx_group_name_judge(&server, longest), PMIX_SUCCESS);
    longest[PMIX_MAX_NSLEN] = 'n';
    cr_expect_eq(sx_group_name_judge(&server, longest), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_group_name_judge(&server, ""), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_group_name_judge(&server, "job"), PMIX_ERR_EXISTS);
    cr_expect_eq(sx_group_name_judge(&server, "group"), PMIX_ERR_EXISTS);
    sx_group_end(&server, group);
    cr_expect_eq(sx_group_name_judge(&server, "group"), PMIX_SUCCESS);
}
