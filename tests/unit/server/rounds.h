/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rounds.h - several servers in one process, a node each, with one member of a job on each; and a
 * host with nothing but a fence, which glues what the servers give.
 *
 * Nothing happens by itself: a test says when a member calls, when the host answers, when a pause
 * ends. */
#ifndef SX_TEST_ROUNDS_H
#define SX_TEST_ROUNDS_H

#include <stdio.h>
#include <stdlib.h>

#include "bare_events.h"
#include "base/value/flat.h"
#include "opened.h"
#include "server/collective/collective.h"
#include "server/collective/connect_nodes.h"
#include "server/model/membership.h"

#define NODES_MAX 3u
#define CALLS_MAX 32u
#define JOB "rounds"

struct node {
    struct sx_server server;
    struct sx_nspace *job;
    struct sx_client *member;
    struct sx_ring_cursor cursor;
    unsigned calls; /* so far; their numbers are 1 to calls */
    unsigned answers[CALLS_MAX + 1];
    pmix_status_t statuses[CALLS_MAX + 1];
    uint64_t subjects[CALLS_MAX + 1];
    /* what the host has of it */
    pmix_modex_cbfunc_t cbfunc; /* NULL: nothing */
    void *cbdata;
    char *bytes;
    size_t size;
    const pmix_proc_t *asked_with; /* these processes ... */
    size_t asked_procs;            /* ... so many */
    pmix_status_t local;
    unsigned asked_count;
};
static struct node nodes[NODES_MAX];
static unsigned node_count;
static const char *jobs[NODES_MAX] = { JOB, JOB, JOB }; /* of each node's member, in order */
static struct node *current;                            /* whose loop runs */
static unsigned round_count;                            /* that the host has answered */
static const struct node *dying;   /* its member dies late, before the host's next answer to it */
static const struct node *garbled; /* the host's next answer to this one is broken; NULL: none */

/* ---- a loop each ---------------------------------------------------------------------------- */

#define TURNS 12u
static struct {
    void (*fn)(struct node *node, const void *arg);
    const void *arg;
    unsigned turns_left;
    struct sx_loop_post post;
} work;

static void node_turn(void *arg, uint64_t now_ns)
{
    struct node *const node = arg;

    (void)now_ns;
    if (work.fn != NULL) {
        work.fn(node, work.arg);
        work.fn = NULL;
    }
    if (work.turns_left-- == 0) {
        sx_loop_stop(node->server.loop);
        return;
    }
    work.post = (struct sx_loop_post){ .fn = node_turn, .arg = node };
    cr_assert_eq(sx_loop_post(node->server.loop, &work.post), PMIX_SUCCESS);
}

/* Read what the member is told. */
static void node_listen(struct node *node)
{
    _Alignas(8) char record[SX_RING_RECORD_MAX];
    const struct sx_record_header *const header = (const void *)record;
    uint64_t lost;

    while (sx_ring_next(&node->cursor, 1u << SX_CLASS_COLLECTIVE, record, &lost) == PMIX_SUCCESS) {
        const struct sx_record_done *const done = (const void *)(header + 1);
        const struct sx_record_done_entry *const entries = (const void *)(done + 1);

        for (uint32_t i = 0; i < done->count; i++) {
            cr_assert_leq(entries[i].op, CALLS_MAX);
            node->answers[entries[i].op]++;
            node->statuses[entries[i].op] = done->status;
            node->subjects[entries[i].op] = done->subject;
        }
    }
}

/* Call @fn (or NULL) as the node's loop, and let run what follows by @clock. */
static void node_run_at(struct node *node, uint64_t (*clock)(void *arg),
                        void (*fn)(struct node *node, const void *arg), const void *arg)
{
    struct sx_timer first = { .fn = node_turn, .arg = node };

    work.fn = fn;
    work.arg = arg;
    work.turns_left = TURNS;
    current = node;
    sx_server_set(&node->server);
    cr_assert_eq(sx_timer_add(node->server.loop, &first, 0), PMIX_SUCCESS);
    sx_loop_set_clock(node->server.loop, clock, NULL);
    sx_loop_run(node->server.loop);
    sx_loop_set_clock(node->server.loop, NULL, NULL);
    node_listen(node);
}

