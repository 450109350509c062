/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_test.c - what a group's name may be, and which context ids there are. */
#include "server/group/group.h"

#include <stdlib.h>

#include "../answers.h"
#include "../bare.h"
#include "../bare_events.h"
#include "../opened.h"
#include "base/value/flat.h"
#include "server/collective/collective.h"
#include "server/event/event_route.h"

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

/* Values of groups that have ended make room for a new one, but not all of them in one turn. */
Test(group, values_of_many_that_have_ended_go_a_few_at_a_time)
{
    enum { GROUPS = 1000, LEAST = 64 };
    struct sx_nspace *const job = sx_nspace_find(&server, "job");
    static const pmix_nspace_t name = "name";
    uint64_t subject = 1u << 20, before;

    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    server.group.bytes_max = GROUPS;
    for (uint32_t i = 0; i < GROUPS; i++) {
        cr_assert_eq(sx_group_values_expect(job, subject++, 0, name), PMIX_SUCCESS);
        sx_group_values_add(&server, job, 1);
    }
    cr_assert_eq(job->group_bytes, GROUPS);
    cr_assert_eq(sx_group_values_expect(job, subject, 0, name), PMIX_SUCCESS);
    sx_group_values_add(&server, job, GROUPS - LEAST / 2);
    cr_expect_eq(job->group_bytes, 2 * GROUPS - LEAST / 2 - LEAST);
    for (unsigned i = 0; i < GROUPS / LEAST + 1; i++) {
        before = job->group_bytes;
        cr_assert_eq(sx_group_values_expect(job, subject, 0, name), PMIX_SUCCESS);
        sx_group_values_add(&server, job, 0);
        cr_expect_leq(before - job->group_bytes, LEAST, "%u", i);
    }
    cr_expect_leq(job->group_bytes, GROUPS);
    sx_group_values_nspace_gone(&server, job);
    cr_expect_eq(job->group_bytes, 0);
}

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
    cr_expect_eq(sx_group_name_judge(&server, 0, longest), PMIX_SUCCESS);
    longest[PMIX_MAX_NSLEN] = 'n';
    cr_expect_eq(sx_group_name_judge(&server, 0, longest), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_group_name_judge(&server, 0, ""), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_group_name_judge(&server, 0, "job"), PMIX_ERR_EXISTS);
    cr_expect_eq(sx_group_name_judge(&server, 0, "group"), PMIX_ERR_EXISTS);
    sx_group_end(&server, group);
    cr_expect_eq(sx_group_name_judge(&server, 0, "group"), PMIX_SUCCESS);
}

/* ---- members that leave, or end -------------------------------------------------------------- */

/* A member leaves, or ends without having left: what is left of the group, who
 * hears of it, and what becomes of what the others do together under its name.  GR51 GR52 GR53 GR54
 * GR76 GR77 GR78 GR79 GR80 GR88 CN38 X22 */

#define SIZE 4u
enum { STRANGER, FIRST, VICTIM, OTHER }; /* ranks in the job */

static struct sx_nspace *job;
static struct sx_client *clients[SIZE];

static void leave_begin(void)
{
    bare_events_init(&server);
    sx_server_set(&server);
    job = bare_job(&server, "job", SIZE, SIZE);
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        clients[rank] = bare_connect(&server, job, rank);
    }
}

static void leave_end(void)
{
    sx_collective_end_all(&server);
    sx_server_set(NULL);
    bare_events_deinit(&server);
}

TestSuite(group_leave, .init = leave_begin, .fini = leave_end);

/* "group": the ranks 3, 2 and 1 of the job are 0, 1 and 2 in it. */
static struct sx_membership_entry *group_make(bool notify, bool goes_on)
{
    static const pmix_proc_t procs[] = { { "job", OTHER }, { "job", VICTIM }, { "job", FIRST } };
    const struct sx_group_options options = {
        .name = "group", .notify = notify, .goes_on = goes_on, .procs = procs, .proc_count = 3
    };
    struct sx_membership_entry *group;

