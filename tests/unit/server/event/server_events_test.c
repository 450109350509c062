/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* server_events_test.c - what the server itself says: of whom, to whom, and to no handler that did
 * not ask for it. */
#include "server/event/event.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bare_events.h"

static struct sx_server server;
static struct sx_nspace *job, *other;
static struct sx_client *client;

static void begin(void)
{
    bare_events_init(&server);
    job = bare_job(&server, "job", 3, 3);
    other = bare_job(&server, "other", 1, 1);
    client = bare_connect(&server, job, 2);
    (void)bare_connect(&server, other, 0);
}

static void end(void)
{
    bare_events_deinit(&server);
}

TestSuite(event_made, .init = begin, .fini = end);

/* The newest event of @nspace, NULL when there is none. */
static struct sx_event_block *newest(const struct sx_nspace *nspace)
{
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;

    sx_eventlog_seek(&cursor, &nspace->events, UINT64_MAX);
    entry = sx_eventlog_before(&cursor);
    return entry == NULL ? NULL : entry->block;
}

/* @count processes of "job" from rank @first on, PMIX_RANK_WILDCARD or another. */
static void expect(pmix_status_t code, pmix_rank_t first, size_t count)
{
    struct sx_event_block *const block = newest(job);
    pmix_proc_t source, *affected = NULL;
    size_t affected_count = 0;

    cr_assert_not_null(block);
    sx_event_block_source(block, &source);
    cr_expect_eq(sx_event_block_head(block)->code, code);
    cr_expect_eq(sx_event_block_head(block)->flags & SX_EVENT_NON_DEFAULT, SX_EVENT_NON_DEFAULT);
    cr_expect_str_eq(source.nspace, "job");
    cr_expect_eq(source.rank, 2);
    cr_assert_eq(sx_event_block_procs(block, SX_EVENT_AFFECTED, &affected, &affected_count),
                 PMIX_SUCCESS);
    cr_assert_eq(affected_count, count);
    cr_expect_eq(affected[0].rank, first);
    cr_expect_str_eq(affected[0].nspace, "job");
    free(affected);
    cr_expect_null(newest(other), "it is of no concern to others");
}

static void lose(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    sx_event_client_lost(&server, client);
}

Test(event_made, notifies_of_a_process_that_is_lost)
{
    bare_call(&server, lose, NULL);
    expect(PMIX_ERR_LOST_CONNECTION, 2, 1);
}

/* Whom a process wants to be ended: none, one and two; and whom the event names. */
static const struct {
    size_t count, affected;
    pmix_rank_t first;
} aborts[] = { { 0, 1, PMIX_RANK_WILDCARD }, { 1, 1, 0 }, { 2, 2, 0 } };

static unsigned parts_published;

static void aborts_publish(const pmix_proc_t procs[], size_t count)
{
    struct sx_event_end end;

    parts_published = 0;
    sx_event_abort_begin(&end, client, procs, count);
    do {
        parts_published++;
    } while (sx_event_abort_publish(&server, &end));
}

static void abort_now(void *row, uint64_t now_ns)
{
    static const pmix_proc_t procs[] = { { .nspace = "job", .rank = 0 },
                                         { .nspace = "job", .rank = 1 } };

    (void)now_ns;
    aborts_publish(procs, aborts[*(size_t *)row].count);
}

Test(event_made, notifies_of_an_abort_and_whom_it_ends)
{
    for (size_t i = 0; i < SX_COUNT(aborts); i++) {
        bare_call(&server, abort_now, &i);
        expect(PMIX_ERR_PROC_REQUESTED_ABORT, aborts[i].first, aborts[i].affected);
    }
}