/* No time passes: what is due at once is due. */
static uint64_t clock_stopped(void *arg)
{
    (void)arg;
    return 1;
}

static void node_run(struct node *node, void (*fn)(struct node *node, const void *arg),
                     const void *arg)
{
    node_run_at(node, clock_stopped, fn, arg);
}

/* All timers of the node have their time: pauses end, limits pass. */
static inline void node_later(struct node *node)
{
    current = node;
    sx_server_set(&node->server);
    bare_much_later(&node->server);
    node_run(node, NULL, NULL);
}

/* ---- the host ------------------------------------------------------------------------------- */

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    cr_assert_null(current->cbfunc, "one at a time");
    cr_assert_geq(ninfo, 2);
    cr_assert_str_eq(info[0].key, PMIX_COLLECT_DATA);
    cr_assert_str_eq(info[1].key, PMIX_LOCAL_COLLECTIVE_STATUS);
    current->local = info[1].value.data.status;
    cr_assert_gt(ndata, 0);
    current->cbfunc = cbfunc;
    current->cbdata = cbdata;
    current->bytes = data;
    current->size = ndata;
    current->asked_with = procs;
    current->asked_procs = nprocs;
    current->asked_count++;
    return PMIX_SUCCESS;
}

struct word {
    pmix_status_t status;
    char *bytes;
    size_t size;
};

static inline void member_dies_now(struct node *node, const void *arg)
{
    (void)arg;
    node->member->state = SX_CLIENT_DEAD;
    sx_collective_client_gone(&node->server, node->member);
}

/* The same, and the end is not acted on before the loop stops: there are too many of others. */
static inline void member_dies_late(struct node *node)
{
    node->server.collective.ending.max = node->server.collective.ending.left = 0;
    member_dies_now(node, NULL);
}

static void word_said(struct node *node, const void *arg)
{
    const struct word *const word = arg;
    const pmix_modex_cbfunc_t cbfunc = node->cbfunc;

    if (dying == node) {
        dying = NULL;
        member_dies_late(node);
    }
    node->cbfunc = NULL; /* it may be asked again at once */
    cbfunc(word->status, word->bytes, word->size, node->cbdata, NULL, NULL);
}

/* What all nodes have given, in another order for each, at any address. */
static void host_glue(const struct node *to, char *at)
{
    const unsigned first = (unsigned)(to - nodes);

    for (unsigned i = 0; i < node_count; i++) {
        const struct node *const node = &nodes[(first + i) % node_count];

        memcpy(at, node->bytes, node->size);
        at += node->size;
    }
}

static bool host_can_answer(void)
{
    unsigned asked = 0;

    for (unsigned i = 0; i < node_count; i++) {
        asked += nodes[i].cbfunc != NULL;
    }
    return asked == node_count;
}

static void host_answers(pmix_status_t status)
{
    char *glued[NODES_MAX] = { NULL }, *given[NODES_MAX];
    size_t size = 0;

    cr_assert(host_can_answer());
    round_count++;
    for (unsigned i = 0; i < node_count; i++) {
        size += nodes[i].size;
    }
    for (unsigned i = 0; i < node_count; i++) {
        glued[i] = malloc(size + 1);
        cr_assert_not_null(glued[i]);
        host_glue(&nodes[i], glued[i] + 1);
        glued[i][1] ^= garbled == &nodes[i];
    }
    garbled = NULL;
    for (unsigned i = 0; i < node_count; i++) {
        given[i] = nodes[i].bytes;
        node_run(&nodes[i], word_said, &(struct word){ status, glued[i] + 1, size });
    }
    for (unsigned i = 0; i < node_count; i++) {
        free(given[i]);
        free(glued[i]);
    }
}

/* It gives each node what that node has given, and nothing else. */
static inline void host_answers_each_alone(void)
{
    cr_assert(host_can_answer());
    round_count++;
    for (unsigned i = 0; i < node_count; i++) {
        char *const given = nodes[i].bytes;

        node_run(&nodes[i], word_said, &(struct word){ PMIX_SUCCESS, given, nodes[i].size });
        free(given);
    }
}