    cr_assert_eq(sx_group_make(&server, &options, &group), PMIX_SUCCESS);
    return group;
}

/* @client says that it leaves @name.  Return: what it is answered. */
static pmix_status_t leave_at_once(struct sx_client *client, const char *name)
{
    struct sx_group_leave body = { 0 };
    struct answers answers;

    memcpy(body.group, name, strlen(name));
    struct sx_frame frame = opened_frame(SX_MSG_GROUP_LEAVE, 5, &body, sizeof(body));

    answers_begin(&answers, &server, client);
    cr_expect(sx_group_on_leave(&server, client, &frame, 0));
    const pmix_status_t rc = answers_next(&answers, 5);

    answers_end(&answers, client);
    return rc;
}

struct leaving {
    struct sx_client *client;
    const char *name;
    pmix_status_t rc;
};

static void leaving(void *arg, uint64_t now_ns)
{
    struct leaving *const all = arg;

    (void)now_ns;
    all->rc = leave_at_once(all->client, all->name);
}

static pmix_status_t leave(uint32_t rank, const char *name)
{
    struct leaving all = { clients[rank], name, PMIX_ERROR };

    bare_call(&server, leaving, &all);
    return all.rc;
}

/* The newest event of the job; NULL: there is none. */
static struct sx_event_block *newest(void)
{
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;

    sx_eventlog_seek(&cursor, &job->events, UINT64_MAX);
    entry = sx_eventlog_before(&cursor);
    return entry == NULL ? NULL : entry->block;
}

/* The one event so far has @code and is of the end of the victim, for the other two. */
static void expect_event(pmix_status_t code)
{
    struct sx_event_block *const block = newest();
    const struct sx_event *const head = block != NULL ? sx_event_block_head(block) : NULL;
    pmix_proc_t *affected, source;
    pmix_info_t *info;
    size_t count, ninfo, named = 0;

    cr_assert_not_null(block);
    cr_expect_eq(job->events.newest, 1, "one record for all of them");
    cr_expect_eq(head->code, code);
    cr_expect_eq(head->target_count, 2);
    cr_expect(sx_event_block_aims_at(block, "job", FIRST));
    cr_expect(sx_event_block_aims_at(block, "job", OTHER));
    sx_event_block_source(block, &source);
    cr_expect(PMIx_Check_nspace(source.nspace, "job") && source.rank == VICTIM);
    cr_assert_eq(sx_event_block_procs(block, SX_EVENT_AFFECTED, &affected, &count), PMIX_SUCCESS);
    cr_expect(count == 1 && affected[0].rank == VICTIM);
    free(affected);
    cr_assert_eq(sx_event_block_infos(block, &info, &ninfo), PMIX_SUCCESS);
    for (size_t i = 0; i < ninfo; i++) {
        named += PMIx_Check_key(info[i].key, PMIX_GROUP_ID) &&
                 strcmp(info[i].value.data.string, "group") == 0;
    }
    cr_expect_eq(named, 1);
    PMIX_INFO_FREE(info, ninfo);
}

/* ---- leaving -------------------------------------------------------------------------------- */

Test(group_leave, takes_the_member_out_and_notifies_the_others_once)
{
    struct sx_membership_entry *const group = group_make(false, false);
    pmix_proc_t proc;

    cr_expect_eq(leave(VICTIM, "group"), PMIX_SUCCESS);
    expect_event(PMIX_GROUP_LEFT);
    cr_assert_eq(sx_memberships_find(&server, "group"), group);
    cr_expect_eq(group->published.head.generation, 2);
    cr_expect_eq(sx_membership_rank(&group->published, "job", VICTIM), PMIX_RANK_INVALID);
    cr_expect_eq(sx_membership_member(&group->published, 1, &proc), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_membership_rank(&group->published, "job", FIRST), 2, "who stays, stays there");
}

