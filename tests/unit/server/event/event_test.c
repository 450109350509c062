/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_test.c - an event gets its number and its record in each namespace it concerns, and who is
 * to be told of a loss is. */
#include "server/event/event.h"

#include <unistd.h>

#include "../answers.h"
#include "../bare_events.h"
#include "../block_build.h"
#include "../opened.h"

#define CODE (-2000)

static struct sx_server server;
static struct sx_nspace *a, *b;
static struct sx_client *client;

/* Half of job "b" is on other nodes, and nobody carries events there. */
static void begin(void)
{
    bare_events_init(&server);
    a = bare_job(&server, "a", 1, 1);
    b = bare_job(&server, "b", 2, 1);
    client = bare_connect(&server, a, 0);
    (void)bare_connect(&server, b, 0);
    sx_server_set(&server);
}

static void end(void)
{
    sx_server_set(NULL);
    bare_events_deinit(&server);
}

TestSuite(event, .init = begin, .fini = end);

static const struct sx_notify_options everywhere = { .range = PMIX_RANGE_GLOBAL };

static struct sx_event event_of(pmix_data_range_t range)
{
    return (struct sx_event){ .code = CODE, .range = range };
}

/* The last record of the ring. */
static struct sx_event last(const struct sx_nspace *nspace)
{
    _Alignas(8) char record[SX_RING_RECORD_MAX];
    struct sx_ring_cursor cursor;
    struct sx_event event = { .number = 0 };
    uint64_t lost;

    sx_ring_seek_oldest(&cursor, &nspace->ring);
    while (sx_ring_next(&cursor, SX_CLASSES_OF_EVENTS, record, &lost) == PMIX_SUCCESS) {
        memcpy(&event, record + sizeof(struct sx_record_header), sizeof(event));
    }
    return event;
}

static pmix_status_t notify(const struct sx_event *event)
{
    return sx_event_on_notify(&server, client, opened(&sx_event_body, event, sizeof(*event)));
}

static uint64_t losses(void)
{
    return atomic_load(&server.board.slots[client->slot].events_lost);
}

Test(event, is_numbered_in_each_namespace_by_itself)
{
    const struct sx_event all = event_of(PMIX_RANGE_LOCAL), own = event_of(PMIX_RANGE_NAMESPACE);

    cr_assert_eq(notify(&own), PMIX_SUCCESS);
    cr_assert_eq(notify(&all), PMIX_SUCCESS);
    cr_expect_eq(last(a).number, 2);
    cr_expect_eq(last(b).number, 1);
    cr_expect_eq(last(b).code, CODE);
    cr_expect_eq(losses(), 0);
}

Test(event, wakes_once_for_many_and_only_whom_it_concerns)
{
    const struct sx_event own = event_of(PMIX_RANGE_NAMESPACE);
    struct sx_door *const door = &a->ring.header->doors[SX_CLASS_OF_CODE(CODE)];

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(notify(&own), PMIX_SUCCESS);
    }
    cr_expect_eq(sx_door_epoch(door), 0, "not yet");
    sx_event_wake(&server);
    cr_expect_eq(sx_door_epoch(door), 1);
    sx_event_wake(&server);
    cr_expect_eq(sx_door_epoch(door), 1);
    cr_expect_eq(sx_door_epoch(&b->ring.header->doors[SX_CLASS_OF_CODE(CODE)]), 0);
}

/* What its sender is told of an event: in the lane, where it counts losses, and by an answer. */
static const struct {
    const char *why;
    pmix_data_range_t range;
    pmix_status_t want;
    uint64_t lost;
} rows[] = {
    { "for this node", PMIX_RANGE_LOCAL, PMIX_SUCCESS, 0 },
    { "for nodes that it does not get to", PMIX_RANGE_GLOBAL, PMIX_SUCCESS, 1 },
    { "for nobody", PMIX_RANGE_CUSTOM, PMIX_SUCCESS, 1 },
    { "for its sender alone", PMIX_RANGE_PROC_LOCAL, PMIX_ERR_BAD_PARAM, 0 },
};

