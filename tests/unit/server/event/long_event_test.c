/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* long_event_test.c - an event that names many processes, some by a group, takes several turns. */
#include <stdio.h>

#include "../answers.h"
#include "../bare_events.h"
#include "../opened.h"
#include "server/event/event.h"
#include "server/model/membership.h"

#define CODE (-2000)
enum { MANY = 5000 };

static struct sx_server server;
static struct sx_nspace *job, *other;
static struct sx_client *client;
static struct answers answers;
static pmix_proc_t procs[MANY];

/* "both" are the processes of two jobs.  Each job is here as a whole. */
static void begin(void)
{
    const pmix_proc_t both[] = { { "job", 0 }, { "other", 0 } };

    bare_events_init(&server);
    job = bare_job(&server, "job", 1, 1);
    other = bare_job(&server, "other", 1, 1);
    client = bare_connect(&server, job, 0);
    (void)bare_connect(&server, other, 0);
    bare_connected(&server, "both", both, 2);
    answers_begin(&answers, &server, client);
    for (uint32_t i = 0; i < MANY; i++) {
        PMIx_Load_procid(&procs[i], "job", i % 2);
    }
}

static void end(void)
{
    answers_end(&answers, client);
    bare_events_deinit(&server);
}

TestSuite(long_event, .init = begin, .fini = end);

/* For and about @count of the processes, with these infos. */
static void send_with(uint32_t count, pmix_info_t info[], size_t ninfo)
{
    const pmix_proc_t source = { "job", 0 };
    const struct sx_notify_options options = { .range = PMIX_RANGE_CUSTOM,
                                               .targets = { procs, count },
                                               .affected = { procs, count } };
    struct sx_event event;
    struct sx_draft draft;
    size_t size;

    sx_event_draft(&draft, &event, CODE, &source, &options, info, ninfo);
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    void *const bytes = calloc(1, size);

    cr_assert_eq(sx_body_write(&draft, bytes), PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_EVENT_BULK, 4, bytes, size);

    cr_expect(sx_event_on_bulk(&server, client, &frame, 0));
    free(bytes);
}

static void send_of(uint32_t count)
{
    send_with(count, NULL, 0);
}

/* Each step but the last costs at least @units. */
static unsigned steps_take(uint32_t units)
{
    unsigned steps = 0;

    for (; !sx_list_empty(&client->share.works); steps++) {
        const uint32_t spent = client->share.spent;

        cr_expect_eq(other->events.newest, 0, "%u", steps);
        cr_expect(answers_none(&answers));
        sx_share_work_step(client);
        cr_expect(sx_list_empty(&client->share.works) || client->share.spent - spent >= units, "%u",
                  steps);
    }
    client->share.units = 1;
    if (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
    }
    return steps;
}

/* Each list is read in one turn, and its names are found in the next; the event is written anew, and
 * then published. */
Test(long_event, with_the_name_of_a_group_is_published_in_the_sixth_turn)
{
    procs[MANY / 2] = (pmix_proc_t){ "both", 1 };
    send_of(MANY);
    cr_expect_eq(steps_take(MANY / 4), 6);
    cr_expect_eq(answers_next(&answers, 4), PMIX_SUCCESS);
    cr_expect_eq(job->events.newest, 1);
    cr_expect_eq(other->events.newest, 1, "by the name of the group alone");
}

static pmix_proc_t procs_all(const char *nspace)
{
    pmix_proc_t all;

    PMIx_Load_procid(&all, nspace, PMIX_RANK_WILDCARD);
    return all;
}

/* Make the group @name of @count processes of the job, of which two are here. */
static void large_make(const char *name, uint32_t count)
{
    pmix_proc_t *const members = calloc(count, sizeof(*members));
    const struct sx_membership_options options = {
        .name = name, .kind = SX_MEMBERSHIP_GROUP, .procs = members, .proc_count = count
    };
    struct sx_membership_entry *entry;

    for (uint32_t i = 0; i < count; i++) {
        PMIx_Load_procid(&members[i], "job", i);
    }
    cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    procs[0] = procs_all(name);
    free(members);
}

