/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof_test.c - output costs the clients that pull it, by what they pull, and nobody else. */
#include "server/iof/iof.h"

#include <stdlib.h>
#include <sys/resource.h>

#include <pmix.h>

#include "../answers.h"
#include "../bare.h"
#include "../opened.h"
#include "base/system/process.h"
#include "base/util.h"
#include "server/iof/output.h"

#define PULLS 16u /* of a client */

static struct sx_server server;
static struct sx_client *clients[2];
static struct answers answers[2];
static unsigned taken;

static pmix_status_t host_pull(const pmix_proc_t *procs, size_t nprocs,
                               const pmix_info_t *directives, size_t ndirs,
                               pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)procs, (void)nprocs, (void)directives, (void)ndirs, (void)channels;
    (void)cbfunc, (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    sx_iof_init(&server);
    sx_server_set(&server);
    server.module.iof_pull = host_pull;
    struct sx_nspace *const job = bare_job(&server, "job", 2, 2);

    for (uint32_t rank = 0; rank < 2; rank++) {
        clients[rank] = bare_connect(&server, job, rank);
        sx_share_begin(&server, clients[rank]);
        answers_begin(&answers[rank], &server, clients[rank]);
    }
}

static void client_goes(void *client, uint64_t now_ns)
{
    (void)now_ns;
    sx_iof_client_gone(&server, client);
}

static void end(void)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        bare_call(&server, client_goes, clients[rank]);
        cr_expect(sx_list_empty(&clients[rank]->share.works));
        answers_end(&answers[rank], clients[rank]);
    }
    cr_expect_eq(server.iof.pull_names.count, 0);
    sx_iof_stop(&server);
    sx_pendings_deinit(&server);
    sx_server_set(NULL);
    bare_deinit(&server);
}

TestSuite(iof, .init = begin, .fini = end);

/* ---- pulls --------------------------------------------------------------------------------- */

struct call {
    struct sx_client *client;
    const pmix_proc_t *procs;
    uint32_t count;
};

static void call_make(void *arg, uint64_t now_ns)
{
    const struct call *const call = arg;
    const size_t each = 8 + 8; /* "job" and "gone" are short */
    const struct sx_iof_pull head = { .channels = PMIX_FWD_STDOUT_CHANNEL,
                                      .proc_count = call->count };
    uint8_t *const body = calloc(1, sizeof(head) + call->count * each);

    memcpy(body, &head, sizeof(head));
    for (uint32_t i = 0; i < call->count; i++) {
        const uint32_t words[2] = { call->procs[i].rank, (uint32_t)strlen(call->procs[i].nspace) };
        uint8_t *const at = body + sizeof(head) + i * each;

        memcpy(at, words, sizeof(words));
        memcpy(at + sizeof(words), call->procs[i].nspace, words[1]);
    }
    struct sx_frame frame = opened_frame(SX_MSG_IOF_PULL, 7, body,
                                         sizeof(head) + call->count * each);

    cr_expect(sx_iof_on_pull(&server, call->client, &frame, now_ns));
    free(body);
}

/* Return: the socket of a pull of client @who. */
static int pull(uint32_t who, const pmix_proc_t *procs, uint32_t count)
{
    struct call call = { .client = clients[who], .procs = procs, .count = count };

    sx_share_forgive(clients[who]);
    server.turn.number += 100;
    bare_call(&server, call_make, &call);
    sx_share_forgive(clients[who]);
    server.turn.number += 100;
    if (!sx_list_empty(&clients[who]->share.due)) {
        sx_pending_send_due(clients[who]);
    }
    cr_assert_eq(answers_next(&answers[who], 7), PMIX_SUCCESS);
    cr_assert_eq(answers[who].frame.fd_count, 1);
    const int fd = answers[who].frame.fds[0];

    answers[who].frame.fds[0] = -1; /* taken */
    return fd;
}

/* ---- output -------------------------------------------------------------------------------- */

static void on_taken(pmix_status_t status, void *cbdata)
{
    (void)status, (void)cbdata;
    taken++;
}