Test(event, that_does_not_reach_all_is_counted_for_its_sender)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_event event = event_of(rows[i].range);
        const uint64_t before = losses();

        cr_expect_eq(notify(&event), rows[i].want, "%s", rows[i].why);
        cr_expect_eq(losses() - before, rows[i].lost, "%s", rows[i].why);
    }
}

Test(event, too_large_for_the_ring_is_to_be_asked_for)
{
    static char bytes[2 * SX_RING_RECORD_MAX];
    const pmix_byte_object_t object = { .bytes = bytes, .size = sizeof(bytes) };
    const pmix_proc_t source = { .nspace = "a" };
    struct sx_event_block *block = NULL;
    pmix_info_t info;

    PMIx_Info_load(&info, "bytes", &object, PMIX_BYTE_OBJECT);
    cr_assert_eq(block_build(CODE, &source, PMIX_RANGE_NAMESPACE, &info, 1, &block), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    cr_assert_eq(sx_event_publish(&server, block, SX_EVENT_FROM_LIBRARY, NULL), PMIX_SUCCESS);
    sx_event_block_release(block);
    cr_expect_eq(last(a).flags & SX_EVENT_ASK, SX_EVENT_ASK);
    cr_expect_eq(a->events.newest, 1, "and it is kept");
}

/* ---- users ----------------------------------------------------------------------------------- */

#define USER 1001
#define VICTIM 1002

/* A rank of user USER (or another one) publishes: who of job "b", which is VICTIM's, gets it? */
static const struct {
    const char *why;
    uid_t publisher;
    bool joined;
    bool reaches;
} users[] = {
    { "of its user", VICTIM, false, true },
    { "of another user", USER, false, false },
    { "of another user, in a group with it", USER, true, true },
    { "of root", 0, false, true },
};

/* To job "b" alone, through a frame.  Return: the answer. */
static pmix_status_t aim(pmix_status_t code)
{
    struct {
        struct sx_event event;
        struct {
            uint32_t rank, name_len;
            char name[8];
        } target;
    } body = { { .code = code, .range = PMIX_RANGE_CUSTOM, .target_count = 1 },
               { PMIX_RANK_WILDCARD, 1, "b" } };
    struct sx_frame frame = opened_frame(SX_MSG_EVENT_BULK, 4, &body, sizeof(body));
    struct answers answers;

    answers_begin(&answers, &server, client);
    cr_expect(sx_event_on_bulk(&server, client, &frame, 0));
    const pmix_status_t status = answers_next(&answers, 4);
    answers_end(&answers, client);
    return status;
}

static void users_set(size_t row)
{
    const pmix_proc_t procs[] = { { "a", 0 }, { "b", 0 } };
    const struct sx_membership_options options = {
        .name = "both", .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = 2
    };
    struct sx_membership_entry *both = sx_memberships_find(&server, "both");

    if (both != NULL) {
        sx_memberships_remove(&server, both);
    }
    b->by_rank[0]->uid = VICTIM;
    client->uid = users[row].publisher;
    if (users[row].joined) {
        cr_assert_eq(sx_memberships_add(&server, &options, &both), PMIX_SUCCESS);
    }
}

Test(event, reaches_another_users_processes_from_root_and_those_that_joined_them_alone)
{
    const struct sx_event local = event_of(PMIX_RANGE_LOCAL);

    b->job_size = 1;
    for (size_t i = 0; i < SX_COUNT(users); i++) {
        const uint64_t lost = losses(), had = b->events.newest, own = a->events.newest;

        users_set(i);
        cr_expect_eq(aim(CODE), users[i].reaches ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS, "%s",
                     users[i].why);
        cr_assert_eq(notify(&local), PMIX_SUCCESS);
        cr_expect_eq(b->events.newest - had, users[i].reaches ? 2 : 0, "%s", users[i].why);
        cr_expect_eq(a->events.newest - own, 1, "%s", users[i].why);
        cr_expect_eq(losses(), lost, "%s: others than those that it names are no loss",
                     users[i].why);
    }
}

/* The user goes along with an event to other nodes. */
Test(event, of_another_node_reaches_whom_its_publisher_may_reach)
{
    const pmix_proc_t source = { "a", 0 };

    for (size_t i = 0; i < SX_COUNT(users); i++) {
        const uint64_t had = b->events.newest;
        struct sx_event_block *block = NULL;

        users_set(i);
        cr_assert_eq(block_build(CODE, &source, PMIX_RANGE_GLOBAL, NULL, 0, &block), PMIX_SUCCESS);
        block->has_user = true;
        block->user = users[i].publisher;
        cr_assert_eq(sx_event_publish(&server, block, SX_EVENT_FROM_HOST, NULL), PMIX_SUCCESS);
        sx_event_block_release(block);
        cr_expect_eq(b->events.newest - had, users[i].reaches ? 1 : 0, "%s", users[i].why);
    }
}

/* The lane has no answers: an event that is refused is counted there. */
Test(event, that_names_another_users_processes_is_a_loss)
{
    struct {
        struct sx_event event;
        struct {
            uint32_t rank, name_len;
            char name[8];
        } target;
    } body = { { .code = CODE, .range = PMIX_RANGE_CUSTOM, .target_count = 1 },
               { PMIX_RANK_WILDCARD, 1, "b" } };

    users_set(1);
    cr_assert_eq(sx_event_on_notify(&server, client, opened(&sx_event_body, &body, sizeof(body))),
                 PMIX_SUCCESS);
    cr_expect_eq(losses(), 1);
    cr_expect_eq(b->events.newest, 0);
}

/* No process of a new job has joined another user's, so it begins with what its own user's and
 * root's have published. */
Test(event, that_is_kept_is_for_new_jobs_of_its_user)
{
    static const uid_t publishers[] = { USER, VICTIM, VICTIM, 0 };
    static const struct {
        uid_t user;
        uint64_t want;
    } jobs[] = { { USER, 2 }, { VICTIM, 3 }, { 1003, 1 } };
    const struct sx_event local = event_of(PMIX_RANGE_LOCAL);

    for (size_t i = 0; i < SX_COUNT(publishers); i++) {
        client->uid = publishers[i];
        cr_assert_eq(notify(&local), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < SX_COUNT(jobs); i++) {
        struct sx_nspace *const job = sx_nspace_obtain(&server, "new");

        job->registered = true;
        job->uid = jobs[i].user;
        job->local_count = 1;
        cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
        cr_expect_eq(job->events.newest, jobs[i].want, "of user %u", (unsigned)jobs[i].user);
        sx_nspace_remove(&server, job);
    }
}

/* Programs end by what only a host or a server can know. */
static const struct {
    pmix_status_t code;
    bool is_hosts;
} host_codes[] = {
    { PMIX_ERR_JOB_ABORTED, true },
    { PMIX_ERR_JOB_APP_NOT_EXECUTABLE, true },
    { PMIX_ERR_JOB_WDIR_NOT_FOUND, true },
    { PMIX_ERR_LOST_CONNECTION, true },
    { PMIX_ERR_LOST_CONNECTION_TO_SERVER, true },
    { PMIX_EVENT_JOB_START, true },
    { PMIX_EVENT_JOB_END, true },
    { PMIX_EVENT_SESSION_END, true },
    { PMIX_EVENT_NODE_DOWN, true },
    { PMIX_EVENT_SYS_OTHER, true },
    { PMIX_PROCESS_SET_DEFINE, true },
    { PMIX_PROCESS_SET_DELETE, true },
    { PMIX_EVENT_PROC_TERMINATED, true },
    { PMIX_ERR_PROC_REQUESTED_ABORT, true },
    { PMIX_ERR_PROC_KILLED_BY_CMD, true },
    { PMIX_ERR_EXIT_NONZERO_TERM, true },
    { PMIX_ERR_PROC_ABORTED, false },
    { PMIX_ERR_PROC_ABORTED_BY_SIG, false },
    { PMIX_ERR_PROC_TERM_WO_SYNC, false },
    { PMIX_DEBUGGER_RELEASE, false },
    { PMIX_GROUP_CONSTRUCT_ABORT, false },
    { PMIX_MODEL_DECLARED, false },
    { PMIX_ERROR, false },
    { 7, false },
    { PMIX_EXTERNAL_ERR_BASE - 1, false },
};

Test(event, with_a_code_of_hosts_comes_from_no_rank_and_no_foreign_tool)
{
    b->job_size = 1;
    for (size_t i = 0; i < SX_COUNT(host_codes); i++) {
        const pmix_status_t code = host_codes[i].code;
        const uint64_t had = b->events.newest;

        users_set(0);
        client->is_tool = false;
        cr_expect_eq(aim(code), host_codes[i].is_hosts ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS,
                     "%d", code);
        client->is_tool = true;
        cr_expect_eq(aim(code), host_codes[i].is_hosts ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS,
                     "%d: a foreign tool", code);
        cr_expect_eq(b->events.newest - had, host_codes[i].is_hosts ? 0 : 2, "%d", code);
        client->uid = geteuid();
        b->by_rank[0]->uid = geteuid();
        cr_expect_eq(aim(code), PMIX_SUCCESS, "%d: a tool of the server's user", code);
    }
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* A client whose home is job "a". */
static struct sx_client *tool_make(void)
{
    struct sx_client *const tool = sx_client_add(sx_nspace_obtain(&server, "tools"), 0);

    cr_assert_not_null(tool);
    tool->home = a;
    return tool;
}

Test(event, of_a_tool_has_its_number_in_its_home)
{
    const struct {
        pmix_data_range_t range;
        pmix_status_t status;
        uint64_t number;
    } rows[] = {
        { PMIX_RANGE_LOCAL, PMIX_SUCCESS, 1 },
        { PMIX_RANGE_NAMESPACE, PMIX_SUCCESS, 0 }, /* its own, which is nobody else's */
        { PMIX_RANGE_GLOBAL, PMIX_ERR_PARTIAL_SUCCESS, 2 },
    };
    struct sx_client *const tool = tool_make();
    struct answers answers;

    answers_begin(&answers, &server, tool);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_event event = event_of(rows[i].range);
        struct sx_frame frame = opened_frame(SX_MSG_EVENT_BULK, 4, &event, sizeof(event));
        struct sx_event_number answer;

        cr_expect(sx_event_on_bulk(&server, tool, &frame, 0));
        cr_expect_eq(answers_next(&answers, 4), rows[i].status);
        cr_assert_eq(answers.frame.body_size, sizeof(answer));
        memcpy(&answer, answers.frame.body, sizeof(answer));
        cr_expect_eq(answer.number, rows[i].number, "range %u", rows[i].range);
    }
    cr_expect_eq(last(a).number, 2);
    cr_expect_eq(last(a).source_rank, 0);
    answers_end(&answers, tool);
}

Test(event, is_not_kept_for_who_reads_another_ring)
{
    const struct sx_event own = event_of(PMIX_RANGE_NAMESPACE);
    struct sx_client *const tool = tool_make();
    struct sx_nspace *const tools = tool->nspace;

    cr_assert_not_null(sx_client_add(tools, 1));
    struct sx_client *const reader = bare_connect(&server, tools, 1);

    cr_assert_eq(sx_event_on_notify(&server, reader, opened(&sx_event_body, &own, sizeof(own))),
                 PMIX_SUCCESS);
    cr_expect_eq(tools->events.held_count, 1);
    sx_event_client_read(&server, reader, tools->event_seq_last);
    cr_expect_eq(tools->events.held_count, 0, "its only reader has had it");
}

#define SWEPT_AT_ONCE 1512u /* events that nobody needs any more: in the check, and in a step */

/* A burst may be longer than the ring and the cache.  Who has a handler gets it whole all the same,
 * and is woken now and then although it does not sleep for such codes. */
Test(event, is_kept_until_who_has_a_handler_has_read_it)
{
    const struct sx_event all = event_of(PMIX_RANGE_LOCAL);
    const size_t many = 10000;

    client->has_handlers = true;
    for (size_t i = 0; i < many; i++) {
        cr_assert_eq(notify(&all), PMIX_SUCCESS);
    }
    cr_expect_eq(a->events.loose_count, many);
    cr_expect_geq(b->events.loose_count, SX_EVENTLOG_CACHE_DEFAULT);
    cr_expect_lt(b->events.loose_count, 2 * SX_EVENTLOG_CACHE_DEFAULT, "it has no handler there");
    sx_event_wake(&server);
    cr_expect_eq(sx_door_epoch(&a->ring.header->doors[SX_CLASS_OF_CODE(CODE + 1)]), 1);
    cr_expect_eq(sx_door_epoch(&b->ring.header->doors[SX_CLASS_OF_CODE(CODE + 1)]), 0);
    sx_event_client_read(&server, client, a->event_seq_last);
    cr_expect_geq(a->events.loose_count, many - SWEPT_AT_ONCE, "too many for one turn");
    cr_assert_eq(notify(&all), PMIX_SUCCESS);
    cr_expect_geq(a->events.loose_count, many - SWEPT_AT_ONCE - 8, "the next one takes few along");
    bare_call(&server, NULL, NULL);
    while (!sx_list_empty(&server.event.sweeps)) {
        const size_t before = a->events.loose_count;

        bare_call(&server, NULL, NULL);
        cr_expect_leq(before - a->events.loose_count, SWEPT_AT_ONCE);
    }
    cr_expect_eq(a->events.loose_count, SX_EVENTLOG_CACHE_DEFAULT);
}

Test(event, is_not_kept_for_who_has_gone)
{
    const struct sx_event all = event_of(PMIX_RANGE_LOCAL);

    client->has_handlers = true;
    for (size_t i = 0; i < 2 * SX_EVENTLOG_CACHE_DEFAULT; i++) {
        cr_assert_eq(notify(&all), PMIX_SUCCESS);
    }
    sx_event_client_left(&server, client);
    cr_expect_eq(a->events.loose_count, SX_EVENTLOG_CACHE_DEFAULT);
}

/* All clients of a namespace that ends leave: its events are not looked through for each. */
Test(event, goes_with_its_namespace_at_once)
{
    const struct sx_event all = event_of(PMIX_RANGE_LOCAL);

    client->has_handlers = true;
    for (size_t i = 0; i < 2 * SX_EVENTLOG_CACHE_DEFAULT; i++) {
        cr_assert_eq(notify(&all), PMIX_SUCCESS);
    }
    a->is_ending = true;
    sx_event_client_left(&server, client);
    cr_expect_eq(a->events.loose_count, 2 * SX_EVENTLOG_CACHE_DEFAULT);
    sx_event_nspace_gone(&server, a);
    cr_expect_eq(a->events.loose_count, 0);
}

/* ---- the host ------------------------------------------------------------------------------- */

static pmix_status_t notified;

static void notify_now(void *source, uint64_t now_ns)
{
    (void)now_ns;
    notified = sx_event_notify(CODE, source, &everywhere, NULL, 0);
}

Test(event, of_the_host_is_published_in_its_name)
{
    bare_call(&server, notify_now, NULL);
    cr_expect_eq(notified, PMIX_SUCCESS);
    cr_expect_eq(last(a).number, 1);
    cr_expect_eq(last(a).source_rank, PMIX_RANK_UNDEF);
    cr_expect_eq(last(a).source_len, 0);
    sx_server_set(NULL);
    cr_expect_eq(sx_event_notify(CODE, NULL, &everywhere, NULL, 0), PMIX_ERR_INIT);
}

Test(event, without_a_job_is_in_those_that_come_later)
{
    const struct sx_event local = event_of(PMIX_RANGE_LOCAL);
    const struct sx_event own = event_of(PMIX_RANGE_NAMESPACE);

    cr_assert_eq(notify(&local), PMIX_SUCCESS);
    cr_assert_eq(notify(&own), PMIX_SUCCESS);
    struct sx_nspace *const late = bare_job(&server, "late", 1, 1);

    (void)bare_connect(&server, late, 0);
    cr_expect_eq(late->events.newest, 1);
    cr_expect_eq(last(late).code, CODE);
}

/* ---- for jobs to come
 * ------------------------------------------------------------------------- */

static void host_publishes(void *options, uint64_t now_ns)
{
    const pmix_proc_t source = { "a", 0 };

    (void)now_ns;
    cr_assert_eq(sx_event_notify(CODE, &source, options, NULL, 0), PMIX_SUCCESS);
}

static void publish(bool by_client, const pmix_proc_t *target)
{
    const pmix_proc_t source = { "a", 0 };
    struct sx_notify_options options = { .range = PMIX_RANGE_CUSTOM, .targets = { target, 1 } };
    _Alignas(8) char bytes[1024];
    struct sx_event event;
    struct sx_draft draft;
    size_t size;

    if (!by_client) {
        bare_call(&server, host_publishes, &options);
        return;
    }
    sx_event_draft(&draft, &event, CODE, &source, &options, NULL, 0);
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(bytes));
    cr_assert_eq(sx_body_write(&draft, bytes), PMIX_SUCCESS);
    cr_assert_eq(sx_event_on_notify(&server, client, opened(&sx_event_body, bytes, size)),
                 PMIX_SUCCESS);
}

/* For job "b", and for two that nobody knows. */
static void publish_for_late(bool cached)
{
    pmix_proc_t targets[] = { { "b", PMIX_RANK_WILDCARD }, { "late", 0 }, { "later", 0 } };
    const pmix_proc_t source = { "a", 0 };
    const struct sx_notify_options options = { .range = PMIX_RANGE_CUSTOM,
                                               .do_not_cache = !cached,
                                               .targets = { targets, SX_COUNT(targets) } };
    struct sx_event_block *block = NULL;

    cr_assert_eq(sx_event_block_build(CODE, &source, &options, NULL, 0, &block), PMIX_SUCCESS);
    cr_assert_eq(sx_event_publish(&server, block, SX_EVENT_FROM_LIBRARY, NULL), PMIX_SUCCESS);
    sx_event_block_release(block);
}

static struct sx_nspace *job_comes(const char *name)
{
    struct sx_nspace *const nspace = bare_job(&server, name, 1, 1);

    (void)bare_connect(&server, nspace, 0);
    return nspace;
}

Test(event, EV66_for_a_job_that_nobody_knows_yet_waits_for_it)
{
    publish_for_late(false);
    publish_for_late(true);
    cr_expect_eq(last(b).number, 2);
    cr_expect_eq(server.event.history.cache_count, 1, "the one that may be kept");
    cr_expect_eq(job_comes("other")->events.newest, 0, "it is not for this one");
    const struct sx_nspace *const late = job_comes("late");

    cr_expect_eq(late->events.newest, 1);
    cr_expect_eq(late->events.held_count, 1, "until its ranks have had it");
    cr_expect_eq(last(late).code, CODE);
    cr_expect_eq(server.event.history.cache_count, 1, "there is one more to come");
    cr_expect_eq(job_comes("later")->events.newest, 1);
    cr_expect_eq(server.event.history.cache_count, 0);
}

Test(event, EV71_that_a_job_has_had_is_not_for_the_next_of_its_name)
{
    const pmix_proc_t only = { "late", PMIX_RANK_WILDCARD };

    publish(true, &only);
    cr_expect_eq(server.event.history.cache_count, 1);
    struct sx_nspace *const late = job_comes("late");

    cr_expect_eq(late->events.newest, 1);
    sx_lane_destroy(&late->by_rank[0]->lane);
    sx_nspace_remove(&server, late);
    cr_expect_eq(job_comes("late")->events.newest, 0);
}

/* ---- for connected processes
 * ------------------------------------------------------------------ */

static const bool ways[] = { true, false }; /* a client's, the host's */

Test(event, for_connected_processes_gets_to_their_own_namespaces)
{
    const pmix_proc_t procs[] = { { "b", 0 }, { "a", 0 } };
    const pmix_proc_t all = { "both", PMIX_RANK_WILDCARD }, first = { "both", 0 };
    struct sx_membership_entry *const both = bare_connected(&server, "both", procs, 2);

    for (size_t i = 0; i < SX_COUNT(ways); i++) {
        const uint64_t before = last(a).number;

        publish(ways[i], &all);
        cr_expect_eq(last(a).number, before + 1);
        cr_expect_eq(last(b).number, before + 1 + i);
        cr_expect_eq(last(b).target_count, 2);
        publish(ways[i], &first);
        cr_expect_eq(last(a).number, before + 1, "it is not for this one");
        cr_expect_eq(last(b).number, before + 2 + i);
        cr_expect_eq(last(b).target_count, 1);
    }
    const uint64_t before = last(b).number;

    sx_memberships_remove(&server, both);
    publish(true, &all);
    cr_expect_eq(last(b).number, before, "the name is nobody's any more");
}