/* As many members are written in one turn: they get no names. */
Test(long_event, with_the_name_of_a_large_group_is_published_in_as_many_turns)
{
    large_make("large", SX_PROCS_MAX);
    send_of(1);
    cr_expect_eq(steps_take(0), 6, "of the targets, and of the affected ones");
    cr_expect_eq(answers_next(&answers, 4), PMIX_SUCCESS);
    cr_assert_eq(job->events.newest, 1);
    cr_expect_geq(client->share.spent, 2 * SX_PROCS_MAX / 64, "it has paid");
}

Test(long_event, for_more_than_a_message_can_name_goes_no_further_than_their_number)
{
    large_make("larger", SX_PROCS_MAX + 1);
    send_of(1);
    cr_expect_eq(steps_take(0), 2, "the targets are read and counted");
    cr_expect_eq(answers_next(&answers, 4), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(job->events.newest, 0);
}

/* The processes of a group of @count, each of a job of its own; to be cleared. */
static void spread_make(const char *name, uint32_t count, struct sx_alias_list *ret)
{
    pmix_proc_t *const members = calloc(count, sizeof(*members)), all = procs_all(name);

    for (uint32_t i = 0; i < count; i++) {
        char nspace[16];

        snprintf(nspace, sizeof(nspace), "far.%u", i);
        PMIx_Load_procid(&members[i], nspace, 0);
    }
    bare_connected(&server, name, members, count);
    cr_assert_eq(sx_alias_list(&server, NULL, 0, &all, 1, ret), PMIX_SUCCESS);
    cr_expect_eq(ret->count, count);
    free(members);
}

/* Neither the targets nor the affected processes are more than one message can name. */
Test(long_event, of_more_names_than_a_message_may_have_is_not_written)
{
    const struct sx_notify_options options = { .range = PMIX_RANGE_CUSTOM,
                                               .targets = { procs, 1 } };
    const struct sx_alias_list one = { .all = procs, .count = 1 }, none = { .count = 0 };
    struct sx_event_block *block, *named;
    struct sx_alias_list fits, exceeds;

    spread_make("fits", SX_PROCS_RUNS_MAX, &fits);
    spread_make("exceeds", SX_PROCS_RUNS_MAX + 1, &exceeds);
    cr_assert_eq(sx_event_block_build(CODE, &procs[0], &options, NULL, 0, &block), PMIX_SUCCESS);
    cr_expect_eq(sx_event_block_rename(block, &procs[0], &exceeds, &one, &named),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_event_block_rename(block, &procs[0], &one, &exceeds, &named),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_event_block_rename(block, &procs[0], &none, &one, &named), PMIX_ERR_BAD_PARAM,
                 "it would be for all");
    cr_assert_eq(sx_event_block_rename(block, &procs[0], &fits, &fits, &named), PMIX_SUCCESS);
    sx_event_block_release(named);
    sx_event_block_release(block);
    sx_alias_list_clear(&fits);
    sx_alias_list_clear(&exceeds);
}

Test(long_event, of_many_bytes_is_published_in_the_turn_after_its_copy)
{
    static char bytes[2 << 20];
    pmix_info_t info = { .key = "large",
                         .value = { .type = PMIX_BYTE_OBJECT,
                                    .data.bo = { .bytes = bytes, .size = sizeof(bytes) } } };

    send_with(1, &info, 1);
    cr_expect_eq(job->events.newest, 0);
    cr_expect_eq(steps_take(0), 1);
    cr_expect_eq(answers_next(&answers, 4), PMIX_SUCCESS);
    cr_expect_eq(job->events.newest, 1);
}

Test(long_event, without_such_a_name_is_published_at_once)
{
    send_of(MANY);
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(answers_next(&answers, 4), PMIX_SUCCESS);
    cr_expect_eq(job->events.newest, 1);
    cr_expect_eq(other->events.newest, 0);
}

Test(long_event, of_few_processes_is_not_long)
{
    procs[1] = (pmix_proc_t){ "both", 1 };
    send_of(2);
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(answers_next(&answers, 4), PMIX_SUCCESS);
    cr_expect_eq(other->events.newest, 1);
}

/* What is left of it goes with its client. */
Test(long_event, ends_with_its_client)
{
    procs[MANY / 2] = (pmix_proc_t){ "both", 1 };
    send_of(MANY);
    sx_share_work_step(client);
    sx_pending_client_gone(&server, client);
    cr_expect(sx_list_empty(&client->share.works));
    cr_expect_eq(client->pending_counts[SX_PENDING_HOST], 0);
    cr_expect_eq(job->events.newest, 0);
}
