/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_orders_test.c - collective operations in every order in which their members can come
 * and go, time can pass and a host can answer.
 *
 * The members are made up: no process, no socket.  Each order is played from its beginning, one
 * step longer each time.  After the last step it is looked at whether anybody waits who should not.
 * Then all but one of the members die, and that one must have had an answer to each of its calls.
 * Orders that differ in the names of the members only are played once. */
#include <stdio.h>
#include <stdlib.h>

#include "bare_events.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "opened.h"
#include "server/collective/collective.h"

#define MEMBERS_MAX 4u
#define CALLS_MAX 2u
#define STEPS_MAX 24u
#define QUESTIONS_MAX 8u
#define JOB "orders"

enum act { ARRIVE, DIE, LEAVE, DEPART, LATE, HOST_WELL, HOST_BADLY };

struct step {
    uint8_t act;    /* enum act */
    uint8_t member; /* of the first four */
    const char *id; /* of an arrival; NULL: none */
    bool strict;    /* it pardons nobody */
};

enum host { HOST_NONE, HOST_LATER, HOST_INSIDE, HOST_REFUSES };

/* What may happen. */
struct scene {
    uint32_t kind;
    uint8_t pardons;
    uint32_t members, calls;
    enum host host;
    unsigned ends_max, late_max; /* members that go; times that the limits pass */
};

static struct scene scene;
static bool acts_late; /* on the ends of members, behind those of others */
static struct sx_server server;
static struct sx_nspace *job;
static struct sx_ring_cursor cursor;
static struct step steps[STEPS_MAX];
static unsigned step_count;
static uint64_t order_count;

struct actor {
    struct sx_client *client;
    uint32_t calls; /* made so far; the numbers of these are 1 to calls */
    unsigned answers[CALLS_MAX + 1];
    pmix_status_t statuses[CALLS_MAX + 1];
    bool acted;
};
static struct actor actors[MEMBERS_MAX];

static struct {
    pmix_modex_cbfunc_t cbfunc;
    void *cbdata;
    char *bytes;
} questions[QUESTIONS_MAX];
static unsigned asked_count, answered_count;

/* ---- words for a failure -------------------------------------------------------------------- */

static const char *order_notified(void)
{
    static const char *const acts[] = { "arrives", "dies", "leaves", "departs" };
    static char text[512];
    int used = snprintf(text, sizeof(text),
                        "%s, pardons %u, host %d:", sx_collective_name(scene.kind), scene.pardons,
                        (int)scene.host);

    for (unsigned i = 0; i < step_count; i++) {
        const struct step *const step = &steps[i];

        used += step->act < LATE ? snprintf(text + used, sizeof(text) - (size_t)used, " %u %s,",
                                            step->member, acts[step->act])
                                 : snprintf(text + used, sizeof(text) - (size_t)used, " %s,",
                                            step->act == LATE ? "late" : "the host answers");
    }
    return text;
}

