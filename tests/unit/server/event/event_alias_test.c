/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_alias_test.c - an event for, or about, connected processes names them themselves, and says
 * what it said. */
#include "server/event/event_alias.h"

#include <stdlib.h>

#include "../bare.h"
#include "../block_build.h"

#define CODE (-2000)

static struct sx_server server;
static struct sx_membership_entry *both;
static const pmix_proc_t source = { "a", 0 };

/* "both": a.1, b.0 and b.1; b has no others. */
static void begin(void)
{
    const pmix_proc_t procs[] = { { "a", 1 }, { "b", 0 }, { "b", 1 } };

    bare_init(&server);
    bare_job(&server, "a", 2, 2);
    bare_job(&server, "b", 2, 2);
    both = bare_connected(&server, "both", procs, SX_COUNT(procs));
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(event_alias, .init = begin, .fini = end);

/* An event for and about {@name, @rank}, with two more infos. */
static struct sx_event_block *event(const char *name, uint32_t rank)
{
    struct sx_event_block *block = NULL;
    const bool yes = true;
    const int number = 42;
    pmix_proc_t proc;
    pmix_info_t infos[4];

    PMIx_Load_procid(&proc, name, rank);
    PMIx_Info_load(&infos[0], PMIX_EVENT_CUSTOM_RANGE, &proc, PMIX_PROC);
    PMIx_Info_load(&infos[1], PMIX_EVENT_AFFECTED_PROC, &proc, PMIX_PROC);
    PMIx_Info_load(&infos[2], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIx_Info_load(&infos[3], "number", &number, PMIX_INT);
    cr_assert_eq(block_build(CODE, &source, PMIX_RANGE_CUSTOM, infos, 4, &block), PMIX_SUCCESS);
    for (size_t i = 0; i < 4; i++) {
        PMIx_Info_destruct(&infos[i]);
    }
    return block;
}

Test(event_alias, for_all_of_them_is_for_each_and_says_what_it_said)
{
    struct sx_event_block *block = event("both", PMIX_RANK_WILDCARD);
    pmix_proc_t *affected, from;
    pmix_info_t *info;
    size_t count, ninfo;

    block->session = 5;
    block->has_user = true;
    block->user = 1001;
    cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
    cr_expect_eq(sx_event_block_head(block)->target_count, 2);
    cr_expect(sx_event_block_aims_at(block, "a", 1));
    cr_expect_not(sx_event_block_aims_at(block, "a", 0));
    cr_expect(sx_event_block_aims_at(block, "b", 0));
    cr_expect(sx_event_block_aims_at(block, "b", 1));
    cr_assert_eq(sx_event_block_affected(block, &affected, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 2);
    cr_expect(PMIx_Check_nspace(affected[1].nspace, "b"));
    cr_expect_eq(affected[1].rank, PMIX_RANK_WILDCARD);

    cr_expect_eq(sx_event_block_head(block)->code, CODE);
    cr_expect_eq(sx_event_block_head(block)->flags, SX_EVENT_DO_NOT_CACHE);
    cr_expect_eq(block->session, 5);
    cr_expect(block->has_user && block->user == 1001);
    cr_expect(block->is_job);
    sx_event_block_source(block, &from);
    cr_expect(PMIx_Check_procid(&from, &source));
    cr_assert_eq(sx_event_block_infos(block, &info, &ninfo), PMIX_SUCCESS);
    cr_expect_eq(ninfo, 4);
    cr_expect(PMIx_Check_nspace(info[0].value.data.proc->nspace, "both"), "for other nodes");
    cr_expect_eq(info[3].value.data.integer, 42);
    PMIX_INFO_FREE(info, ninfo);
    free(affected);
    sx_event_block_release(block);
}

/* Who is meant, and whether the event is another one then. */
static const struct {
    const char *why, *name;
    uint32_t rank;
    bool is_new;
    const char *want_name;
    uint32_t want_rank;
} rows[] = {
    { "a member", "both", 0, true, "a", 1 },
    { "a process", "a", 1, false, "a", 1 },
    { "an unknown one", "neither", 1, false, "neither", 1 },
    { "no member", "both", 3, true, "both", 3 },
};

Test(event_alias, leaves_alone_who_needs_no_name)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_event_block *const made = event(rows[i].name, rows[i].rank), *block = made;

        sx_event_block_retain(made);
        cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
        cr_expect_eq(block != made, rows[i].is_new, "%s", rows[i].why);
        cr_expect_eq(sx_event_block_head(block)->target_count, 1, "%s", rows[i].why);
        cr_expect(sx_event_block_aims_at(block, rows[i].want_name, rows[i].want_rank), "%s",
                  rows[i].why);
        sx_event_block_release(block);
        sx_event_block_release(made);
    }
}

/* Whom a host names as the source, and whom it means. */
static const struct {
    pmix_proc_t given, want;
} sources[] = {
    { { "both", 0 }, { "a", 1 } },
    { { "both", 2 }, { "b", 1 } },
    { { "both", 3 }, { "both", 3 } },
    { { "both", PMIX_RANK_WILDCARD }, { "both", PMIX_RANK_WILDCARD } },
    { { "b", 0 }, { "b", 0 } },
    { { "", PMIX_RANK_UNDEF }, { "", PMIX_RANK_UNDEF } },
};

Test(event_alias, is_from_the_member_that_a_host_names)
{
    for (size_t i = 0; i < SX_COUNT(sources); i++) {
        struct sx_event_block *block = NULL;
        pmix_proc_t from;

        cr_assert_eq(block_build(CODE, &sources[i].given, PMIX_RANGE_SESSION, NULL, 0, &block),
                     PMIX_SUCCESS);
        cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
        sx_event_block_source(block, &from);
        cr_expect(strcmp(from.nspace, sources[i].want.nspace) == 0 &&
                      from.rank == sources[i].want.rank,
                  "%s.%u is %s.%u", sources[i].given.nspace, sources[i].given.rank, from.nspace,
                  from.rank);
        sx_event_block_release(block);
    }
}

Test(event_alias, is_nobodys_when_they_have_gone)
{
    const pmix_proc_t gone = { "a", 1 };
    struct sx_event_block *block = event("both", 0);

    cr_assert_eq(sx_memberships_leave(&server, both, &gone), PMIX_SUCCESS);
    cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
    cr_expect_not(sx_event_block_aims_at(block, "a", 1), "it has left");
    sx_event_block_release(block);
    sx_memberships_remove(&server, both);
    block = event("both", PMIX_RANK_WILDCARD);
    cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
    cr_expect_not(sx_event_block_aims_at(block, "b", 0));
    sx_event_block_release(block);
}