/* The bits of the processes of "job" that events with @code have named in list @part: each once. */
static unsigned named_count(pmix_status_t code, unsigned part, unsigned char named[], size_t room)
{
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;
    unsigned count = 0;

    memset(named, 0, room);
    sx_eventlog_seek(&cursor, &job->events, UINT64_MAX);
    while ((entry = sx_eventlog_before(&cursor)) != NULL) {
        pmix_proc_t *procs = NULL;
        size_t procs_count = 0;

        if (sx_event_block_head(entry->block)->code != code) {
            continue;
        }
        cr_assert_eq(sx_event_block_procs(entry->block, part, &procs, &procs_count), PMIX_SUCCESS);
        for (size_t i = 0; i < procs_count; i++) {
            cr_assert_lt(procs[i].rank, room);
            cr_expect_eq(named[procs[i].rank], 0, "%u is named twice", procs[i].rank);
            named[procs[i].rank] = 1;
            count++;
        }
        free(procs);
    }
    return count;
}

static pmix_proc_t *many_new(size_t count)
{
    pmix_proc_t *const procs = calloc(count, sizeof(*procs));

    cr_assert_not_null(procs);
    for (uint32_t i = 0; i < count; i++) {
        procs[i] = sx_nspace_proc(job, i);
    }
    return procs;
}

static void abort_many(void *count, uint64_t now_ns)
{
    pmix_proc_t *const procs = many_new(*(size_t *)count);

    (void)now_ns;
    aborts_publish(procs, *(size_t *)count);
    free(procs);
}

/* A group's name stands for more than a call may name one by one. */
#define MANY_MAX ((size_t)SX_PROCS_MAX + 1000)
static unsigned char named[MANY_MAX];

Test(event_made, of_an_abort_names_all_processes_if_need_be_in_several)
{
    static const struct {
        size_t count;
        unsigned parts;
    } rows[] = { { 15000, 1 }, { SX_PROCS_MAX, 4 }, { MANY_MAX, 5 } };
    size_t all = 0;

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        size_t count = rows[i].count;

        bare_events_deinit(&server);
        begin();
        bare_call(&server, abort_many, &count);
        cr_expect_eq(parts_published, rows[i].parts, "%zu: %u", count, parts_published);
        all = named_count(PMIX_ERR_PROC_REQUESTED_ABORT, SX_EVENT_AFFECTED, named, MANY_MAX);
        cr_expect_eq(all, count, "%zu of %zu", all, count);
    }
}

enum many { TO_MANY, OF_MANY_LAST, OF_MANY_FIRST };

static void notify_many(void *what, uint64_t now_ns)
{
    const enum many many = *(enum many *)what;
    pmix_proc_t *const procs = many_new(MANY_MAX);
    const struct sx_event_note name = { .key = PMIX_GROUP_ID, .text = "group" };
    const struct sx_event_note members = { .key = PMIX_GROUP_MEMBERSHIP,
                                           .procs = procs,
                                           .count = many == TO_MANY ? 1 : MANY_MAX };
    const struct sx_event_note notes[] = { many == OF_MANY_FIRST ? members : name,
                                           many == OF_MANY_FIRST ? name : members };

    (void)now_ns;
    sx_event_to(&server, PMIX_GROUP_LEFT, client, procs, many == TO_MANY ? MANY_MAX : 2, notes, 2);
    free(procs);
}

Test(event_made, to_many_receivers_is_several_and_each_gets_one)
{
    enum many many = TO_MANY;

    bare_call(&server, notify_many, &many);
    cr_expect_eq(named_count(PMIX_GROUP_LEFT, SX_EVENT_TARGETS, named, MANY_MAX), MANY_MAX);
}