static void nothing(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
}

static void host_delivers(void *source, uint64_t now_ns)
{
    const pmix_byte_object_t bytes = { .bytes = (char *)"x", .size = 1 };

    (void)now_ns;
    cr_assert_eq(PMIx_server_IOF_deliver(source, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_taken,
                                         NULL),
                 PMIX_SUCCESS);
}

/* Return: what it has cost client @who when it has been handed on and nothing has been sent. */
static int64_t deliver(uint32_t who, const char *nspace, uint32_t rank)
{
    pmix_proc_t source;

    PMIx_Load_procid(&source, nspace, rank);
    server.turn.number += 100;
    (void)sx_share_affords(&server, clients[who]);
    const int64_t before = clients[who]->share.units;

    bare_call(&server, host_delivers, &source);
    return before - clients[who]->share.units;
}

/* Return: how many messages there are in @fd. */
static unsigned messages(int fd)
{
    char bytes[1024];
    unsigned count = 0;

    while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
        count++;
    }
    return count;
}

Test(iof, is_paid_by_those_who_pull_it)
{
    const pmix_proc_t first = { .nspace = "job", .rank = 0 };
    const pmix_proc_t second = { .nspace = "job", .rank = 1 };
    int fds[2][PULLS];

    for (unsigned i = 0; i < PULLS; i++) {
        fds[0][i] = pull(0, &first, 1);
        fds[1][i] = pull(1, &second, 1);
    }
    cr_expect_eq(deliver(0, "job", 0), PULLS);
    cr_expect_eq(deliver(1, "job", 0), 0, "it pulls another's");
    cr_expect_eq(messages(fds[0][0]), 0, "nothing is sent outside of its client's turns");
    while (!sx_list_empty(&clients[0]->share.works)) {
        sx_share_work_step(clients[0]);
    }
    for (unsigned i = 0; i < PULLS; i++) {
        cr_expect_eq(messages(fds[0][i]), 2);
        cr_expect_eq(messages(fds[1][i]), 0);
        close(fds[0][i]);
        close(fds[1][i]);
    }
    bare_call(&server, nothing, NULL);
    cr_expect_eq(taken, 2);
}

Test(iof, leaves_the_last_descriptors_for_processes)
{
    const pmix_proc_t first = { .nspace = "job", .rank = 0 };
    struct call call = { .client = clients[0], .procs = &first, .count = 1 };
    const size_t used = sx_descriptors_look().used;
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = (used + 2) * 10 / 9 + 1; /* nine tenths are enough for one more */
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const int fd = pull(0, &first, 1);

    bare_call(&server, call_make, &call);
    cr_expect_eq(answers_next(&answers[0], 7), PMIX_ERR_OUT_OF_RESOURCE);
    close(fd);
}

Test(iof, goes_once_to_a_pull_that_names_the_process_and_its_job)
{
    const pmix_proc_t procs[] = { { .nspace = "job", .rank = 0 },
                                  { .nspace = "job", .rank = PMIX_RANK_WILDCARD } };
    const int fd = pull(0, procs, 2);

    cr_expect_eq(deliver(0, "job", 0), 1);
    cr_expect_eq(deliver(0, "job", 1), 1);
    while (!sx_list_empty(&clients[0]->share.works)) {
        sx_share_work_step(clients[0]);
    }
    cr_expect_eq(messages(fd), 2);
    close(fd);
}

/* What each step sends is paid, and no step sends all of much. */
Test(iof, is_sent_in_steps_that_are_paid)
{
    const pmix_proc_t first = { .nspace = "job", .rank = 0 };
    const int fd = pull(0, &first, 1);
    unsigned steps = 0;

    for (unsigned i = 0; i < 150; i++) {
        (void)deliver(0, "job", 0);
    }
    for (; !sx_list_empty(&clients[0]->share.works); steps++) {
        server.turn.number += 100;
        (void)sx_share_affords(&server, clients[0]);
        const int64_t before = clients[0]->share.units;

        sx_share_work_step(clients[0]);
        const int64_t units = before - clients[0]->share.units;
        const unsigned sent = messages(fd);

        cr_expect_eq(units, 1 + (int64_t)sent * SX_TURN_ANSWER_UNITS);
        cr_expect_leq(units, SX_SHARE_STEP_UNITS);
    }
    cr_expect_geq(steps, 3);
    close(fd);
}

