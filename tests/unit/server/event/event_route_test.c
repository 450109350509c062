/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_route_test.c - the table of event_route.h: whom an event of each range concerns. */
#include "server/event/event_route.h"

#include <stdlib.h>

#include "../bare.h"
#include "../block_build.h"

static struct sx_server server;

/* Job "a" is whole on this node, half of job "b" is on others; both of session 1. */
static void begin(void)
{
    bare_init(&server);
    bare_job(&server, "a", 2, 2)->session = 1;
    bare_job(&server, "b", 4, 2)->session = 1;
}

static void end(void)
{
    bare_deinit(&server);
}

TestSuite(event_route, .init = begin, .fini = end);

static struct sx_event_route route_of(struct sx_event_block *block, enum sx_event_origin origin)
{
    struct sx_event_route route;

    sx_event_route(&server, block, origin, &route);
    return route;
}

/* An event of @source for @target, a process of job "a" or "b"; NULL: none. */
static struct sx_event_block *event(const char *source, pmix_data_range_t range, const char *target,
                                    uint32_t rank)
{
    pmix_proc_t from, to;
    pmix_info_t info;
    struct sx_event_block *block = NULL;

    PMIx_Load_procid(&from, source, 0);
    PMIx_Load_procid(&to, target, rank);
    PMIx_Info_load(&info, PMIX_EVENT_CUSTOM_RANGE, &to, PMIX_PROC);
    cr_assert_eq(block_build(-2000, &from, range, &info, target != NULL, &block), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    return block;
}

/* An event of job "a"; @a, @b: the jobs that it concerns; @host: whether it is the host's when a
 * client, the host and the library made it. */
static const struct {
    pmix_data_range_t range;
    const char *target;
    bool a, b, host[3];
} rows[] = {
    { PMIX_RANGE_RM, NULL, false, false, { true, true, true } },
    { PMIX_RANGE_LOCAL, NULL, true, true, { true, true, true } },
    { PMIX_RANGE_NAMESPACE, NULL, true, false, { false, false, true } },
    { PMIX_RANGE_SESSION, NULL, true, true, { true, true, true } },
    { PMIX_RANGE_GLOBAL, NULL, true, true, { true, true, true } },
    { PMIX_RANGE_CUSTOM, "b", false, true, { false, false, false } },
    { PMIX_RANGE_CUSTOM, "host", false, false, { true, true, true } },
    { PMIX_RANGE_PROC_LOCAL, NULL, false, false, { false, true, false } },
};

Test(event_route, goes_by_the_range)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_event_block *const block = event("a", rows[i].range, rows[i].target, 0);
        const struct sx_event_route route = route_of(block, SX_EVENT_FROM_CLIENT);

        cr_expect_eq(sx_event_route_concerns(&route, block, sx_nspace_find(&server, "a")),
                     rows[i].a, "%zu", i);
        cr_expect_eq(sx_event_route_concerns(&route, block, sx_nspace_find(&server, "b")),
                     rows[i].b, "%zu", i);
        for (int origin = SX_EVENT_FROM_CLIENT; origin <= SX_EVENT_FROM_LIBRARY; origin++) {
            cr_expect_eq(route_of(block, (enum sx_event_origin)origin).reaches_host,
                         rows[i].host[origin], "%zu from %d", i, origin);
        }
        sx_event_block_release(block);
    }
}

/* Thousands of targets are not read again for each of thousands of namespaces. */
Test(event_route, reads_its_targets_once)
{
    struct sx_event_block *const block = event("a", PMIX_RANGE_CUSTOM, "b", 0);
    const struct sx_event_route route = route_of(block, SX_EVENT_FROM_CLIENT);

    sx_event_block_head(block)->target_count = 0; /* then it would concern all */
    cr_expect_not(sx_event_route_concerns(&route, block, sx_nspace_find(&server, "a")));
    cr_expect(sx_event_route_concerns(&route, block, sx_nspace_find(&server, "b")));
    sx_event_block_release(block);
}

Test(event_route, of_a_session_reaches_each_job_of_which_no_other_session_is_known)
{
    struct sx_nspace *const b = sx_nspace_find(&server, "b");
    static const struct {
        uint64_t session;
        bool concerned;
    } sessions[] = {
        { 1, true }, { 2, false }, { SX_SESSION_NONE, false }, { SX_SESSION_UNKNOWN, true }
    };

    for (size_t i = 0; i < SX_COUNT(sessions); i++) {
        struct sx_event_block *const block = event("a", PMIX_RANGE_SESSION, NULL, 0);
        struct sx_event_block *const strange = event("unknown", PMIX_RANGE_SESSION, NULL, 0);

        b->session = sessions[i].session;
        (void)route_of(block, SX_EVENT_FROM_CLIENT);
        (void)route_of(strange, SX_EVENT_FROM_HOST);
        cr_expect_eq(sx_event_concerns(block, b), sessions[i].concerned, "%zu", i);
        cr_expect(sx_event_concerns(strange, b), "%zu", i);
        sx_event_block_release(block);
        sx_event_block_release(strange);
    }
}