/* It gives each node what the others have given, and not its own bytes. */
static inline void host_answers_without_own(void)
{
    struct word words[NODES_MAX];

    cr_assert(host_can_answer());
    cr_assert_eq(node_count, 2);
    round_count++;
    for (unsigned i = 0; i < 2; i++) {
        words[i] = (struct word){ PMIX_SUCCESS, nodes[1 - i].bytes, nodes[1 - i].size };
    }
    for (unsigned i = 0; i < 2; i++) {
        node_run(&nodes[i], word_said, &words[i]);
    }
    free(words[0].bytes);
    free(words[1].bytes);
}

/* It gives nobody anything. */
static inline void host_answers_nothing(void)
{
    cr_assert(host_can_answer());
    round_count++;
    for (unsigned i = 0; i < node_count; i++) {
        char *const given = nodes[i].bytes;

        node_run(&nodes[i], word_said, &(struct word){ PMIX_SUCCESS, NULL, 0 });
        free(given);
    }
}

/* ---- members -------------------------------------------------------------------------------- */

struct call {
    uint32_t kind; /* enum sx_collective_kind */
    const char *id;
    uint32_t seconds; /* a limit; 0: none */
    bool asks;        /* the others to come */
    bool collects;    /* data */
    bool names_ranks; /* the members themselves, not their jobs ... */
    bool names_first; /* ... or only the first node's */
    const char *list; /* names the processes; NULL: the jobs */
};

/* Append processes of @nspace to a message.  Return: its new end. */
static char *nspace_add(char *at, const char *nspace, uint32_t rank)
{
    const uint32_t proc[2] = { rank, (uint32_t)strlen(nspace) };
    const size_t padded = (strlen(nspace) + 7) / 8 * 8;

    memcpy(at, proc, sizeof(proc));
    memset(at + sizeof(proc), 0, padded);
    memcpy(at + sizeof(proc), nspace, strlen(nspace));
    return at + sizeof(proc) + padded;
}

static void member_arrives(struct node *node, const void *arg)
{
    const struct call *const call = arg;
    struct {
        struct sx_lane_arrive head;
        char procs[NODES_MAX * (PMIX_MAX_NSLEN + 9)];
        char infos[1024];
    } message = { .head = { .kind = call->kind,
                            .op = ++node->calls,
                            .flags = call->collects ? SX_ARRIVE_COLLECT : 0 } };
    char *at = message.procs;
    pmix_info_t info[3];
    size_t ninfo = 0, size = 0;

    if (call->id != NULL) {
        PMIx_Info_load(&info[ninfo++], "pmix.cnt.id", call->id, PMIX_STRING);
    }
    if (call->seconds != 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_TIMEOUT, &call->seconds, PMIX_UINT32);
    }
    if (call->asks) {
        PMIx_Info_load(&info[ninfo++], "pmix.cnct.req", &call->asks, PMIX_BOOL);
    }
    if (ninfo > 0) {
        cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
        cr_assert_eq(sx_flat_infos_encode(info, ninfo, message.infos, size), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < ninfo; i++) {
        PMIx_Info_destruct(&info[i]);
    }
    for (unsigned i = 0; i < (call->list != NULL ? 1 : node_count); i++) {
        if (call->names_ranks || i == 0 || jobs[i] != jobs[i - 1]) {
            at = nspace_add(at, call->list != NULL ? call->list : jobs[i],
                            call->names_ranks || (call->names_first && i == 0)
                                ? nodes[i].member->rank
                                : PMIX_RANK_WILDCARD);
            message.head.proc_count++;
        }
    }
    memmove(at, message.infos, size);
    message.head.info_size = (uint32_t)size;
    cr_assert_eq(sx_collective_arrive(&node->server, node->member,
                                      opened(&sx_arrive_body, &message,
                                             (size_t)(at - (char *)&message) + size)),
                 PMIX_SUCCESS);
}

static inline void member_calls(unsigned node, const struct call *call)
{
    node_run(&nodes[node], member_arrives, call);
}

