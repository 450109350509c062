/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_route_test.c - the table of event_route.h: whom an event of each range concerns. */
#include "server/event/event_route.h"

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

        sx_event_route(&server, block, SX_EVENT_FROM_CLIENT);
        cr_expect_eq(sx_event_concerns(block, sx_nspace_find(&server, "a")), rows[i].a, "%zu", i);
        cr_expect_eq(sx_event_concerns(block, sx_nspace_find(&server, "b")), rows[i].b, "%zu", i);
        for (int origin = SX_EVENT_FROM_CLIENT; origin <= SX_EVENT_FROM_LIBRARY; origin++) {
            cr_expect_eq(sx_event_reaches_host(&server, block, (enum sx_event_origin)origin),
                         rows[i].host[origin], "%zu from %d", i, origin);
        }
        sx_event_block_release(block);
    }
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
        sx_event_route(&server, block, SX_EVENT_FROM_CLIENT);
        sx_event_route(&server, strange, SX_EVENT_FROM_HOST);
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

        sx_event_route(&server, block, speakers[i].origin);
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

        cr_expect_eq(sx_event_way(&server, block), want, "%s, row %zu", why, i);
        sx_event_block_head(block)->flags |= SX_EVENT_STAYS_LOCAL;
        cr_expect_eq(sx_event_way(&server, block), SX_EVENT_STAYS, "%s, row %zu", why, i);
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