/* Whether it is for a job that nobody knows. */
static const struct {
    const char *source;
    pmix_data_range_t range;
    const char *target;
    bool awaits;
} awaited[] = {
    { "a", PMIX_RANGE_CUSTOM, "unknown", true }, { "a", PMIX_RANGE_CUSTOM, "b", false },
    { "a", PMIX_RANGE_CUSTOM, "host", false },   { "unknown", PMIX_RANGE_NAMESPACE, NULL, true },
    { "a", PMIX_RANGE_NAMESPACE, NULL, false },  { "host", PMIX_RANGE_NAMESPACE, NULL, false },
};

Test(event_route, finds_out_whether_a_job_is_still_to_come)
{
    for (size_t i = 0; i < SX_COUNT(awaited); i++) {
        struct sx_event_block *const block = event(awaited[i].source, awaited[i].range,
                                                   awaited[i].target, 0);

        cr_expect_eq(sx_event_awaits_job(&server, block), awaited[i].awaits, "%zu", i);
        sx_event_block_release(block);
    }
}

/* The manager names itself or nobody, and speaks to no job. */
static const struct {
    const char *source;
    pmix_data_range_t range;
    enum sx_event_origin origin;
    bool environment;
} speakers[] = {
    { "", PMIX_RANGE_GLOBAL, SX_EVENT_FROM_HOST, true },
    { "host", PMIX_RANGE_GLOBAL, SX_EVENT_FROM_HOST, true },
    { "a", PMIX_RANGE_GLOBAL, SX_EVENT_FROM_HOST, false },
    { "host", PMIX_RANGE_NAMESPACE, SX_EVENT_FROM_HOST, false },
    { "", PMIX_RANGE_GLOBAL, SX_EVENT_FROM_LIBRARY, false },
    { "host", PMIX_RANGE_GLOBAL, SX_EVENT_FROM_CLIENT, false },
};

Test(event_route, marks_what_the_manager_itself_says_to_all)
{
    for (size_t i = 0; i < SX_COUNT(speakers); i++) {
        struct sx_event_block *const block = event(speakers[i].source, speakers[i].range, NULL, 0);

        (void)route_of(block, speakers[i].origin);
        cr_expect_eq((sx_event_block_head(block)->flags & SX_EVENT_ENVIRONMENT) != 0,
                     speakers[i].environment, "%zu", i);
        sx_event_block_release(block);
    }
}

/* Where a client's event goes, with and without a host that carries it. */
static const struct {
    const char *source;
    pmix_data_range_t range;
    const char *target;
    uint32_t rank;
    enum sx_event_way carried, not_carried;
} ways[] = {
    { "a", PMIX_RANGE_LOCAL, NULL, 0, SX_EVENT_STAYS, SX_EVENT_STAYS },
    { "a", PMIX_RANGE_PROC_LOCAL, NULL, 0, SX_EVENT_STAYS, SX_EVENT_STAYS },
    { "a", PMIX_RANGE_RM, NULL, 0, SX_EVENT_GOES_UP, SX_EVENT_GOES_UP },
    { "a", PMIX_RANGE_NAMESPACE, NULL, 0, SX_EVENT_GOES_UP, SX_EVENT_GOES_UP },
    { "b", PMIX_RANGE_NAMESPACE, NULL, 0, SX_EVENT_LEAVES, SX_EVENT_LEAVES },
    { "a", PMIX_RANGE_GLOBAL, NULL, 0, SX_EVENT_LEAVES, SX_EVENT_LEAVES },
    { "a", PMIX_RANGE_SESSION, NULL, 0, SX_EVENT_LEAVES, SX_EVENT_LEAVES },
    { "a", PMIX_RANGE_CUSTOM, "a", 1, SX_EVENT_STAYS, SX_EVENT_STAYS },
    { "a", PMIX_RANGE_CUSTOM, "a", PMIX_RANK_WILDCARD, SX_EVENT_STAYS, SX_EVENT_STAYS },
    { "a", PMIX_RANGE_CUSTOM, "b", 1, SX_EVENT_STAYS, SX_EVENT_STAYS },
    { "a", PMIX_RANGE_CUSTOM, "b", 3, SX_EVENT_LEAVES, SX_EVENT_LEAVES },
    { "a", PMIX_RANGE_CUSTOM, "b", PMIX_RANK_WILDCARD, SX_EVENT_LEAVES, SX_EVENT_LEAVES },
    { "a", PMIX_RANGE_CUSTOM, "unknown", 0, SX_EVENT_LEAVES, SX_EVENT_LEAVES },
};

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)code, (void)source, (void)range, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    return PMIX_SUCCESS;
}