/* What was kept before somebody pulled it: whoever names much pays for that. */
Test(iof, of_before_and_the_names_are_paid_by_the_pull)
{
    enum { NAMES = 400 };
    static pmix_proc_t procs[NAMES];

    for (uint32_t i = 0; i < NAMES; i++) {
        PMIx_Load_procid(&procs[i], "gone", i);
        (void)deliver(0, "gone", i);
    }
    struct call call = { .client = clients[0], .procs = procs, .count = NAMES };

    server.turn.number += 100;
    (void)sx_share_affords(&server, clients[0]);
    const int64_t before = clients[0]->share.units;

    bare_call(&server, call_make, &call);
    cr_expect_geq(before - clients[0]->share.units, NAMES / 4 + NAMES / 2);
    cr_expect_eq(server.iof.kept_count, 0);
    sx_share_forgive(clients[0]);
    sx_pending_send_due(clients[0]);
    cr_assert_eq(answers_next(&answers[0], 7), PMIX_SUCCESS);
}

/* A call names so many processes; they are copied and put in order, which is paid. */
Test(iof, of_many_names_is_paid_or_refused)
{
    static pmix_proc_t procs[SX_IOF_PROCS_MAX + 1];
    struct call call = { .client = clients[0], .procs = procs, .count = SX_COUNT(procs) };

    for (uint32_t i = 0; i < SX_COUNT(procs); i++) {
        PMIx_Load_procid(&procs[i], "gone", SX_IOF_PROCS_MAX - i);
    }
    bare_call(&server, call_make, &call);
    cr_expect_eq(answers_next(&answers[0], 7), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(server.iof.pull_names.count, 0);
    call.count--;
    const uint32_t before = clients[0]->share.spent;

    bare_call(&server, call_make, &call);
    cr_expect_geq(clients[0]->share.spent - before, SX_IOF_PROCS_MAX * 3 / 4,
                  "to copy, and to be found by");
}

Test(iof, goes_once_to_a_pull_that_names_its_processes_in_any_order_and_twice)
{
    const pmix_proc_t procs[] = {
        { "job", 1 }, { "gone", 3 }, { "job", 0 }, { "gone", 3 }, { "job", 1 }
    };
    const int fd = pull(0, procs, SX_COUNT(procs));

    cr_expect_eq(server.iof.pull_names.count, 3);
    cr_expect_eq(deliver(0, "job", 1), 1);
    while (!sx_list_empty(&clients[0]->share.works)) {
        sx_share_work_step(clients[0]);
    }
    cr_expect_eq(messages(fd), 1);
    close(fd);
}

/* Make the group @name of the first @count ranks of a job of other nodes. */
static void group_make(const char *name, uint32_t count)
{
    pmix_proc_t *const procs = calloc(count, sizeof(*procs));
    const struct sx_membership_options options = {
        .name = name, .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = count
    };
    struct sx_membership_entry *entry;

    for (uint32_t i = 0; i < count; i++) {
        PMIx_Load_procid(&procs[i], "far", i);
    }
    cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    free(procs);
}

/* A group may stand for many: these are found by as well, which is paid. */
Test(iof, of_a_large_group_is_paid_or_refused)
{
    pmix_proc_t procs[] = { { "grp", PMIX_RANK_WILDCARD } };
    struct call call = { .client = clients[0], .procs = procs, .count = 1 };

    group_make("grp", SX_IOF_MEANT_MAX + 1);
    bare_call(&server, call_make, &call);
    cr_expect_eq(answers_next(&answers[0], 7), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(server.iof.pull_names.count, 0);
    PMIx_Load_nspace(procs[0].nspace, "less");
    group_make("less", SX_IOF_MEANT_MAX);
    const uint32_t before = clients[0]->share.spent;

    bare_call(&server, call_make, &call);
    cr_expect_eq(server.iof.pull_names.count, SX_IOF_MEANT_MAX);
    cr_expect_geq(clients[0]->share.spent - before, SX_IOF_MEANT_MAX * 3 / 4);
}

/* What a name stands for is kept with each pull: it counts, not the name. */
Test(iof, of_large_groups_is_kept_by_few_pulls)
{
    const pmix_proc_t large = { "large", PMIX_RANK_WILDCARD }, all = { "job", PMIX_RANK_WILDCARD };
    struct call call = { .client = clients[0], .procs = &large, .count = 1 };
    int fds[4];
    unsigned pulls = 0;

    group_make(large.nspace, SX_IOF_MEANT_MAX);
    while (clients[0]->pending_bytes[SX_PENDING_PULL] < (size_t)4 << 20) {
        cr_assert_lt(pulls, SX_COUNT(fds));
        fds[pulls++] = pull(0, &large, 1);
    }
    bare_call(&server, call_make, &call);
    cr_expect_eq(answers_next(&answers[0], 7), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_leq(server.iof.pull_names.count, 2 * SX_IOF_MEANT_MAX);
    close(pull(1, &all, 1));
    while (pulls > 0) {
        close(fds[--pulls]);
    }
    bare_call(&server, client_goes, clients[0]);
    cr_expect_eq(clients[0]->pending_bytes[SX_PENDING_PULL], 0);
}

/* ---- pushes that are parked ------------------------------------------------------------------ */

static unsigned pushed;
static uint32_t pushed_by[4]; /* ranks */
static size_t pushed_to;      /* processes */

static pmix_status_t host_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                               size_t ntargets, const pmix_info_t directives[], size_t ndirs,
                               const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)targets, (void)directives, (void)ndirs, (void)bo;
    (void)cbfunc, (void)cbdata;
    cr_assert_lt(pushed, SX_COUNT(pushed_by));
    pushed_by[pushed++] = source->rank;
    pushed_to += ntargets;
    return PMIX_OPERATION_SUCCEEDED;
}

/* A push of @call, to a group. */
static void push_make(void *arg, uint64_t now_ns)
{
    static uint32_t id = 100;
    const struct call *const call = arg;
    const struct sx_iof_push head = { .proc_count = call->count };
    pmix_info_t input = { .value = { .type = PMIX_BYTE_OBJECT, .data.bo = { "input", 5 } } };
    struct sx_draft draft = { .head = &head,
                              .signature = sx_message_spec(SX_MSG_IOF_PUSH)->body,
                              .nspace = "",
                              .parts[SX_PUSH_PROCS] = { call->procs, call->count },
                              .parts[SX_PUSH_INFOS] = { &input, 1 } };
    _Alignas(8) uint8_t body[512];
    size_t size;

    PMIx_Load_key(input.key, SX_PUSH_BYTES);
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(body));
    cr_assert_eq(sx_body_write(&draft, body), PMIX_SUCCESS);
    struct sx_frame frame = opened_frame(SX_MSG_IOF_PUSH, ++id, body, size);

    cr_expect(sx_input_on_push(&server, call->client, &frame, now_ns));
}

