/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_control_test.c - whose processes a client may control, and what its host is asked for. */
#include "server/manage/manage.h"

#include <stdio.h>
#include <stdlib.h>

#include <pmix.h>

#include "../answers.h"
#include "../bare_events.h"
#include "../opened.h"
#include "../proc_list.h"
#include "base/value/flat.h"
#include "server/cleanup/cleanup.h"
#include "server/cleanup/cleanup_queue.h"
#include "server/job/job.h"
#include "support/allocations.h"

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_client *client;
static struct answers answers;
static struct proc_list body;
static unsigned asked;
static char received[512];

/* It refuses, so that the answer comes at once. */
static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t info[], size_t ninfo,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    size_t used = (size_t)snprintf(received, sizeof(received), "%.20s.%u:", proc->nspace,
                                   proc->rank);

    (void)cbfunc, (void)cbdata;
    for (size_t i = 0; i < ntargets && i < 4; i++) {
        used += (size_t)snprintf(received + used, sizeof(received) - used, " %.20s.%d",
                                 targets[i].nspace, (int)targets[i].rank);
    }
    for (size_t i = 0; i < ninfo; i++) {
        used += (size_t)snprintf(received + used, sizeof(received) - used, " %.30s", info[i].key);
    }
    asked++;
    return PMIX_ERR_NOT_AVAILABLE;
}

static void begin(void)
{
    bare_events_init(&server);
    sx_cleanup_queues_init(&server.brooms);
    sx_psets_init(&server);
    job = bare_job(&server, "job", 1, 1);
    client = bare_connect(&server, job, 0);
    client->uid = 1000;
    answers_begin(&answers, &server, client);
    server.module.job_control = on_control;
}

static void end(void)
{
    while (!sx_list_empty(&client->cleanups)) {
        sx_cleanup_queue_path_free(
            SX_LIST_ENTRY(client->cleanups.next, struct sx_cleanup_queue_path, link));
    }
    answers_end(&answers, client);
    bare_events_deinit(&server);
}

TestSuite(control, .init = begin, .fini = end);

static void begin_asking(const char *nspace, pmix_rank_t rank, const pmix_info_t info[],
                         size_t ninfo)
{
    struct sx_job_control *const head = (void *)body.bytes;
    size_t size = 0;

    body = (struct proc_list){ .size = sizeof(*head) };
    proc_list_add(&body, rank, nspace);
    cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
    cr_assert_eq(sx_flat_infos_encode(info, ninfo, body.bytes + body.size, size), PMIX_SUCCESS);
    *head = (struct sx_job_control){ .proc_count = 1, .info_size = size };
    struct sx_frame frame = opened_frame(SX_MSG_JOB_CONTROL, 5, body.bytes, body.size + size);

    asked = 0;
    cr_assert(sx_control_on_job_control(&server, client, &frame, 0));
}

static pmix_status_t ask(const char *nspace, pmix_rank_t rank, const pmix_info_t info[],
                         size_t ninfo)
{
    begin_asking(nspace, rank, info, ninfo);
    bare_call(&server, NULL, NULL);
    return answers_next(&answers, 5);
}

static pmix_info_t yes(const char *key)
{
    pmix_info_t info = { .value = { .type = PMIX_BOOL, .data.flag = true } };

    memcpy(info.key, key, strlen(key));
    return info;
}

static pmix_info_t text(const char *key, const char *value)
{
    pmix_info_t info = { .value = { .type = PMIX_STRING } };

    memcpy(info.key, key, strlen(key));
    info.value.data.string = (char *)(uintptr_t)value;
    return info;
}