static inline void member_dies(unsigned node)
{
    node_run(&nodes[node], member_dies_now, NULL);
}

/* Return: what the connect that node's call @op was has made; fails when it has made nothing. */
static inline const struct sx_membership *made_by(unsigned node, unsigned op)
{
    const struct sx_membership_entry *const entry = sx_memberships_of(&nodes[node].server,
                                                                      nodes[node].subjects[op]);

    cr_assert_not_null(entry, "node %u call %u has made nothing", node, op);
    return &entry->published;
}

/* All nodes have the same name, and the same process at each rank. */
static inline void expect_same(unsigned node, unsigned op, unsigned other, unsigned other_op)
{
    const struct sx_membership *const left = made_by(node, op), *const right = made_by(other,
                                                                                       other_op);
    const uint32_t size = sx_membership_size(left);

    cr_assert_str_eq(sx_membership_name(left), sx_membership_name(right));
    cr_assert_eq(size, sx_membership_size(right));
    cr_assert_eq(size, node_count);
    for (uint32_t rank = 0; rank < size; rank++) {
        pmix_proc_t a, b;

        cr_assert_eq(sx_membership_member(left, rank, &a), PMIX_SUCCESS);
        cr_assert_eq(sx_membership_member(right, rank, &b), PMIX_SUCCESS);
        cr_assert(strcmp(a.nspace, b.nspace) == 0 && a.rank == b.rank);
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

static void node_begin(struct node *node, unsigned rank)
{
    *node = (struct node){ .calls = 0 };
    bare_events_init(&node->server);
    sx_list_init(&node->server.collective.all);
    sx_list_init(&node->server.collective.unread);
    sx_list_init(&node->server.collective.leavers);
    sx_list_init(&node->server.publish.published.users);
    node->server.module.fence_nb = on_fence;
    snprintf(node->server.relay_origin, sizeof(node->server.relay_origin), "node%u", rank);
    const bool is_one_job = jobs[0] == jobs[node_count - 1];

    rank = is_one_job ? rank : 0;
    node->job = bare_job(&node->server, jobs[node - nodes], is_one_job ? node_count : 1, 0);
    node->job->local_count = 1;
    node->member = sx_client_add(node->job, rank);
    cr_assert_not_null(node->member);
    bare_connect(&node->server, node->job, rank);
    sx_ring_seek_now(&node->cursor, &node->job->ring);
}

static void nodes_begin(unsigned count)
{
    alarm(120);
    node_count = count;
    round_count = 0;
    for (unsigned i = 0; i < count; i++) {
        node_begin(&nodes[i], i);
    }
}

/* All is as in the beginning: whatever is open is no more. */
static void nodes_rewind(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        struct node *const node = &nodes[i];

        sx_server_set(&node->server);
        sx_collective_end_all(&node->server);
        for (struct sx_membership_entry *it;
             (it = sx_memberships_next(&node->server, NULL)) != NULL;) {
            if (it->published.head.kind == SX_MEMBERSHIP_CONNECTED) {
                sx_table_remove(&node->server.collective.connects, &it->written);
            }
            sx_memberships_remove(&node->server, it);
        }
        sx_connect_nodess_deinit(&node->server);
        cr_assert_eq(node->server.collective.rounds.count, 0);
        sx_upcall_forget_all(&node->server);
        node->server.port.host.forgotten = false;
        free(node->cbfunc != NULL ? node->bytes : NULL);
        node->cbfunc = NULL;
        node->calls = node->asked_count = 0;
        memset(node->answers, 0, sizeof(node->answers));
        node->member->state = SX_CLIENT_CONNECTED;
        cr_assert_eq(node->member->pending_counts[SX_PENDING_ARRIVAL], 0);
    }
    round_count = 0;
}

static void nodes_end(void)
{
    nodes_rewind();
    for (unsigned i = 0; i < node_count; i++) {
        sx_memberships_deinit(&nodes[i].server);
        sx_table_deinit(&nodes[i].server.collective.connects);
        bare_events_deinit(&nodes[i].server);
    }
    sx_server_set(NULL);
}

#endif