Test(group_leave, is_refused_to_who_is_in_no_such_group)
{
    const pmix_proc_t procs[] = { { "job", FIRST }, { "job", VICTIM } };

    (void)group_make(false, false);
    (void)bare_connected(&server, "connected", procs, 2);
    cr_expect_eq(leave(VICTIM, "unknown"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(leave(VICTIM, ""), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(leave(VICTIM, "job"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(leave(VICTIM, "connected"), PMIX_ERR_NOT_FOUND, "one disconnects from it");
    cr_expect_eq(leave(STRANGER, "group"), PMIX_ERR_NOT_A_MEMBER);
    cr_expect_null(newest());
    cr_expect_eq(leave(VICTIM, "group"), PMIX_SUCCESS);
    cr_expect_eq(leave(VICTIM, "group"), PMIX_ERR_NOT_A_MEMBER, "again");
    expect_event(PMIX_GROUP_LEFT);
}

Test(group_leave, of_the_last_member_ends_the_group)
{
    (void)group_make(false, false);
    cr_expect_eq(leave(VICTIM, "group"), PMIX_SUCCESS);
    cr_expect_eq(leave(OTHER, "group"), PMIX_SUCCESS);
    cr_expect_not_null(sx_memberships_find(&server, "group"));
    cr_expect_eq(leave(FIRST, "group"), PMIX_SUCCESS);
    cr_expect_null(sx_memberships_find(&server, "group"));
    cr_expect_eq(job->events.newest, 2, "there was nobody to tell");
    cr_expect_eq(leave(FIRST, "group"), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_group_name_judge(&server, 0, "group"), PMIX_SUCCESS, "another may have it");
}

/* ---- on another node ------------------------------------------------------------------------- */

struct relayed {
    const char *why;
    pmix_status_t code;
    const char *nspace;
    uint32_t rank;
    const char *group; /* "": it says nothing of one */
    bool want_left, by_the_host;
};

/* The host brings it, from another server or of itself. */
static void relay(void *arg, uint64_t now_ns)
{
    static const struct sx_server another = { .relay_origin = "another", .self = { "host", 1 } };
    const struct relayed *const relayed = arg;
    const struct sx_notify_options options = { .range = PMIX_RANGE_GLOBAL };
    struct sx_event_block *block = NULL;
    pmix_info_t group, *marked = NULL;
    pmix_proc_t source;
    size_t count = relayed->group[0] != '\0', marked_count = 0;

    (void)now_ns;
    PMIx_Load_procid(&source, relayed->nspace, relayed->rank);
    PMIx_Info_load(&group, PMIX_GROUP_ID, relayed->group, PMIX_STRING);
    cr_assert_eq(sx_event_block_build(relayed->code, &source, &options, &group, count, &block),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_event_relay_infos(&another, block, &marked, &marked_count), PMIX_SUCCESS);
    cr_assert_eq(sx_event_notify(relayed->code, &source, &options,
                                 relayed->by_the_host ? &group : marked,
                                 relayed->by_the_host ? count : marked_count),
                 PMIX_SUCCESS);
    PMIx_Info_free(marked, marked_count);
    PMIx_Info_destruct(&group);
    sx_event_block_release(block);
}

static struct relayed relays[] = {
    { "it left", PMIX_GROUP_LEFT, "far", 1, "group", true, false },
    { "it failed", PMIX_GROUP_MEMBER_FAILED, "far", 1, "group", true, false },
    { "something else", PMIX_GROUP_CONSTRUCT_COMPLETE, "far", 1, "group", false, false },
    { "another group", PMIX_GROUP_LEFT, "far", 1, "other", false, false },
    { "no group", PMIX_GROUP_LEFT, "far", 1, "", false, false },
    { "no member", PMIX_GROUP_LEFT, "far", 0, "group", false, false },
    { "one of this node", PMIX_GROUP_LEFT, "job", FIRST, "group", false, false },
    { "the host", PMIX_GROUP_LEFT, "far", 1, "group", false, true },
};

Test(group_leave, on_another_node_is_what_the_server_there_says)
{
    const pmix_proc_t procs[] = { { "job", FIRST }, { "far", 1 } };
    const struct sx_group_options options = { .name = "group", .procs = procs, .proc_count = 2 };
    const struct sx_family *const few = server.families;

    server.families = sx_families; /* who hears of it, as in a server */
    for (size_t i = 0; i < SX_COUNT(relays); i++) {
        struct sx_membership_entry *group;

        cr_assert_eq(sx_group_make(&server, &options, &group), PMIX_SUCCESS);
        bare_call(&server, relay, &relays[i]);
        cr_expect_eq(group->published.head.generation, relays[i].want_left ? 2 : 1, "%s",
                     relays[i].why);
        sx_group_end(&server, group);
    }
    server.families = few;
}

/* Several users have groups of one name: the member says which one is meant. */
Test(group_leave, on_another_node_is_of_the_group_that_has_the_member)
{
    const pmix_proc_t procs[][2] = { { { "job", FIRST }, { "far", 1 } },
                                     { { "job", VICTIM }, { "far", 2 } } };
    struct relayed left = { "it left", PMIX_GROUP_LEFT, "far", 2, "group", true, false };
    const struct sx_family *const few = server.families;
    struct sx_membership_entry *groups[2];

    clients[VICTIM]->uid = 54321;
    server.families = sx_families;
    for (size_t i = 0; i < SX_COUNT(groups); i++) {
        const struct sx_group_options options = { .name = "group",
                                                  .procs = procs[i],
                                                  .proc_count = 2 };

        cr_assert_eq(sx_group_make(&server, &options, &groups[i]), PMIX_SUCCESS);
    }
    for (size_t i = SX_COUNT(groups); i-- > 0; left.rank--) {
        bare_call(&server, relay, &left);
        cr_expect_eq(groups[0]->published.head.generation, i == 0 ? 2 : 1);
        cr_expect_eq(groups[1]->published.head.generation, 2);
    }
    sx_group_end(&server, groups[0]);
    sx_group_end(&server, groups[1]);
    server.families = few;
}

/* ---- what the others do together ------------------------------------------------------------ */

enum ending { LEAVES, DIES, FINALIZES };

/* Of all of the group, and of {@also, @also_rank}. */
struct fence {
    bool ft;
    const char *also;
    uint32_t also_rank;
};

static uint32_t proc_write(char *at, const char *name, uint32_t rank)
{
    const uint32_t head[2] = { rank, (uint32_t)strlen(name) };

    memcpy(at, head, sizeof(head));
    memcpy(at + sizeof(head), name, strlen(name));
    return (uint32_t)(sizeof(head) + (strlen(name) + 7) / 8 * 8);
}

static void arrive(uint32_t rank, const struct fence *fence)
{
    _Alignas(8) char message[512] = { 0 };
    struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE, .op = 1, .open = 1 };
    size_t at = sizeof(head), size = 0;
    const bool yes = true;
    pmix_info_t info;

    at += proc_write(message + at, "group", PMIX_RANK_WILDCARD);
    head.proc_count = 1;
    if (fence->also != NULL) {
        at += proc_write(message + at, fence->also, fence->also_rank);
        head.proc_count++;
    }
    if (fence->ft) {
        PMIx_Info_load(&info, PMIX_GROUP_FT_COLLECTIVE, &yes, PMIX_BOOL);
        cr_assert_eq(sx_flat_infos_size(&info, 1, &size), PMIX_SUCCESS);
        cr_assert_eq(sx_flat_infos_encode(&info, 1, message + at, size), PMIX_SUCCESS);
        head.info_size = (uint32_t)size;
    }
    memcpy(message, &head, sizeof(head));
    cr_assert_eq(sx_collective_arrive(&server, clients[rank],
                                      opened(&sx_arrive_body, message, at + size)),
                 PMIX_SUCCESS);
}

static void victim_ends(void *arg, uint64_t now_ns)
{
    const enum ending *const ending = arg;
    struct sx_client *const victim = clients[VICTIM];

    (void)now_ns;
    if (*ending == LEAVES) {
        cr_expect_eq(leave_at_once(victim, "group"), PMIX_SUCCESS);
        return;
    }
    victim->left = *ending == FINALIZES;
    victim->state = *ending == DIES ? SX_CLIENT_DEAD : SX_CLIENT_FINALIZED;
    sx_group_client_gone(&server, victim);
    sx_collective_client_gone(&server, victim);
}

#define WAITS 1 /* no status */

/* How the call of @rank ended. */
static pmix_status_t ended(uint32_t rank)
{
    const struct sx_results *const results = &clients[rank]->results;

    return sx_results_count(results) == 0 ? WAITS : sx_results_at(results, 0).status;
}

/* The victim ends behind the call of the first one.  What that call then is, and what it is when
 * the other one has come. */
static const struct {
    const char *why;
    bool notify, goes_on;
    struct fence fence;
    bool victim_came;
    enum ending ending;
    pmix_status_t want_then, want_at_last, want_event;
} rows[] = {
    { "leaves", .ending = LEAVES, .want_then = WAITS, .want_at_last = PMIX_ERR_PARTIAL_SUCCESS,
      .want_event = PMIX_GROUP_LEFT },
    { "leaves, and is missed by nobody", .ending = LEAVES, .fence.ft = true, .want_then = WAITS,
      .want_event = PMIX_GROUP_LEFT },
    { "leaves a group that goes on", .goes_on = true, .ending = LEAVES, .want_then = WAITS,
      .want_event = PMIX_GROUP_LEFT },
    { "leaves, and is named itself", .fence = { .also = "job", .also_rank = VICTIM },
      .ending = LEAVES, .want_then = WAITS, .want_at_last = WAITS, .want_event = PMIX_GROUP_LEFT },
    { "leaves, and is one of the job", .fence = { .also = "job", .also_rank = PMIX_RANK_WILDCARD },
      .ending = LEAVES, .want_then = WAITS, .want_at_last = WAITS, .want_event = PMIX_GROUP_LEFT },
    { "leaves after its call", .victim_came = true, .ending = LEAVES, .want_then = WAITS,
      .want_event = PMIX_GROUP_LEFT },
    { "dies", .ending = DIES, .want_then = PMIX_ERR_LOST_CONNECTION,
      .want_at_last = PMIX_ERR_LOST_CONNECTION },
    { "dies, which is told", .notify = true, .ending = DIES, .want_then = PMIX_ERR_LOST_CONNECTION,
      .want_at_last = PMIX_ERR_LOST_CONNECTION, .want_event = PMIX_GROUP_MEMBER_FAILED },
    { "dies, and is missed by nobody", .notify = true, .fence.ft = true, .ending = DIES,
      .want_then = WAITS, .want_event = PMIX_GROUP_MEMBER_FAILED },
    { "dies in a group that goes on", .goes_on = true, .ending = DIES, .want_then = WAITS },
    { "dies after its call", .notify = true, .victim_came = true, .ending = DIES,
      .want_then = WAITS, .want_event = PMIX_GROUP_MEMBER_FAILED },
    { "finalizes", .ending = FINALIZES, .want_then = PMIX_ERR_PROC_TERM_WO_SYNC,
      .want_at_last = PMIX_ERR_PROC_TERM_WO_SYNC },
    { "finalizes, which is told", .notify = true, .ending = FINALIZES,
      .want_then = PMIX_ERR_PROC_TERM_WO_SYNC, .want_at_last = PMIX_ERR_PROC_TERM_WO_SYNC,
      .want_event = PMIX_GROUP_MEMBER_FAILED },
    { "finalizes, and is missed by nobody", .fence.ft = true, .ending = FINALIZES,
      .want_then = WAITS },
    { "finalizes in a group that goes on", .goes_on = true, .ending = FINALIZES,
      .want_then = WAITS },
};

static void play(size_t i)
{
    enum ending ending = rows[i].ending;
    struct sx_membership_entry *const group = group_make(rows[i].notify, rows[i].goes_on);

    arrive(FIRST, &rows[i].fence);
    if (rows[i].victim_came) {
        arrive(VICTIM, &rows[i].fence);
    }
    bare_call(&server, victim_ends, &ending);
    cr_expect_eq(ended(FIRST), rows[i].want_then, "%s: %d", rows[i].why, ended(FIRST));
    cr_expect_eq(sx_membership_rank(&group->published, "job", VICTIM), PMIX_RANK_INVALID, "%s",
                 rows[i].why);
    if (rows[i].want_event != PMIX_SUCCESS) {
        expect_event(rows[i].want_event);
    } else {
        cr_expect_null(newest(), "%s", rows[i].why);
    }
    if (ended(FIRST) == WAITS) {
        arrive(OTHER, &rows[i].fence);
    }
    if (rows[i].fence.also_rank == PMIX_RANK_WILDCARD) {
        arrive(STRANGER, &rows[i].fence);
    }
    cr_expect_eq(ended(FIRST), rows[i].want_at_last, "%s: %d", rows[i].why, ended(FIRST));
}

Test(group_leave, means_to_a_fence_what_its_callers_and_its_group_have_said)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        play(i);
        leave_end();
        leave_begin();
    }
}

/* ---- what it has broken ---------------------------------------------------------------------- */

static const struct fence plain = { .ft = false };

static void end_victim(void)
{
    enum ending ending = DIES;

    bare_call(&server, victim_ends, &ending);
}

/* What @rank has heard, from its first call on. */
static void expect_received(uint32_t rank, size_t count, const pmix_status_t want[])
{
    const struct sx_results *const results = &clients[rank]->results;

    cr_expect_eq(sx_results_count(results), count, "rank %u: %zu", rank, sx_results_count(results));
    for (size_t i = 0; i < sx_results_count(results) && i < count; i++) {
        cr_expect_eq(sx_results_at(results, i).status, want[i], "rank %u, call %zu: %d", rank, i,
                     sx_results_at(results, i).status);
    }
}

static void expect_nothing_open(void)
{
    cr_expect(sx_list_empty(&server.collective.all));
    cr_expect_eq(server.collective.signatures.count + server.collective.owed.count, 0);
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        cr_expect_eq(clients[rank]->pending_counts[SX_PENDING_ARRIVAL], 0, "rank %u", rank);
    }
}

Test(group_leave, breaks_the_same_calls_of_those_who_come_later)
{
    static const pmix_status_t want[] = { PMIX_ERR_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION,
                                          PMIX_SUCCESS };

    (void)group_make(false, false);
    arrive(FIRST, &plain);
    arrive(FIRST, &plain);
    end_victim();
    expect_received(FIRST, 2, want);
    arrive(FIRST, &plain); /* its third, for which it waits */
    for (size_t calls = 1; calls <= 2; calls++) {
        arrive(OTHER, &plain);
        expect_received(OTHER, calls, want);
        expect_received(FIRST, 2, want);
    }
    arrive(OTHER, &plain);
    expect_received(OTHER, 3, want);
    expect_received(FIRST, 3, want);
    expect_nothing_open();
}

Test(group_leave, breaks_no_call_that_it_had_made)
{
    static const pmix_status_t want[] = { PMIX_SUCCESS, PMIX_ERR_LOST_CONNECTION, PMIX_SUCCESS };

    (void)group_make(false, false);
    arrive(VICTIM, &plain);
    arrive(FIRST, &plain);
    arrive(FIRST, &plain);
    end_victim();
    expect_received(FIRST, 1, &want[1]); /* the second ends first */
    arrive(OTHER, &plain);
    expect_received(OTHER, 1, want);
    arrive(OTHER, &plain);
    expect_received(OTHER, 2, want);
    arrive(FIRST, &plain);
    arrive(OTHER, &plain);
    expect_received(OTHER, 3, want);
    expect_nothing_open();
}

/* One is told of the end and the other one has to hear of it: after @ending, nothing is left. */
static void owe_and(sx_loop_fn ending)
{
    (void)group_make(false, false);
    arrive(FIRST, &plain);
    end_victim();
    cr_expect_eq(server.collective.owed.count, 1);
    cr_expect_eq(clients[FIRST]->pending_counts[SX_PENDING_ARRIVAL], 1, "who has called pays");
    bare_call(&server, ending, NULL);
    bare_much_later(&server);
    expect_nothing_open();
}

static void other_ends(void *arg, uint64_t now_ns)
{
    struct sx_client *const other = clients[OTHER];

    (void)arg, (void)now_ns;
    other->state = SX_CLIENT_FINALIZED;
    other->left = true;
    sx_group_client_gone(&server, other);
    sx_collective_client_gone(&server, other);
}

Test(group_leave, is_owed_to_nobody_who_ends_too)
{
    owe_and(other_ends);
}

static void other_leaves(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    cr_expect_eq(leave_at_once(clients[OTHER], "group"), PMIX_SUCCESS);
}

Test(group_leave, is_owed_to_nobody_who_leaves)
{
    owe_and(other_leaves);
}

static void group_ends(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    sx_group_end(&server, sx_memberships_find(&server, "group"));
}

Test(group_leave, is_owed_no_longer_than_there_is_the_group)
{
    owe_and(group_ends);
}

/* The host starts the rank again: another process, which is no member. */
Test(group_leave, is_for_good)
{
    const struct fence fence = { .ft = true };
    enum ending ending = DIES;

    (void)group_make(false, false);
    arrive(FIRST, &fence);
    bare_call(&server, victim_ends, &ending);
    clients[VICTIM]->state = SX_CLIENT_REGISTERED;
    sx_collective_client_added(&server, clients[VICTIM]);
    arrive(OTHER, &fence);
    cr_expect_eq(ended(FIRST), PMIX_SUCCESS, "it is not waited for");
}

/* What it has brought goes to the other nodes. */
Test(group_leave, of_who_has_called_takes_nothing_from_the_fence)
{
    const struct fence fence = { .ft = true };
    enum ending ending = DIES;

    (void)group_make(false, true);
    arrive(FIRST, &fence);
    arrive(VICTIM, &fence);
    bare_call(&server, victim_ends, &ending);
    cr_expect_eq(
        SX_LIST_ENTRY(server.collective.all.next, struct sx_collective, link)->members.count, 3);
    arrive(OTHER, &fence);
    cr_expect_eq(ended(FIRST), PMIX_SUCCESS);
}

#define MANY 64u

/* It does not have to be asked for: the processes find it in their ring. */
Test(group_leave, is_one_record_for_as_many_as_a_node_has)
{
    static const char name[] = "a.job.with.a.longer.name";
    struct sx_nspace *const many = bare_job(&server, name, MANY, MANY);
    pmix_proc_t procs[MANY - 1]; /* not the whole job, which a wildcard would name */
    struct sx_eventlog_cursor cursor;
    struct sx_membership_entry *group;
    const struct sx_group_options options = { .name = "group",
                                              .procs = procs,
                                              .proc_count = MANY - 1 };

    for (uint32_t rank = 0; rank < MANY - 1; rank++) {
        PMIx_Load_procid(&procs[rank], name, rank);
    }
    cr_assert_eq(sx_group_make(&server, &options, &group), PMIX_SUCCESS);
    clients[STRANGER] = bare_connect(&server, many, 0); /* who leaves, and who is here */
    (void)bare_connect(&server, many, 1);
    cr_expect_eq(leave(STRANGER, "group"), PMIX_SUCCESS);
    cr_expect_eq(many->events.newest, 1);
    sx_eventlog_seek(&cursor, &many->events, UINT64_MAX);
    const struct sx_event_entry *const entry = sx_eventlog_before(&cursor);

    cr_assert_not_null(entry);
    cr_expect_eq(sx_event_block_head(entry->block)->target_count, MANY - 2);
    cr_expect_leq(entry->block->size, SX_RING_RECORD_MAX - sizeof(struct sx_record_header));
}