#define MUST(condition)                                             \
    do {                                                            \
        if (!(condition)) {                                         \
            cr_assert_fail("%s: %s", #condition, order_notified()); \
        }                                                           \
    } while (0)

/* ---- the host ------------------------------------------------------------------------------- */

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo, (void)ndata;
    if (scene.host == HOST_REFUSES) {
        free(data);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (scene.host == HOST_INSIDE) {
        cbfunc(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
        free(data);
        return PMIX_SUCCESS;
    }
    cr_assert_lt(asked_count, QUESTIONS_MAX);
    questions[asked_count].cbfunc = cbfunc;
    questions[asked_count].cbdata = cbdata;
    questions[asked_count].bytes = data;
    asked_count++;
    return PMIX_SUCCESS;
}

/* What is done in the loop, and the turns that follow: an answer may lead to another question. */
#define TURNS 4u
static struct {
    void (*fn)(const void *arg);
    const void *arg;
    unsigned turns_left;
    struct sx_loop_post post;
} work;

static void turn(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    if (work.turns_left == TURNS) {
        work.fn(work.arg);
    }
    if (work.turns_left-- == 0) {
        sx_loop_stop(server.loop);
        return;
    }
    work.post = (struct sx_loop_post){ .fn = turn };
    cr_assert_eq(sx_loop_post(server.loop, &work.post), PMIX_SUCCESS);
}

/* Call @fn on the loop's thread, where a host is in the play; else there is no need. */
static void on_loop(void (*fn)(const void *arg), const void *arg)
{
    struct sx_timer first = { .fn = turn };

    if (scene.host == HOST_NONE) {
        fn(arg);
        return;
    }
    work.fn = fn;
    work.arg = arg;
    work.turns_left = TURNS;
    cr_assert_eq(sx_timer_add(server.loop, &first, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
}

struct word {
    unsigned number;
    pmix_status_t status;
};

static void answer(const void *arg)
{
    const struct word *const word = arg;

    questions[word->number].cbfunc(word->status, NULL, 0, questions[word->number].cbdata, NULL,
                                   NULL);
}

static void host_answers(unsigned number, pmix_status_t status)
{
    on_loop(answer, &(struct word){ number, status });
}

/* ---- the members ---------------------------------------------------------------------------- */

static void begin(void)
{
    alarm(120);
    bare_events_init(&server);
    sx_list_init(&server.collective.all);
    sx_list_init(&server.collective.unread);
    sx_list_init(&server.collective.leavers);
    sx_server_set(&server);
    server.module.fence_nb = on_fence;
    job = bare_job(&server, JOB, MEMBERS_MAX, MEMBERS_MAX);
    for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
        actors[i].client = bare_connect(&server, job, i);
    }
    sx_ring_seek_now(&cursor, &job->ring);
}

static void end(void)
{
    sx_collective_end_all(&server);
    sx_upcall_forget_all(&server);
    sx_server_set(NULL);
    sx_connects_deinit(&server);
    bare_events_deinit(&server);
}

TestSuite(collective_orders, .init = begin, .fini = end);

/* All are here, and have done nothing yet; a job with a host has one member more, elsewhere. */
static void rewind_all(void)
{
    job->job_size = scene.members + (scene.host != HOST_NONE);
    job->local_count = scene.members;
    job->connected_count = scene.members;
    for (uint32_t i = 0; i < MEMBERS_MAX; i++) {
        struct sx_client *const client = actors[i].client;

        actors[i] = (struct actor){ .client = client };
        client->state = SX_CLIENT_CONNECTED;
        client->left = client->departed = false;
    }
    server.collective.ending.max = acts_late ? 0 : SIZE_MAX;
    server.collective.ending.left = server.collective.ending.max;
    /* Ranks behind them are no members of this scene. */
    job->client_count = scene.members;
    for (unsigned i = 0; i < asked_count; i++) {
        free(questions[i].bytes);
    }
    asked_count = answered_count = 0;
    step_count = 0;
}

/* Read what the members are told. */
static void listen(void)
{
    _Alignas(8) char record[SX_RING_RECORD_MAX];
    const struct sx_record_header *const header = (const void *)record;
    uint64_t lost;

    while (sx_ring_next(&cursor, 1u << SX_CLASS_COLLECTIVE, record, &lost) == PMIX_SUCCESS) {
        const struct sx_record_done *const done = (const void *)(header + 1);
        const struct sx_record_done_entry *const entries = (const void *)(done + 1);

        MUST(header->kind == SX_RECORD_DONE);
        for (uint32_t i = 0; i < done->count; i++) {
            uint32_t m = 0;

            while (m < scene.members && actors[m].client->slot != entries[i].slot) {
                m++;
            }
            MUST(m < scene.members);
            MUST(actors[m].client->state == SX_CLIENT_CONNECTED);
            MUST(entries[i].op >= 1 && entries[i].op <= actors[m].calls);
            MUST(++actors[m].answers[entries[i].op] == 1);
            actors[m].statuses[entries[i].op] = done->status;
            MUST((done->subject != 0) ==
                 (scene.kind == SX_COLLECTIVE_CONNECT && done->status == PMIX_SUCCESS));
        }
    }
}

static void arrives_at(uint32_t kind, const struct step *step)
{
    struct actor *const actor = &actors[step->member];
    const uint8_t pardons = step->strict ? 0 : scene.pardons;
    static const uint32_t seconds = 1;
    static const bool yes = true;
    struct {
        struct sx_lane_arrive head;
        uint32_t rank, len;
        char name[8];
        char infos[1024];
    } message = {
        .head = { .kind = (uint8_t)kind, .op = ++actor->calls, .proc_count = 1 },
        .rank = PMIX_RANK_WILDCARD,
        .len = sizeof(JOB) - 1,
        .name = JOB,
    };
    pmix_info_t info[4];
    size_t ninfo = 0, size = 0;

    if (scene.late_max > 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_TIMEOUT, &seconds, PMIX_UINT32);
    }
    if ((pardons & SX_PARDON_BEFORE) != 0) {
        PMIx_Info_load(&info[ninfo++], "pmix.cnt.opt", &yes, PMIX_BOOL);
    }
    if ((pardons & SX_PARDON_AFTER) != 0) {
        PMIx_Info_load(&info[ninfo++], "pmix.cnct.eterm", &yes, PMIX_BOOL);
    }
    if (step->id != NULL) {
        PMIx_Info_load(&info[ninfo++], "pmix.cnt.id", step->id, PMIX_STRING);
    }
    if (ninfo > 0) {
        cr_assert_eq(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
        cr_assert_leq(size, sizeof(message.infos));
        cr_assert_eq(sx_flat_infos_encode(info, ninfo, message.infos, size), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < ninfo; i++) {
        PMIx_Info_destruct(&info[i]);
    }
    message.head.info_size = (uint32_t)size;
    MUST(sx_collective_arrive(&server, actor->client,
                              opened(&sx_arrive_body, &message,
                                     offsetof(__typeof__(message), infos) + size)) == PMIX_SUCCESS);
}

static void arrives(const void *arg)
{
    arrives_at(scene.kind, arg);
}

static void goes(const void *arg)
{
    const struct step *const step = arg;
    struct sx_client *const client = actors[step->member].client;
    const enum act act = step->act;

    job->connected_count -= client->state == SX_CLIENT_CONNECTED;
    client->left = act == LEAVE;
    client->departed = act == DEPART;
    client->state = act == DIE     ? SX_CLIENT_DEAD
                    : act == LEAVE ? SX_CLIENT_FINALIZED
                                   : SX_CLIENT_REGISTERED;
    if (act != DEPART) {
        sx_connect_client_gone(&server, client);
    }
    sx_collective_client_gone(&server, client);
}

/* Who is to disconnect has connected. */
static void connect_first(void)
{
    for (uint8_t m = 0; m < scene.members && scene.kind == SX_COLLECTIVE_DISCONNECT; m++) {
        arrives_at(SX_COLLECTIVE_CONNECT, &(struct step){ .act = ARRIVE, .member = m });
    }
    for (uint8_t m = 0; m < scene.members; m++) {
        actors[m].calls = 0;
    }
    sx_ring_seek_now(&cursor, &job->ring);
}

static void play(const struct step *step)
{
    switch ((enum act)step->act) {
    case ARRIVE:
        on_loop(arrives, step);
        actors[step->member].acted = true;
        break;
    case DIE:
    case LEAVE:
    case DEPART:
        on_loop(goes, step);
        actors[step->member].acted = true;
        break;
    case LATE:
        bare_much_later(&server);
        break;
    case HOST_WELL:
    case HOST_BADLY:
        host_answers(answered_count++, step->act == HOST_WELL ? PMIX_SUCCESS : PMIX_ERROR);
        break;
    }
    listen();
}

/* ---- what must hold ------------------------------------------------------------------------- */

static unsigned unanswered(const struct actor *actor)
{
    unsigned count = 0;

    for (uint32_t op = 1; op <= actor->calls; op++) {
        count += actor->answers[op] == 0;
    }
    return count;
}

/* Return: whether all members have called, also what has failed alike behind it. */
static bool is_full(const struct sx_collective *one)
{
    size_t i = 0;

    while (i < one->members.count && !sx_collective_misses(one, &one->members.all[i])) {
        i++;
    }
    return i == one->members.count;
}

static void ends_act(const void *arg)
{
    (void)arg;
    while (!sx_list_empty(&server.collective.ends)) {
        sx_collective_client_looks(&server, SX_LIST_ENTRY(server.collective.ends.next,
                                                          struct sx_client, ending));
    }
}

/* Nobody waits for what has happened already. */
static void look(void)
{
    unsigned waiting = 0, want = 0;

    on_loop(ends_act, NULL);
    listen();

    SX_LIST_EACH(it, &server.collective.all) {
        const struct sx_collective *one = SX_LIST_ENTRY(it, struct sx_collective, link);
        const bool full = is_full(one);

        MUST(one->members.arrived_count > 0);
        /* Full: the host has it, or one before it. */
        MUST(!full || one->with_host || answered_count < asked_count);
        MUST(full || !one->with_host || one->is_failed); /* its failure is for the other nodes */
        MUST(!one->is_owed || (one->is_over && !full));
        for (size_t i = 0; i < one->members.count && !one->is_over; i++) {
            waiting += one->members.all[i].arrived &&
                       one->members.all[i].client->state == SX_CLIENT_CONNECTED;
        }
    }
    for (uint32_t m = 0; m < scene.members; m++) {
        want += actors[m].client->state == SX_CLIENT_CONNECTED ? unanswered(&actors[m]) : 0;
    }
    MUST(waiting == want);
}

/* All others end, and the host answers what it still has, each twice: the one that is left has had
 * its answers.  When it has died as well, nothing is left. */
static void all_end(void)
{
    uint8_t last = MEMBERS_MAX;

    for (uint8_t m = 0; m < scene.members; m++) {
        if (actors[m].client->state == SX_CLIENT_FINALIZED) {
            play(&(struct step){ .act = DEPART, .member = m });
        } else if (actors[m].client->state == SX_CLIENT_CONNECTED) {
            if (last < MEMBERS_MAX) {
                play(&(struct step){ .act = DIE, .member = last });
            }
            last = m;
        }
    }
    while (answered_count < asked_count) {
        play(&(struct step){ .act = HOST_BADLY });
    }
    on_loop(ends_act, NULL);
    while (answered_count < asked_count) {
        play(&(struct step){ .act = HOST_BADLY });
    }
    for (unsigned i = 0; i < asked_count; i++) {
        host_answers(i, PMIX_SUCCESS);
    }
    listen();
    if (last < MEMBERS_MAX) {
        MUST(unanswered(&actors[last]) == 0);
        play(&(struct step){ .act = DIE, .member = last });
        on_loop(ends_act, NULL);
    }
    MUST(sx_list_empty(&server.collective.all) && server.collective.open_count == 0);
    MUST(server.collective.signatures.count == 0 && server.collective.owed.count == 0);
    MUST(server.memberships.names.count == 0 && server.collective.connects.count == 0);
    for (uint32_t m = 0; m < scene.members; m++) {
        const struct sx_client *const client = actors[m].client;

        MUST(client->pending_counts[SX_PENDING_ARRIVAL] == 0);
        MUST(client->pending_bytes[SX_PENDING_ARRIVAL] == 0);
        MUST(client->reference_count == 1);
    }
}

/* ---- all orders ----------------------------------------------------------------------------- */

static unsigned happened(enum act from, enum act to)
{
    unsigned count = 0;

    for (unsigned i = 0; i < step_count; i++) {
        count += steps[i].act >= from && steps[i].act <= to;
    }
    return count;
}

/* Members are the same until they act: of those that have not, the first one does. */
static bool is_first_of_its_like(uint32_t member)
{
    return actors[member].acted || member == 0 || actors[member - 1].acted;
}

/* What may come next, in a state that has been played.  Return: how many. */
static unsigned choices(struct step *ret)
{
    const bool ends = happened(DIE, LEAVE) < scene.ends_max;
    unsigned count = 0;

    for (uint8_t m = 0; m < scene.members; m++) {
        const struct sx_client *const client = actors[m].client;

        if (client->state == SX_CLIENT_FINALIZED) {
            ret[count++] = (struct step){ .act = DEPART, .member = m };
        }
        if (client->state != SX_CLIENT_CONNECTED || !is_first_of_its_like(m)) {
            continue;
        }
        if (actors[m].calls < scene.calls) {
            ret[count++] = (struct step){ .act = ARRIVE, .member = m };
        }
        if (ends) {
            ret[count++] = (struct step){ .act = DIE, .member = m };
            ret[count++] = (struct step){ .act = LEAVE, .member = m };
        }
    }
    if (happened(LATE, LATE) < scene.late_max && !sx_list_empty(&server.collective.all)) {
        ret[count++] = (struct step){ .act = LATE };
    }
    if (answered_count < asked_count) {
        ret[count++] = (struct step){ .act = HOST_WELL };
        ret[count++] = (struct step){ .act = HOST_BADLY };
    }
    return count;
}

static void go_on(const struct step *played, unsigned count)
{
    struct step next[STEPS_MAX + 1], more[3 * MEMBERS_MAX + 3];

    rewind_all();
    connect_first();
    for (unsigned i = 0; i < count; i++) {
        steps[step_count++] = played[i];
        play(&played[i]);
    }
    look();
    const unsigned choice_count = choices(more);

    all_end();
    order_count++;
    cr_assert(count < STEPS_MAX);
    if (count > 0) {
        memcpy(next, played, count * sizeof(*next));
    }
    for (unsigned i = 0; i < choice_count; i++) {
        next[count] = more[i];
        go_on(next, count + 1);
    }
}

static void all_orders(const struct scene *of)
{
    scene = *of;
    order_count = 0;
    go_on(steps, 0);
    cr_log_info("%s, %u members, %u calls, host %d, pardons %u: %llu orders",
                sx_collective_name(scene.kind), scene.members, scene.calls, (int)scene.host,
                scene.pardons, (unsigned long long)order_count);
}

#define FENCE SX_COLLECTIVE_FENCE
#define CONNECT SX_COLLECTIVE_CONNECT
#define DISCONNECT SX_COLLECTIVE_DISCONNECT

Test(collective_orders, of_a_fence_on_one_node_answer_everybody_once)
{
    all_orders(&(struct scene){ FENCE, 0, 2, 2, HOST_NONE, 2, 2 });
    all_orders(&(struct scene){ FENCE, 0, 3, 2, HOST_NONE, 2, 1 });
    all_orders(&(struct scene){ FENCE, 0, 4, 2, HOST_NONE, 1, 0 });
}

Test(collective_orders, of_a_fence_with_other_nodes_answer_everybody_once)
{
    static const enum host hosts[] = { HOST_LATER, HOST_INSIDE, HOST_REFUSES };

    for (size_t i = 0; i < SX_COUNT(hosts); i++) {
        all_orders(&(struct scene){ FENCE, 0, 2, 2, hosts[i], 1, 1 });
        all_orders(&(struct scene){ FENCE, 0, 3, 2, hosts[i], 1, 0 });
    }
}

Test(collective_orders, of_a_connect_answer_everybody_once)
{
    for (uint8_t pardons = 0; pardons <= (SX_PARDON_BEFORE | SX_PARDON_AFTER); pardons++) {
        all_orders(&(struct scene){ CONNECT, pardons, 2, 2, HOST_NONE, 2, 1 });
        all_orders(&(struct scene){ CONNECT, pardons, 3, 2, HOST_NONE, 1, 1 });
        all_orders(&(struct scene){ CONNECT, pardons, 4, 1, HOST_NONE, 2, 1 });
    }
    all_orders(&(struct scene){ CONNECT, 0, 4, 2, HOST_NONE, 1, 0 });
}

Test(collective_orders, of_a_disconnect_answer_everybody_once)
{
    all_orders(&(struct scene){ DISCONNECT, 0, 2, 2, HOST_NONE, 2, 1 });
    all_orders(&(struct scene){ DISCONNECT, 0, 3, 2, HOST_NONE, 1, 1 });
    all_orders(&(struct scene){ DISCONNECT, 0, 4, 2, HOST_NONE, 1, 0 });
}

Test(collective_orders, of_members_whose_ends_are_acted_on_late_answer_everybody_once)
{
    static const uint32_t kinds[] = { FENCE, CONNECT, DISCONNECT };

    acts_late = true;
    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        all_orders(&(struct scene){ kinds[i], 0, 2, 2, HOST_NONE, 2, 1 });
        all_orders(&(struct scene){ kinds[i], 0, 3, 1, HOST_NONE, 2, 0 });
    }
    for (uint8_t pardons = 1; pardons <= (SX_PARDON_BEFORE | SX_PARDON_AFTER); pardons++) {
        all_orders(&(struct scene){ CONNECT, pardons, 2, 2, HOST_NONE, 2, 1 });
        all_orders(&(struct scene){ CONNECT, pardons, 3, 1, HOST_NONE, 2, 0 });
    }
    acts_late = false;
}

/* ---- how they end --------------------------------------------------------------------------- */

#define WAITS 1 /* no status of PMIx */
#define LOST PMIX_ERR_LOST_CONNECTION
#define UNSAID PMIX_ERR_PROC_TERM_WO_SYNC
#define PARTIAL PMIX_ERR_PARTIAL_SUCCESS
#define TWICE PMIX_ERR_INVALID_OPERATION

/* Members 0 to 2 are A, B and C; in capitals they arrive (with the id that a digit behind it says;
 * "?": it pardons nobody), in small letters they end: "b+" dies, "b-" says good-bye, "b." departs
 * behind it.  "!" is late.
 * What is wanted is how each call ended, in the order of the calls. */
static const struct {
    const char *why;
    uint32_t kind;
    uint8_t pardons;
    uint32_t members;
    const char *steps;
    pmix_status_t want[4];
} endings[] = {
    { "all", FENCE, 0, 2, "AB", { 0, 0 } },
    { "one has not called and dies", FENCE, 0, 2, "Ab+", { LOST } },
    { "one has not called and leaves", FENCE, 0, 2, "Ab-", { WAITS } },
    { "one has not called and departs", FENCE, 0, 2, "Ab-b.", { PARTIAL } },
    { "one has called and dies", FENCE, 0, 3, "ABb+C", { 0, WAITS, 0 } },
    { "one has called and leaves", FENCE, 0, 3, "ABb-C", { 0, WAITS, 0 } },
    { "one has called and departs", FENCE, 0, 3, "ABb-b.C", { 0, WAITS, 0 } },
    { "all that had called leave", FENCE, 0, 2, "Aa-B", { WAITS, 0 } },
    { "all that had called depart", FENCE, 0, 2, "Aa-a.B", { WAITS, PARTIAL } },
    { "one was dead before", FENCE, 0, 2, "b+A", { LOST } },
    { "one had departed before", FENCE, 0, 2, "b-b.A", { PARTIAL } },
    { "CN41, CN42: a time limit, and again", FENCE, 0, 2, "A!AB", { PMIX_ERR_TIMEOUT, 0, 0 } },
    { "CN43, X21: a late caller meets the retry", FENCE, 0, 2, "A!BA", { PMIX_ERR_TIMEOUT, 0, 0 } },
    { "X21: a late caller has a limit of its own",
      FENCE,
      0,
      2,
      "A!B!",
      { PMIX_ERR_TIMEOUT, PMIX_ERR_TIMEOUT } },

    { "CN1", CONNECT, 0, 3, "ABC", { 0, 0, 0 } },
    { "CN34: killed before its call", CONNECT, 0, 3, "ABc+", { LOST, LOST } },
    { "CN34, X22: finalized before its call", CONNECT, 0, 3, "ABc-", { UNSAID, UNSAID } },
    { "CN34: killed before all calls", CONNECT, 0, 2, "b+A", { LOST } },
    { "X22: finalized before all calls", CONNECT, 0, 2, "b-A", { UNSAID } },
    { "CN35: that is allowed", CONNECT, SX_PARDON_BEFORE, 3, "ABc+", { 0, 0 } },
    { "CN35: that is allowed", CONNECT, SX_PARDON_BEFORE, 3, "Ac-B", { 0, 0 } },
    { "CN35: that is allowed", CONNECT, SX_PARDON_BEFORE, 2, "b+A", { 0 } },
    { "CN35: when anybody says so", CONNECT, SX_PARDON_BEFORE, 3, "A?Bc+", { 0, 0 } },
    { "CN38: killed behind its call", CONNECT, 0, 3, "ABb+", { LOST, WAITS } },
    { "CN38: finalized behind its call", CONNECT, 0, 3, "ABb-", { UNSAID, WAITS } },
    { "CN38: optional is something else", CONNECT, SX_PARDON_BEFORE, 3, "ABb+", { LOST, WAITS } },
    { "CN36: that is allowed", CONNECT, SX_PARDON_AFTER, 3, "ABb+C", { 0, WAITS, 0 } },
    { "CN36: that is allowed", CONNECT, SX_PARDON_AFTER, 3, "ABb-C", { 0, WAITS, 0 } },
    { "CN36: before its call it is not", CONNECT, SX_PARDON_AFTER, 3, "ABc+", { LOST, LOST } },
    { "CN8: the same processes twice", CONNECT, 0, 2, "AABB", { 0, 0, 0, 0 } },
    { "CN9: two ids are two operations", CONNECT, 0, 2, "A1B2A2B1", { 0, 0, 0, 0 } },
    { "CN10: without an id it is another", CONNECT, 0, 2, "A1BA", { WAITS, 0, 0 } },
    { "CN41, CN42, CN43", CONNECT, 0, 2, "A!BA", { PMIX_ERR_TIMEOUT, 0, 0 } },

    { "CN51", DISCONNECT, 0, 3, "ABC", { 0, 0, 0 } },
    { "killed before its call", DISCONNECT, 0, 3, "ABc+", { LOST, LOST } },
    { "CN38: finalized before its call", DISCONNECT, 0, 3, "ABc-", { UNSAID, UNSAID } },
    { "killed behind its call", DISCONNECT, 0, 3, "ABb+C", { 0, WAITS, 0 } },
    { "finalized behind its call", DISCONNECT, 0, 3, "ABb-C", { 0, WAITS, 0 } },
    { "CN54: twice, before the others", DISCONNECT, 0, 2, "AAB", { 0, TWICE, 0 } },
    { "CN54: twice, behind the others", DISCONNECT, 0, 2, "ABA", { 0, 0, TWICE } },
    { "without the one that was killed, again", DISCONNECT, 0, 2, "Ab+A", { LOST, 0 } },
    { "without the one that has finalized", DISCONNECT, 0, 2, "b-A", { 0 } },
    { "after a time limit, again", DISCONNECT, 0, 2, "A!AB", { PMIX_ERR_TIMEOUT, 0, 0 } },
};

/* Return: the step at *at, which moves on. */
static struct step step_read(const char **at)
{
    static const char ids[3][2] = { "", "1", "2" };
    const char name = *(*at)++;

    if (name == '!') {
        return (struct step){ .act = LATE };
    }
    if (name >= 'a') {
        const char way = *(*at)++;

        return (struct step){ .act = way == '+'   ? DIE
                                     : way == '-' ? LEAVE
                                                  : DEPART,
                              .member = (uint8_t)(name - 'a') };
    }
    struct step step = { .act = ARRIVE, .member = (uint8_t)(name - 'A') };

    if (**at == '1' || **at == '2') {
        step.id = ids[*(*at)++ - '0'];
    } else if (**at == '?') {
        step.strict = true;
        (*at)++;
    }
    return step;
}

Test(collective_orders, end_as_their_kind_says)
{
    for (size_t i = 0; i < SX_COUNT(endings); i++) {
        struct {
            uint8_t member;
            uint32_t op;
        } calls[4];
        unsigned call_count = 0;

        scene = (struct scene){ .kind = endings[i].kind,
                                .pardons = endings[i].pardons,
                                .members = endings[i].members,
                                .late_max = 2 };
        rewind_all();
        connect_first();
        for (const char *at = endings[i].steps; *at != '\0';) {
            const struct step step = step_read(&at);

            steps[step_count++] = step;
            play(&step);
            if (step.act == ARRIVE) {
                calls[call_count].member = step.member;
                calls[call_count++].op = actors[step.member].calls;
            }
        }
        look();
        for (unsigned c = 0; c < call_count; c++) {
            const struct actor *const actor = &actors[calls[c].member];
            const pmix_status_t got = actor->answers[calls[c].op] == 0
                                          ? WAITS
                                          : actor->statuses[calls[c].op];

            cr_expect_eq(got, endings[i].want[c], "%s: %s: call %u ends with %d, not %d",
                         endings[i].why, order_notified(), c, got, endings[i].want[c]);
        }
        all_end();
    }
}