Test(control, of_a_strangers_processes_is_refused)
{
    const pmix_info_t kill = yes(PMIX_JOB_CTRL_KILL);
    struct sx_nspace *const other = bare_job(&server, "other", 2, 2);

    other->by_rank[0]->uid = 1000;
    other->by_rank[1]->uid = 1001;
    cr_expect_eq(ask("other", 1, &kill, 1), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(ask("other", PMIX_RANK_WILDCARD, &kill, 1), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(asked, 0);
    cr_expect_eq(ask("other", 0, &kill, 1), PMIX_ERR_NOT_AVAILABLE, "the host's own word");
    cr_expect_eq(ask("nowhere here", 0, &kill, 1), PMIX_ERR_NOT_AVAILABLE, "the host's to judge");
    client->uid = 0;
    cr_expect_eq(ask("other", 1, &kill, 1), PMIX_ERR_NOT_AVAILABLE, "root may");
    cr_expect_eq(asked, 1);
}

Test(control, is_for_the_host_with_who_asks)
{
    const pmix_info_t infos[] = { text(PMIX_REGISTER_CLEANUP, "/a"), yes(PMIX_JOB_CTRL_PAUSE) };

    cr_expect_eq(ask("job", 0, infos, 2), PMIX_ERR_NOT_AVAILABLE);
    cr_expect_str_eq(received, "job.0: job.0 " PMIX_JOB_CTRL_PAUSE " " PMIX_USERID " " PMIX_GRPID);
    cr_expect(!sx_list_empty(&client->cleanups), "what is ours is done");
}

#define MANY 3000u
#define MANY_BYTES (1u << 20)
#define FEW 200u /* allocations for everything but the infos */

static size_t received_count;

static pmix_status_t on_many(const pmix_proc_t *proc, const pmix_proc_t targets[], size_t ntargets,
                             const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                             void *cbdata)
{
    (void)proc, (void)targets, (void)ntargets, (void)cbfunc, (void)cbdata;
    for (size_t i = 0; i + 2 < ninfo; i++) {
        cr_expect(PMIx_Check_key(info[i].key, PMIX_JOB_CTRL_PROVISION_IMAGE));
        cr_expect_str_eq(info[i].value.data.string, "image");
    }
    received_count = ninfo;
    return PMIX_ERR_NOT_AVAILABLE;
}

/* @info, and behind it many that are for the host.  Return: the allocations. */
static unsigned long ask_much(const pmix_info_t *info)
{
    static _Alignas(8) uint8_t bytes[MANY_BYTES];
    static pmix_info_t infos[MANY + 1];
    struct proc_list head = { .size = sizeof(struct sx_job_control) };
    size_t size;

    infos[0] = *info;
    for (unsigned i = 1; i <= MANY; i++) {
        infos[i] = text(PMIX_JOB_CTRL_PROVISION_IMAGE, "image");
    }
    proc_list_add(&head, 0, "job");
    cr_assert_eq(sx_flat_infos_size(infos, MANY + 1, &size), PMIX_SUCCESS);
    cr_assert_leq(head.size + size, sizeof(bytes));
    memcpy(bytes, head.bytes, head.size);
    cr_assert_eq(sx_flat_infos_encode(infos, MANY + 1, bytes + head.size, size), PMIX_SUCCESS);
    *(struct sx_job_control *)(void *)bytes = (struct sx_job_control){ .proc_count = 1,
                                                                       .info_size = size };
    struct sx_frame frame = opened_frame(SX_MSG_JOB_CONTROL, 5, bytes, head.size + size);
    const unsigned long before = allocations;

    server.module.job_control = on_many;
    cr_assert(sx_control_on_job_control(&server, client, &frame, 0));
    bare_call(&server, NULL, NULL);
    cr_expect_eq(answers_next(&answers, 5), PMIX_ERR_NOT_AVAILABLE);
    return allocations - before;
}

/* What is read of the message is what the host gets. */
Test(control, hands_over_many_infos_without_a_copy)
{
    const pmix_info_t image = text(PMIX_JOB_CTRL_PROVISION_IMAGE, "image");
    const pmix_info_t path = text(PMIX_REGISTER_CLEANUP, "/a");

    cr_expect_leq(ask_much(&image), MANY + FEW);
    cr_expect_eq(received_count, MANY + 1 + 2);
    cr_expect_leq(ask_much(&path), MANY + FEW);
    cr_expect_eq(received_count, MANY + 2);
    cr_expect(!sx_list_empty(&client->cleanups), "what is ours is done");
}

/* Sets that are made are pset_test.c's. */
Test(control, of_what_is_not_there_is_refused)
{
    const pmix_info_t cleanup = text(PMIX_REGISTER_CLEANUP, "/a"),
                      set = text(PMIX_JOB_CTRL_DEFINE_PSET, "set");

    sx_name_ended(&server, "gone");
    cr_expect_eq(ask("job", 1, &cleanup, 1), PMIX_ERR_NOT_FOUND, "beyond its job");
    cr_expect_eq(ask("job", 1, &set, 1), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(ask("later", 0, &cleanup, 1), PMIX_ERR_NOT_FOUND, "of a job to come");
    cr_expect_eq(ask("gone", 0, &cleanup, 1), PMIX_ERR_NOT_FOUND, "of a job that has ended");
    cr_expect_eq(ask("gone", PMIX_RANK_WILDCARD, &set, 1), PMIX_ERR_NOT_FOUND);
    cr_expect(sx_list_empty(&client->cleanups), "nothing is done of it");
    cr_expect_eq(ask("job", PMIX_RANK_WILDCARD, &cleanup, 1), PMIX_SUCCESS);
    cr_expect_eq(ask("job", 0, &cleanup, 1), PMIX_SUCCESS);
    cr_expect_eq(asked, 0, "it is not the host's");
}

Test(control, without_an_entry_cannot)
{
    const pmix_info_t infos[] = { text(PMIX_REGISTER_CLEANUP, "/a"), yes(PMIX_JOB_CTRL_PAUSE),
                                  yes("my.wish") };

    server.module.job_control = NULL;
    cr_expect_eq(ask("job", 0, infos, 2), PMIX_ERR_NOT_SUPPORTED);
    cr_expect(sx_list_empty(&client->cleanups), "nothing is done of it");
    cr_expect_eq(ask("job", 0, &infos[2], 1), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(ask("job", 0, (pmix_info_t[]){ infos[0], infos[2] }, 2), PMIX_SUCCESS);
    cr_expect(!sx_list_empty(&client->cleanups), "a wish that nobody knows is passed over");
}

/* A set of as many processes as one call may name is read, sorted, made and told of in four
 * turns; the host is asked in one more. */
Test(control, defines_a_large_set_in_steps)
{
    enum { MEMBERS = 16000 };
    const pmix_info_t infos[] = { text(PMIX_JOB_CTRL_DEFINE_PSET, "large"),
                                  yes(PMIX_JOB_CTRL_PAUSE) };
    uint32_t *const sets = &server.memberships.kind_counts[SX_MEMBERSHIP_PSET];
    static pmix_proc_t procs[MEMBERS];
    struct sx_job_control head = { 0 };
    struct sx_draft draft = { .head = &head,
                              .signature = sx_message_spec(SX_MSG_JOB_CONTROL)->body,
                              .nspace = "" };
    size_t size;

    for (uint32_t i = 0; i < MEMBERS; i++) {
        PMIx_Load_procid(&procs[i], "elsewhere", i);
    }
    for (size_t ninfo = 1; ninfo <= 2; ninfo++) {
        draft.parts[SX_CONTROL_PROCS] = (struct sx_part_source){ procs, MEMBERS };
        draft.parts[SX_CONTROL_INFOS] = (struct sx_part_source){ infos, ninfo };
        cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
        void *const bytes = calloc(1, size);

        cr_assert_eq(sx_body_write(&draft, bytes), PMIX_SUCCESS);
        struct sx_frame frame = opened_frame(SX_MSG_JOB_CONTROL, 5, bytes, size);

        const uint64_t events = job->events.newest;

        asked = 0;
        cr_assert(sx_control_on_job_control(&server, client, &frame, 0));
        free(bytes);
        for (unsigned step = 0; step < 3 + ninfo; step++) {
            const uint32_t spent = client->share.spent;

            cr_expect_eq(*sets, step >= 3 ? 1 : 0, "%u", step);
            cr_expect_eq(job->events.newest, events + (step > 3), "%u", step);
            cr_expect(answers_none(&answers));
            cr_assert(!sx_list_empty(&client->share.works), "%u", step);
            sx_share_work_step(client);
            cr_expect_geq(client->share.spent - spent, MEMBERS / 4);
        }
        cr_expect(sx_list_empty(&client->share.works));
        cr_expect_eq(job->events.newest, events + 1);
        bare_call(&server, NULL, NULL);
        client->share.units = 1;
        if (!sx_list_empty(&client->share.due)) {
            sx_pending_send_due(client);
        }
        cr_expect_eq(answers_next(&answers, 5), ninfo == 1 ? PMIX_SUCCESS : PMIX_ERR_NOT_AVAILABLE);
        cr_expect_eq(asked, ninfo - 1);
        sx_pset_client_gone(&server, client);
        cr_assert_eq(*sets, 0);
    }
}

/* The members of a group of many get their names in turns of their own, each of which is charged.
 * Then it goes on as a list of them. */
Test(control, of_a_group_of_many_names_them_in_steps)
{
    enum { MEMBERS = 5000, NAMING_STEPS = 3, STEPS = NAMING_STEPS + 5 };
    static_assert(MEMBERS > 2 * SX_ALIAS_NAMED_PER_TURN && MEMBERS <= 3 * SX_ALIAS_NAMED_PER_TURN,
                  "three turns name them");
    const pmix_info_t infos[] = { text(PMIX_JOB_CTRL_DEFINE_PSET, "large"),
                                  yes(PMIX_JOB_CTRL_PAUSE) };
    uint32_t *const sets = &server.memberships.kind_counts[SX_MEMBERSHIP_PSET];
    static pmix_proc_t procs[MEMBERS];

    for (uint32_t i = 0; i < MEMBERS; i++) {
        PMIx_Load_procid(&procs[i], "elsewhere", i);
    }
    bare_connected(&server, "many", procs, MEMBERS);
    begin_asking("many", PMIX_RANK_WILDCARD, infos, SX_COUNT(infos));
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t spent = client->share.spent;

        cr_expect_eq(*sets, step >= NAMING_STEPS + 3 ? 1 : 0, "%u", step);
        cr_expect(answers_none(&answers));
        cr_assert(!sx_list_empty(&client->share.works), "%u", step);
        sx_share_work_step(client);
        cr_expect_geq(client->share.spent - spent,
                      step < NAMING_STEPS ? SX_ALIAS_NAMED_UNITS : MEMBERS / 4, "%u", step);
    }
    cr_expect(sx_list_empty(&client->share.works));
    bare_call(&server, NULL, NULL);
    cr_expect_eq(asked, 1);
    cr_expect_not_null(strstr(received, " elsewhere.0 elsewhere.1 elsewhere.2 elsewhere.3"));
    client->share.units = 1;
    if (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
    }
    cr_expect_eq(answers_next(&answers, 5), PMIX_ERR_NOT_AVAILABLE);
}