/* Read into @line what notify_many logs. */
static void notify_many_line(enum many many, char *line, size_t size)
{
    const int kept = dup(STDERR_FILENO);
    int ends[2];

    cr_assert(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    bare_call(&server, notify_many, &many);
    cr_assert(dup2(kept, STDERR_FILENO) >= 0);
    close(ends[1]);
    cr_assert_gt(read(ends[0], line, size), 0);
    close(ends[0]);
    close(kept);
}

Test(event_made, says_that_an_event_is_too_large)
{
    char line[512] = "";

    notify_many_line(OF_MANY_FIRST, line, sizeof(line) - 1);
    cr_expect_not_null(strstr(line, "of job.2 reaches nobody: it would take more than 4 MiB"), "%s",
                       line);
    cr_expect_null(newest(job));
}

/* All receive the event, and those who want the members ask for them by the group's name. */
Test(event_made, of_a_group_with_too_many_members_goes_without_them)
{
    char line[512] = "";
    pmix_info_t *info = NULL;
    size_t ninfo = 0;

    notify_many_line(OF_MANY_LAST, line, sizeof(line) - 1);
    cr_expect_not_null(strstr(line,
                              "of job.2 goes without " PMIX_GROUP_MEMBERSHIP ", with which it "
                              "would take more than 4 MiB"),
                       "%s", line);
    struct sx_event_block *const block = newest(job);

    cr_assert_not_null(block);
    cr_assert_eq(sx_event_block_infos(block, &info, &ninfo), PMIX_SUCCESS);
    for (size_t i = 0; i < ninfo; i++) {
        cr_expect_not(PMIx_Check_key(info[i].key, PMIX_GROUP_MEMBERSHIP));
    }
    cr_expect_gt(ninfo, 0);
    PMIx_Info_free(info, ninfo);
}

static void pset(void *defined, uint64_t now_ns)
{
    const pmix_proc_t member = { .nspace = "job", .rank = 1 };

    (void)now_ns;
    sx_event_pset(&server, *(bool *)defined, "set", NULL, &member, 1);
}

static void pset_of_many(void *count, uint64_t now_ns)
{
    const size_t members_count = *(size_t *)count;
    pmix_proc_t *const members = calloc(members_count, sizeof(*members));

    (void)now_ns;
    cr_assert_not_null(members);
    for (size_t i = 0; i < members_count; i++) {
        members[i] = sx_nspace_proc(job, (uint32_t)i);
    }
    sx_event_pset(&server, true, "set", NULL, members, members_count);
    free(members);
}

/* All receive the event, and those who want the members ask for them by the set's name. */
Test(event_made, of_a_set_with_too_many_members_has_its_name_alone)
{
    const struct {
        size_t members, ninfo;
    } rows[] = { { 10000, 3 }, { 1u << 20, 2 } };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        size_t members = rows[i].members, ninfo = 0;
        pmix_info_t *info = NULL;

        bare_call(&server, pset_of_many, &members);
        struct sx_event_block *const block = newest(job);

        cr_assert_not_null(block, "%zu", members);
        cr_assert_eq(sx_event_block_infos(block, &info, &ninfo), PMIX_SUCCESS);
        cr_assert_eq(ninfo, rows[i].ninfo, "%zu", members);
        cr_expect(PMIx_Check_key(info[0].key, PMIX_PSET_NAME));
        cr_expect_str_eq(info[0].value.data.string, "set");
        cr_expect(PMIx_Check_key(info[ninfo - 1].key, PMIX_EVENT_NON_DEFAULT));
        PMIx_Info_free(info, ninfo);
    }
}

Test(event_made, notifies_all_of_process_sets_in_the_managers_name)
{
    for (int i = 0; i < 2; i++) {
        bool defined = i == 0;
        pmix_info_t *info = NULL;
        size_t ninfo = 0;
        pmix_proc_t source;

        bare_call(&server, pset, &defined);
        cr_expect_eq(newest(job), newest(other));
        struct sx_event_block *const block = newest(job);

        cr_assert_not_null(block);
        cr_expect_eq(sx_event_block_head(block)->code,
                     defined ? PMIX_PROCESS_SET_DEFINE : PMIX_PROCESS_SET_DELETE);
        sx_event_block_source(block, &source);
        cr_expect_str_eq(source.nspace, "");
        cr_assert_eq(sx_event_block_infos(block, &info, &ninfo), PMIX_SUCCESS);
        cr_assert_eq(ninfo, 3);
        cr_expect_str_eq(info[0].value.data.string, "set");
        cr_expect_eq(info[1].value.data.darray->size, 1);
        PMIx_Info_free(info, ninfo);
    }
}