static void expect_ways(const char *why, bool carried, bool alone)
{
    for (size_t i = 0; i < SX_COUNT(ways); i++) {
        struct sx_event_block *const block = event(ways[i].source, ways[i].range, ways[i].target,
                                                   ways[i].rank);
        const enum sx_event_way want = alone     ? SX_EVENT_STAYS
                                       : carried ? ways[i].carried
                                                 : ways[i].not_carried;

        cr_expect_eq(route_of(block, SX_EVENT_FROM_CLIENT).way, want, "%s, row %zu", why, i);
        sx_event_block_head(block)->flags |= SX_EVENT_STAYS_LOCAL;
        cr_expect_eq(route_of(block, SX_EVENT_FROM_CLIENT).way, SX_EVENT_STAYS, "%s, row %zu", why,
                     i);
        sx_event_block_release(block);
    }
}

static bool confined(void)
{
    sx_event_confine(&server);
    return atomic_load(&server.board.header->events_confined) != 0;
}

Test(event_route, leaves_the_node_when_somebody_is_elsewhere)
{
    expect_ways("nobody carries it", false, false);
    cr_expect(confined());
    server.module.notify_event = on_notify;
    expect_ways("the host carries it", true, false);
    cr_expect_not(confined());
    server.module.notify_event = NULL;
    sx_nspace_remove(&server, sx_nspace_find(&server, "b"));
    expect_ways("nobody is elsewhere", false, true);
    cr_expect_not(confined());
}

/* ---- names that stand for processes ---------------------------------------------------------- */

/* An event for, or about, connected processes names them themselves, and says
 * what it said. */

#define CODE (-2000)

static struct sx_membership_entry *both;
static const pmix_proc_t source = { "a", 0 };

/* "both": a.1, b.0 and b.1; b has no others. */
static void alias_begin(void)
{
    const pmix_proc_t procs[] = { { "a", 1 }, { "b", 0 }, { "b", 1 } };

    bare_init(&server);
    bare_job(&server, "a", 2, 2);
    bare_job(&server, "b", 2, 2);
    both = bare_connected(&server, "both", procs, SX_COUNT(procs));
}

static void alias_end(void)
{
    bare_deinit(&server);
}

TestSuite(event_alias, .init = alias_begin, .fini = alias_end);

/* An event for and about {@name, @rank}, with two more infos. */
static struct sx_event_block *alias_event(const char *name, uint32_t rank)
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
    struct sx_event_block *block = alias_event("both", PMIX_RANK_WILDCARD);
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
    cr_assert_eq(sx_event_block_procs(block, SX_EVENT_AFFECTED, &affected, &count), PMIX_SUCCESS);
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
} named[] = {
    { "a member", "both", 0, true, "a", 1 },
    { "a process", "a", 1, false, "a", 1 },
    { "an unknown one", "neither", 1, false, "neither", 1 },
    { "no member", "both", 3, true, "both", 3 },
};

Test(event_alias, leaves_alone_who_needs_no_name)
{
    for (size_t i = 0; i < SX_COUNT(named); i++) {
        struct sx_event_block *const made = alias_event(named[i].name, named[i].rank),
                                     *block = made;

        sx_event_block_retain(made);
        cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
        cr_expect_eq(block != made, named[i].is_new, "%s", named[i].why);
        cr_expect_eq(sx_event_block_head(block)->target_count, 1, "%s", named[i].why);
        cr_expect(sx_event_block_aims_at(block, named[i].want_name, named[i].want_rank), "%s",
                  named[i].why);
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
    struct sx_event_block *block = alias_event("both", 0);

    cr_assert_eq(sx_memberships_leave(&server, both, &gone), PMIX_SUCCESS);
    cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
    cr_expect_not(sx_event_block_aims_at(block, "a", 1), "it has left");
    sx_event_block_release(block);
    sx_memberships_remove(&server, both);
    block = alias_event("both", PMIX_RANK_WILDCARD);
    cr_assert_eq(sx_event_unalias(&server, NULL, &block), PMIX_SUCCESS);
    cr_expect_not(sx_event_block_aims_at(block, "b", 0));
    sx_event_block_release(block);
}