/* The host wants more: each client has parked two pushes. */
static void pushes_go_on(void *arg, uint64_t now_ns)
{
    size_t left = 1;

    (void)arg, (void)now_ns;
    cr_expect_eq(PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL,
                                              NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_expect_not(sx_input_go_on(&server, &left));
    cr_expect_eq(left, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        left = SX_IOF_MEANT_MAX + 64;
        cr_expect_not(sx_input_go_on(&server, &left));
        cr_expect_eq(left, 0);
    }
}

/* A group's name counts as what it stands for, and takes that long. */
Test(iof, that_was_parked_goes_on_in_steps)
{
    const pmix_proc_t large = { "large", PMIX_RANK_WILDCARD };

    pushed = pushed_to = 0;
    sx_input_init(&server);
    server.module.push_stdin = host_push;
    server.iof.producers_stopped = true;
    group_make(large.nspace, SX_IOF_MEANT_MAX);
    for (unsigned i = 0; i < 4; i++) {
        struct call call = { .client = clients[i % 2], .procs = &large, .count = 1 };

        bare_call(&server, push_make, &call);
    }
    cr_expect_eq(pushed, 0);
    cr_expect_geq(clients[0]->pending_bytes[SX_PENDING_HOST],
                  2 * SX_IOF_MEANT_MAX * sizeof(pmix_proc_t));
    bare_call(&server, pushes_go_on, NULL);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(pushed, 4);
    cr_expect_eq(pushed_to, 4 * SX_IOF_MEANT_MAX);
    for (uint32_t i = 0; i < pushed; i++) {
        cr_expect_eq(pushed_by[i], i % 2, "in turn");
    }
    sx_input_clear(&server);
}

/* A group of two users, of which the puller is not a member. */
Test(iof, of_another_user_is_refused_by_the_name_of_a_group_too)
{
    const pmix_proc_t procs[] = { { "grp", PMIX_RANK_WILDCARD } };
    const pmix_proc_t members[] = { { "job", 1 }, { "theirs", 0 } };
    struct call call = { .client = clients[0], .procs = procs, .count = 1 };
    struct sx_nspace *const theirs = bare_job(&server, "theirs", 1, 1);
    const struct sx_membership_options options = {
        .name = "grp", .kind = SX_MEMBERSHIP_GROUP, .procs = members, .proc_count = 2
    };
    struct sx_membership_entry *entry;

    clients[0]->uid = clients[1]->uid = 7;
    theirs->by_rank[0]->uid = theirs->uid = 8;
    cr_assert_eq(sx_memberships_add(&server, &options, &entry), PMIX_SUCCESS);
    bare_call(&server, call_make, &call);
    cr_expect_eq(answers_next(&answers[0], 7), PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(server.iof.pull_names.count, 0);
}

/* ---- shares -------------------------------------------------------------------------------- */

#define MIB ((size_t)1 << 20)

/* Deliver pieces of @nspace, of @user, that nobody takes, until there may be no more of them.
 * Return: how many there are now. */
static size_t fill(struct sx_output *outputs[], const char *nspace, uint32_t rank, uid_t user)
{
    static const char bytes[MIB];
    pmix_proc_t source;
    size_t count = 0;

    PMIx_Load_procid(&source, nspace, rank);
    while (count < SX_OUTPUTS_BYTES_MAX / MIB &&
           sx_output_new(&server, &source, bytes, MIB, &outputs[count]) == PMIX_SUCCESS) {
        sx_output_user_set(outputs[count++], user);
    }
    return count;
}

/* Whoever is slow to read leaves something: of one process for those of its user, of one user for
 * other users. */
Test(iof, that_waits_leaves_a_share_for_others)
{
    static struct sx_output *outputs[4 * SX_OUTPUTS_BYTES_MAX / MIB];
    size_t count = 0, before;

    count += fill(outputs, "one", 0, 7);
    cr_expect_gt(count, 40, "%zu", count);
    before = count;
    count += fill(&outputs[count], "one", 1, 7);
    cr_expect_gt(count, before, "another process of the job");
    before = count;
    count += fill(&outputs[count], "two", 0, 7);
    cr_expect_gt(count, before, "another job of the user");
    before = count;
    count += fill(&outputs[count], "other", 0, 8);
    cr_expect_gt(count, before, "another user");
    cr_expect_lt(count, SX_OUTPUTS_BYTES_MAX / MIB, "some is left");
    while (count > 0) {
        sx_output_release(outputs[--count]);
    }
    count = fill(outputs, "other", 0, 8);
    cr_expect_gt(count, 40, "all of it has been given back");
    while (count > 0) {
        sx_output_release(outputs[--count]);
    }
}
