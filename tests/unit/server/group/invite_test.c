/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_test.c - every sequence of what can happen to an invitation, beside a model of it that is
 * a few lines: what each caller is answered, and what is left.  GR63 GR64 */
#include "server/group/group.h"

#include <stdio.h>
#include <stdlib.h>

#include "../answers.h"
#include "../bare_events.h"
#include "../opened.h"
#include "base/clock.h"
#include "base/message/payloads.h"
#include "server/group/invitation.h"
#include "server/group/leader_failover.h"

#define GUESTS 2
#define INVITER GUESTS
#define STRANGER (GUESTS + 1)
#define PROCS (GUESTS + 2)
#define DEPTH 4
#define REPLIES_MAX 8

static struct sx_server server;
static struct sx_client *clients[PROCS];
static struct answers answers[PROCS];

static void begin(void)
{
    setenv("SHMIX_LOG", "none", 1); /* much is refused */
    bare_events_init(&server);
    struct sx_nspace *const job = bare_job(&server, "job", PROCS, PROCS);

    for (uint32_t i = 0; i < PROCS; i++) {
        clients[i] = bare_connect(&server, job, i);
        answers_begin(&answers[i], &server, clients[i]);
    }
}

static void end(void)
{
    for (uint32_t i = 0; i < PROCS; i++) {
        cr_expect_eq(clients[i]->reference_count, 1);
        cr_expect_eq(clients[i]->pending_counts[SX_PENDING_INVITE], 0);
        cr_expect_eq(clients[i]->pending_bytes[SX_PENDING_INVITE], 0);
        cr_expect(sx_list_empty(&clients[i]->guests));
        answers_end(&answers[i], clients[i]);
    }
    cr_expect_eq(server.group.invitations.count, 0);
    cr_expect_eq(server.group.guests.count, 0);
    sx_invites_deinit(&server);
    sx_pendings_deinit(&server);
    bare_events_deinit(&server);
}

TestSuite(invite, .init = begin, .fini = end);

/* ---- what clients send
 * ------------------------------------------------------------------------ */

static uint32_t id_last;
static uint32_t inviter_receives, guests_receive; /* SX_HEARS_* */
static uint64_t limit_ns = 1;                     /* of the inviter */

static void send_invite(uint32_t by, const char *group, const uint32_t ranks[], uint32_t count)
{
    _Alignas(8) uint8_t bytes[sizeof(struct sx_group_invite) + PROCS * 16] = { 0 };
    const struct sx_group_invite head = { .timeout_ns = limit_ns,
                                          .proc_count = count,
                                          .receives = inviter_receives };
    size_t size = sizeof(head);

    memcpy(bytes, &head, sizeof(head));
    snprintf((char *)bytes + offsetof(struct sx_group_invite, group), sizeof(head.group), "%s",
             group);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t proc[2] = { ranks[i], 3 };

        memcpy(bytes + size, proc, sizeof(proc));
        memcpy(bytes + size + sizeof(proc), "job", 3);
        size += 16;
    }
    struct sx_frame frame = opened_frame(SX_MSG_GROUP_INVITE, ++id_last, bytes, size);

    cr_assert(sx_invite_on_invite(&server, clients[by], &frame, 0));
}

static void send_join(uint32_t by, const char *group, bool accepts, uint32_t leader)
{
    struct sx_group_join join = { .accepts = accepts,
                                  .receives = guests_receive,
                                  .leader_rank = leader,
                                  .leader_nspace = "job" };

    snprintf(join.group, sizeof(join.group), "%s", group);
    struct sx_frame frame = opened_frame(SX_MSG_GROUP_JOIN, ++id_last, &join, sizeof(join));

    cr_assert(sx_invite_on_join(&server, clients[by], &frame, 0));
}

static void send_word(uint32_t by, const char *group, uint64_t question, uint32_t word)
{
    struct sx_group_said said = { .question = question, .word = word };
    struct sx_invitation *const invitation = sx_invitation_next(&server, group, NULL);

    if (invitation != NULL) {
        sx_invite_receive(&server, invitation, clients[by], &said);
    }
}

/* ---- the model
 * -------------------------------------------------------------------------------- */

enum happening {
    ACCEPT, /* of guest 0, as the next two; behind them of guest 1 */
    DECLINE,
    DEATH,
    LEADER_DEATH = GUESTS * (DEATH + 1),
    TIME,         /* all limits pass */
    INVITE_AGAIN, /* both guests, by the same inviter */
    STEAL,        /* an invitation to the same group by the stranger */
    STRANGE_JOIN,
    WRONG_LEADER, /* guest 0 joins, but not whom it says */
    UNASKED,      /* with the wrong number; or, to the last question, a guest */
    SETTLE,       /* the inviter has nothing to say to the last question about guest 0, or 1 */
    ABORT = SETTLE + GUESTS,
    LEAD = ABORT + GUESTS, /* guest 0, or 1, leads instead of an inviter who has ended ... */
    MUTE = LEAD + GUESTS,  /* ... or has nothing to say to that */
    HAPPENINGS = MUTE + GUESTS,
    HAPPENINGS_LED = LEAD,     /* when no guest hears anything */
    HAPPENINGS_DEAF = UNASKED, /* when the inviter hears nothing */
};

#define NOBODY PROCS

struct model {
    bool is_open, is_group;
    uint32_t leader;       /* NOBODY: one is sought */
    bool may_lead[GUESTS]; /* it is waited for */
    enum sx_guest_state guests[GUESTS];
    bool asked[GUESTS];                 /* the inviter, what it says to that */
    uint32_t waits[PROCS][REPLIES_MAX]; /* requests that are not answered */
    size_t wait_counts[PROCS];
    struct {
        uint32_t id;
        pmix_status_t status;
    } replies[PROCS][REPLIES_MAX];
    size_t reply_counts[PROCS];
};

static void model_reply(struct model *model, uint32_t to, uint32_t id, pmix_status_t status)
{
    model->replies[to][model->reply_counts[to]].id = id;
    model->replies[to][model->reply_counts[to]++].status = status;
}

static void model_wait(struct model *model, uint32_t who)
{
    model->waits[who][model->wait_counts[who]++] = id_last + 1;
}

static void model_end(struct model *model, pmix_status_t status)
{
    model->is_open = false;
    model->is_group = status == PMIX_SUCCESS;
    for (uint32_t who = 0; who < PROCS; who++) {
        for (size_t i = 0; i < model->wait_counts[who]; i++) {
            model_reply(model, who, model->waits[who][i], status);
        }
        model->wait_counts[who] = 0;
    }
}

static size_t model_count(const struct model *model, enum sx_guest_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < GUESTS; i++) {
        count += model->guests[i] == state;
    }
    return count;
}

static void model_judge(struct model *model)
{
    const size_t members = model_count(model, SX_GUEST_ACCEPTED) + (model->leader == INVITER);

    if (model->is_open && model->leader != NOBODY && model_count(model, SX_GUEST_ASKED) == 0 &&
        !model->asked[0] && !model->asked[1]) {
        model_end(model, members > 1                                 ? PMIX_SUCCESS
                         : model_count(model, SX_GUEST_DECLINED) > 0 ? PMIX_GROUP_INVITE_DECLINED
                                                                     : PMIX_GROUP_INVITE_FAILED);
    }
}

static void model_answer(struct model *model, uint32_t guest, bool accepts)
{
    if (!model->is_open || model->guests[guest] != SX_GUEST_ASKED) {
        model_reply(model, guest, id_last + 1,
                    model->is_open ? PMIX_ERR_INVALID_OPERATION : PMIX_ERR_NOT_FOUND);
        return;
    }
    model->guests[guest] = accepts ? SX_GUEST_ACCEPTED : SX_GUEST_DECLINED;
    model->asked[guest] = inviter_receives != 0;
    if (accepts) {
        model_wait(model, guest);
    } else {
        model_reply(model, guest, id_last + 1, PMIX_SUCCESS);
    }
    model_judge(model);
}

/* A leader is sought. */
static void model_seek(struct model *model)
{
    model->leader = NOBODY;
    if (!model->may_lead[0] && !model->may_lead[1]) {
        model_end(model, PMIX_GROUP_LEADER_FAILED);
    }
}

static void model_lose_leader(struct model *model)
{
    for (size_t i = 0; i < GUESTS; i++) {
        model->may_lead[i] = guests_receive != 0 && model->guests[i] == SX_GUEST_ACCEPTED;
    }
    model_seek(model);
}

/* Its connection lasts, here, so that it hears how its call ends. */
static void model_die(struct model *model, uint32_t guest)
{
    if (model->is_open && model->leader == guest) {
        model->guests[guest] = SX_GUEST_LOST;
        model_lose_leader(model);
    } else if (model->is_open && model->guests[guest] != SX_GUEST_DECLINED) {
        if (model->guests[guest] != SX_GUEST_LOST) {
            model->asked[guest] = inviter_receives != 0;
        }
        model->guests[guest] = SX_GUEST_LOST;
        model->may_lead[guest] = false;
        if (model->leader == NOBODY) {
            model_seek(model);
        }
        model_judge(model);
    }
}

static void model_lead(struct model *model, uint32_t guest, bool leads)
{
    if (!model->is_open || model->leader != NOBODY || model->guests[guest] != SX_GUEST_ACCEPTED) {
        return;
    }
    if (leads) {
        model->leader = guest;
        model->asked[guest] = false;
        model_judge(model);
    } else {
        model->may_lead[guest] = false;
        model_seek(model);
    }
}

static void model_invite(struct model *model)
{
    for (size_t i = 0; i < GUESTS; i++) {
        model->asked[i] &= model->is_open;
        if (!model->is_open || model->guests[i] != SX_GUEST_ACCEPTED) {
            model->guests[i] = SX_GUEST_ASKED;
        }
    }
    model->leader = INVITER;
    model->is_open = true;
    model_wait(model, INVITER);
}

/* ---- both
 * ------------------------------------------------------------------------------------- */

static const uint32_t both[] = { 0, 1 };

/* What was asked last about @guest, or 0. */
static uint64_t question_about(const char *name, uint32_t guest)
{
    const struct sx_invitation *const invitation = sx_invitation_next(&server, name, NULL);

    return invitation != NULL ? sx_invitation_guest(&server, invitation, clients[guest])->question
                              : 0;
}

static void inviter_says(struct model *model, uint32_t guest, bool aborts, const char *name)
{
    const uint64_t question = question_about(name, guest);
    const uint32_t leader = model->leader;

    if (!model->is_open || leader == NOBODY) {
        return;
    }
    if (model->asked[guest] && aborts) {
        model_end(model, PMIX_GROUP_CONSTRUCT_ABORT);
    } else if (model->asked[guest]) {
        model->asked[guest] = false;
        model_judge(model);
    }
    send_word(leader, name, question, aborts ? SX_GROUP_ABORTS : SX_GROUP_SAYS_NOTHING);
}

static void guest_says(struct model *model, uint32_t guest, bool leads, const char *name)
{
    const struct sx_invitation *const invitation = sx_invitation_next(&server, name, NULL);
    const struct sx_group_lead *const lead = invitation != NULL ? invitation->lead : NULL;

    model_lead(model, guest, leads);
    send_word(guest, name, lead != NULL ? lead->questions[0].number : 0,
              leads ? SX_GROUP_LEADS : SX_GROUP_SAYS_NOTHING);
}

static void happens_to_all(struct model *model, enum happening what, const char *name)
{
    switch (what) {
    case LEADER_DEATH:
        if (model->is_open && model->leader == INVITER) {
            model_lose_leader(model);
        }
        sx_invite_client_gone(&server, clients[INVITER]);
        break;
    case TIME:
        if (model->is_open) {
            model_end(model, PMIX_ERR_TIMEOUT);
        }
        bare_much_later(&server);
        break;
    case INVITE_AGAIN:
        if (model->is_group || (model->is_open && model->leader != INVITER)) {
            model_reply(model, INVITER, id_last + 1, PMIX_ERR_EXISTS);
        } else {
            model_invite(model);
        }
        send_invite(INVITER, name, both, 2);
        break;
    case STEAL:
        if (model->is_open || model->is_group) {
            model_reply(model, STRANGER, id_last + 1, PMIX_ERR_EXISTS);
            send_invite(STRANGER, name, both, 2);
        }
        break;
    case STRANGE_JOIN:
        model_reply(model, STRANGER, id_last + 1, PMIX_ERR_NOT_FOUND);
        send_join(STRANGER, name, true, INVITER);
        break;
    case UNASKED:
        send_word(0, name, question_about(name, 0), SX_GROUP_ABORTS);
        send_word(INVITER, name, UINT64_MAX, SX_GROUP_ABORTS);
        break;
    case WRONG_LEADER:
        model_reply(model, 0, id_last + 1,
                    !model->is_open                      ? PMIX_ERR_NOT_FOUND
                    : model->guests[0] != SX_GUEST_ASKED ? PMIX_ERR_INVALID_OPERATION
                                                         : PMIX_ERR_BAD_PARAM);
        send_join(0, name, true, STRANGER);
        break;
    default:
        if (what >= LEAD) {
            guest_says(model, (what - LEAD) % GUESTS, what < MUTE, name);
        } else {
            inviter_says(model, (what - SETTLE) % GUESTS, what >= ABORT, name);
        }
        break;
    }
}

static void happens(struct model *model, enum happening what, const char *name)
{
    const uint32_t guest = what / (DEATH + 1);

    if (what >= LEADER_DEATH) {
        happens_to_all(model, what, name);
    } else if (what % (DEATH + 1) == DEATH) {
        model_die(model, guest);
        sx_invite_client_gone(&server, clients[guest]);
    } else {
        model_answer(model, guest, what % (DEATH + 1) == ACCEPT);
        send_join(guest, name, what % (DEATH + 1) == ACCEPT, INVITER);
    }
}

static void replies_compare(struct model *model, const char *name)
{
    for (uint32_t who = 0; who < PROCS; who++) {
        for (size_t i = 0; i < model->reply_counts[who]; i++) {
            cr_assert_eq(answers_next(&answers[who], model->replies[who][i].id),
                         model->replies[who][i].status, "%s: %u", name, who);
        }
        cr_assert(answers_none(&answers[who]), "%s: %u", name, who);
        model->reply_counts[who] = 0;
    }
}

static void group_compare(const struct model *model, const char *name)
{
    struct sx_membership_entry *const group = sx_memberships_find(&server, name);

    cr_assert_eq(group != NULL, model->is_group, "%s", name);
    cr_assert_eq(sx_invitation_next(&server, name, NULL) != NULL, model->is_open, "%s", name);
    for (uint32_t i = 0; group != NULL && i < GUESTS; i++) {
        cr_assert_eq(sx_membership_rank(&group->published, "job", i) != PMIX_RANK_INVALID,
                     model->guests[i] == SX_GUEST_ACCEPTED, "%s: %u", name, i);
    }
    cr_assert(group == NULL || sx_membership_rank(&group->published, "job", INVITER) ==
                                   (model->leader == INVITER ? 0 : PMIX_RANK_INVALID));
}

/* The loop has its turn, in which some are told that a leader is sought, or that there is none. */
static void turn(const char *name)
{
    for (int i = 0; i < 3; i++) {
        const struct sx_invitation *const invitation = sx_invitation_next(&server, name, NULL);

        if (invitation != NULL && invitation->lead != NULL) {
            struct sx_timer last = { .fn = bare_stop, .arg = server.loop };

            cr_assert_eq(sx_timer_add(server.loop, &last, sx_now_ns()), PMIX_SUCCESS);
            sx_loop_run(server.loop);
        }
    }
}

static void step(struct model *model, enum happening what, const char *name)
{
    happens(model, what, name);
    turn(name);
    replies_compare(model, name);
    group_compare(model, name);
}

static void shares_renew(void)
{
    for (uint32_t i = 0; i < PROCS; i++) {
        sx_share_begin(&server, clients[i]);
    }
}

/* What comes first, and then everything of @base happenings. */
struct plan {
    uint32_t base, depth;
    enum happening first[3];
    size_t first_count;
};

/* One sequence: the digits of @number. */
static void run(const struct plan *plan, uint32_t number)
{
    struct model model = { .is_open = false };
    char name[64];
    int len = snprintf(name, sizeof(name), "group");

    for (uint32_t i = 0, rest = number; i < plan->depth; i++, rest /= plan->base) {
        len += snprintf(name + len, sizeof(name) - (size_t)len, ".%u", rest % plan->base);
    }
    shares_renew();
    model_invite(&model);
    send_invite(INVITER, name, both, 2);
    for (size_t i = 0; i < plan->first_count; i++) {
        step(&model, plan->first[i], name);
    }
    for (uint32_t i = 0, rest = number; i < plan->depth; i++, rest /= plan->base) {
        step(&model, (enum happening)(rest % plan->base), name);
    }
    if (model.is_group) {
        sx_group_end(&server, sx_memberships_find(&server, name));
        model.is_group = false;
    }
    step(&model, LEADER_DEATH, name);
    for (uint32_t guest = 0; guest < GUESTS; guest++) {
        step(&model, (enum happening)(guest * (DEATH + 1) + DEATH), name);
    }
    cr_assert_not(model.is_open);
}

static void run_all(const struct plan *plan)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < plan->depth; i++) {
        count *= plan->base;
    }
    for (uint32_t number = 0; number < count; number++) {
        run(plan, number);
    }
}

#define RECEIVES_NEWS (SX_RECEIVES_ACCEPTED | SX_RECEIVES_DECLINED | SX_RECEIVES_LOST)

Test(invite, ends_as_the_model_says_whatever_happens, .timeout = 120)
{
    run_all(&(struct plan){ .base = HAPPENINGS_DEAF, .depth = DEPTH });
}

Test(invite, waits_for_what_the_inviter_says, .timeout = 120)
{
    inviter_receives = RECEIVES_NEWS;
    run_all(&(struct plan){ .base = HAPPENINGS_LED, .depth = DEPTH });
}

Test(invite, has_another_leader_if_a_guest_says_so, .timeout = 120)
{
    inviter_receives = RECEIVES_NEWS;
    guests_receive = RECEIVES_NEWS | SX_RECEIVES_LEADERS;
    limit_ns = UINT64_MAX / 4; /* its time comes with TIME alone */
    run_all(&(struct plan){
        .base = HAPPENINGS, .depth = 3, .first = { ACCEPT, LEADER_DEATH }, .first_count = 2 });
    run_all(&(struct plan){ .base = HAPPENINGS,
                            .depth = 3,
                            .first = { ACCEPT, DEATH + 1 + ACCEPT, LEADER_DEATH },
                            .first_count = 3 });
}

Test(invite, waits_for_nothing_that_its_inviter_cannot_say)
{
    inviter_receives = SX_RECEIVES_DECLINED;
    send_invite(INVITER, "one", both, 2);
    const uint32_t first = id_last;

    send_join(0, "one", false, INVITER);
    send_join(1, "one", true, INVITER);
    cr_expect_not_null(sx_invitation_next(&server, "one", NULL));
    inviter_receives = 0; /* it waits inside the handler */
    send_invite(INVITER, "one", both, 2);
    send_join(0, "one", false, INVITER);
    cr_expect_eq(answers_next(&answers[INVITER], first), PMIX_SUCCESS);
    cr_expect_null(sx_invitation_next(&server, "one", NULL));
    sx_group_end(&server, sx_memberships_find(&server, "one"));
}

Test(invite, asks_its_inviter_again_what_it_has_lost)
{
    const struct sx_eventlog *const events = &clients[0]->nspace->events;

    inviter_receives = SX_RECEIVES_DECLINED;
    send_invite(INVITER, "one", both, 2);
    const uint32_t first = id_last;

    send_join(0, "one", false, INVITER);
    send_join(1, "one", false, INVITER);
    cr_assert_eq(events->newest, 3);
    const uint64_t lost = question_about("one", 0), had = question_about("one", 1);

    sx_invite_missed(&server, clients[INVITER], 1, 3);
    sx_invite_missed(&server, clients[0], 1, 4);
    cr_expect_eq(events->newest, 4);
    cr_expect_neq(question_about("one", 0), lost);
    cr_expect_eq(question_about("one", 1), had);
    send_word(INVITER, "one", had, SX_GROUP_SAYS_NOTHING);
    cr_expect_not_null(sx_invitation_next(&server, "one", NULL));
    send_word(INVITER, "one", question_about("one", 0), SX_GROUP_SAYS_NOTHING);
    cr_expect_eq(answers_next(&answers[INVITER], first), PMIX_GROUP_INVITE_DECLINED);
}

/* ---- what is left
 * ----------------------------------------------------------------------------- */

Test(invite, leaves_nothing_when_the_server_stops)
{
    send_invite(INVITER, "one", both, 2);
    send_invite(0, "two", both, 2);
    send_join(0, "one", true, INVITER);
    sx_invites_stop(&server);
    cr_expect_null(sx_invitation_next(&server, "one", NULL));
    for (uint32_t i = 0; i < PROCS; i++) {
        sx_pending_client_gone(&server, clients[i]);
    }
}

Test(invite, of_a_process_that_has_ended_fails_at_once)
{
    clients[0]->left = true;
    clients[1]->state = SX_CLIENT_DEAD;
    send_invite(INVITER, "one", both, 2);
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_GROUP_INVITE_FAILED);
    clients[1]->state = SX_CLIENT_CONNECTED;
}

/* Of the guests one is here, and hears nothing. */
Test(invite, with_a_guest_on_another_node_is_refused_at_once)
{
    static const uint32_t ranks[] = { 0, PROCS };

    clients[0]->nspace->job_size = PROCS + 1;
    send_invite(INVITER, "group", ranks, 2);
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_null(sx_invitation_next(&server, "group", NULL));
    cr_expect_eq(clients[0]->nspace->events.newest, 0);
    send_join(0, "group", true, INVITER);
    cr_expect_eq(answers_next(&answers[0], id_last), PMIX_ERR_NOT_FOUND);
}

/* ---- guests that the host registers later
 * ----------------------------------------------------- */

/* The host has announced @here processes of the job; INVITER invites two of them to come. */
static void invite_early(uint32_t here)
{
    static const uint32_t ranks[] = { PROCS, PROCS + 1 };

    clients[0]->nspace->job_size = PROCS + 3;
    clients[0]->nspace->local_count = here;
    send_invite(INVITER, "group", ranks, 2);
    cr_assert(answers_none(&answers[INVITER]));
    cr_assert_null(sx_invitation_next(&server, "group", NULL));
}

static struct sx_client *register_late(uint32_t rank)
{
    struct sx_client *const client = sx_client_add(clients[0]->nspace, rank);

    cr_assert_not_null(client);
    sx_invite_client_added(&server, client);
    return client;
}

Test(invite, waits_for_guests_that_the_host_has_announced)
{
    struct sx_client *late[2];

    invite_early(PROCS + 2);
    late[1] = register_late(PROCS + 1);
    cr_expect_null(sx_invitation_next(&server, "group", NULL));
    cr_expect_eq(clients[0]->nspace->events.newest, 0);
    late[0] = register_late(PROCS);
    cr_assert_not_null(sx_invitation_next(&server, "group", NULL));
    cr_expect_eq(clients[0]->nspace->events.newest, 1);
    cr_expect(sx_list_empty(&server.group.invite_early));
    for (int i = 0; i < 2; i++) {
        cr_expect_not(sx_list_empty(&late[i]->guests));
        sx_invite_client_gone(&server, late[i]);
    }
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_GROUP_INVITE_FAILED);
}

/* The last place is another one's: it is refused then. */
Test(invite, waits_for_nobody_of_another_node)
{
    invite_early(PROCS + 1);
    register_late(PROCS + 2);
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_ERR_NOT_SUPPORTED);
}

Test(invite, waits_for_guests_as_long_as_its_time_limit)
{
    invite_early(PROCS + 2);
    bare_much_later(&server);
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_ERR_TIMEOUT);
    cr_expect(sx_list_empty(&server.group.invite_early));
}

Test(invite, waits_for_guests_no_longer_than_their_job_or_its_caller)
{
    invite_early(PROCS + 2);
    sx_invite_nspace_gone(&server, clients[0]->nspace);
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_ERR_NOT_FOUND);
    invite_early(PROCS + 2);
    sx_pending_client_gone(&server, clients[INVITER]);
    cr_expect(sx_list_empty(&server.group.invite_early));
}

/* ---- bounds
 * ----------------------------------------------------------------------------------- */

Test(invite, is_refused_beyond_the_quota)
{
    char name[32];

    server.port.pending_max[SX_PENDING_INVITE] = 2;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "group.%d", i);
        send_invite(INVITER, name, both, 2);
    }
    cr_expect_eq(answers_next(&answers[INVITER], id_last), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_null(sx_invitation_next(&server, "group.2", NULL));
    for (int i = 0; i < 2; i++) { /* so is a guest's acceptance: it stays asked */
        snprintf(name, sizeof(name), "group.%d", i);
        send_join(0, name, true, INVITER);
    }
    send_invite(STRANGER, "group.2", both, 2);
    send_join(0, "group.2", true, STRANGER);
    cr_expect_eq(answers_next(&answers[0], id_last), PMIX_ERR_OUT_OF_RESOURCE);
    send_join(0, "group.2", false, STRANGER);
    cr_expect_eq(answers_next(&answers[0], id_last), PMIX_SUCCESS);
    sx_invite_client_gone(&server, clients[INVITER]);
    sx_invite_client_gone(&server, clients[STRANGER]);
}

/* ---- a guest of many groups ends --------------------------------------------------------------- */

#define EACH 500u /* groups of each of three that invite guest 0 */
#define ALL (3 * EACH)
#define LOSSES_A_TURN 1000u

static const uint32_t inviters[] = { 1, INVITER, STRANGER };

static void group_name(unsigned number, char name[32])
{
    snprintf(name, 32, "many.%u", number);
}

static void invite_many(void)
{
    static const uint32_t guest = 0;
    char name[32];

    limit_ns = UINT64_MAX / 4;
    for (unsigned i = 0; i < ALL; i++) {
        group_name(i, name);
        send_invite(inviters[i / EACH], name, &guest, 1);
    }
    cr_assert_eq(server.group.invitations.count, ALL);
}

static void guest_of_many_ends(void)
{
    invite_many();
    sx_invite_client_gone(&server, clients[0]);
    cr_expect_eq(server.group.invitations.count, ALL - LOSSES_A_TURN);
}

static void inviters_end(void)
{
    for (size_t i = 0; i < SX_COUNT(inviters); i++) {
        sx_pending_client_gone(&server, clients[inviters[i]]);
    }
}

/* The last group's inviter invites the next process of that rank, before it has been informed of
 * the end of this one. */
Test(invite, of_a_guest_of_many_groups_fail_a_thousand_a_turn)
{
    static const uint32_t guest = 0;
    char last[32], other[32];

    group_name(ALL - 1, last);
    group_name(ALL - 2, other);
    guest_of_many_ends();
    send_join(0, other, true, STRANGER); /* not its invitation */
    cr_expect_eq(answers_next(&answers[0], id_last), PMIX_ERR_INVALID_OPERATION);
    const struct sx_invitation *const open = sx_invitation_next(&server, last, NULL);

    cr_assert_not_null(open);
    cr_expect_eq(sx_invitation_verdict(open), PMIX_ERR_WOULD_BLOCK);
    const uint64_t events = clients[0]->nspace->events.newest;

    send_invite(STRANGER, last, &guest, 1);
    cr_expect_eq(clients[0]->nspace->events.newest, events + 2, "it is lost, and invited");
    bare_call(&server, NULL, NULL);
    cr_expect_eq(server.group.invitations.count, 1);
    cr_expect_eq(clients[0]->nspace->events.newest, events + 2 + ALL - LOSSES_A_TURN - 1,
                 "each is lost once");
    cr_expect_eq(sx_invitation_guest(&server, open, clients[0])->state, SX_GUEST_ASKED);
    sx_invite_client_gone(&server, clients[0]);
    bare_call(&server, NULL, NULL);
    inviters_end();
}

Test(invite, of_a_guest_of_many_groups_fail_before_it_has_lost_its_name)
{
    guest_of_many_ends();
    sx_invite_client_removed(&server, clients[1]);
    cr_expect_eq(server.group.invitations.count, ALL - LOSSES_A_TURN);
    sx_invite_client_removed(&server, clients[0]);
    cr_expect_eq(server.group.invitations.count, 0);
    bare_call(&server, NULL, NULL);
    inviters_end();
}

Test(invite, of_a_guest_of_many_groups_end_with_the_server)
{
    guest_of_many_ends();
    sx_invites_stop(&server);
    cr_expect_eq(server.group.invitations.count, 0);
    bare_call(&server, NULL, NULL);
    inviters_end();
}

/* No guest is looked at when its process ends; but those with whom it is invited do not go on as if
 * it lived. */
Test(invite, waits_for_what_follows_from_ends_that_it_has_not_looked_at)
{
    char last[32];
    unsigned looked_at = 0;

    group_name(ALL - 1, last);
    invite_many();
    send_invite(STRANGER, last, both, 2);
    send_join(0, last, true, STRANGER);
    sx_invite_client_gone(&server, clients[0]);
    SX_LIST_EACH(it, &server.group.lost) {
        looked_at += SX_LIST_ENTRY(it, struct sx_guest, of_client)->is_lost;
    }
    cr_expect_eq(looked_at, 0);
    send_join(1, last, true, STRANGER);
    cr_expect_null(sx_memberships_find(&server, last), "a group with one that has ended");
    bare_call(&server, NULL, NULL);
    struct sx_membership_entry *const group = sx_memberships_find(&server, last);

    cr_assert_not_null(group);
    cr_expect_eq(sx_membership_size(&group->published), 2);
    cr_expect_eq(sx_membership_rank(&group->published, "job", 0), PMIX_RANK_INVALID);
    sx_group_end(&server, group);
    inviters_end();
}

/* ---- many questions are lost ------------------------------------------------------------------ */

#define ASKS_A_TURN 256u
#define LOST (3 * ASKS_A_TURN)

/* Guest 0 declines all of these, and the inviter has lost the questions about that. */
static void many_are_lost(void)
{
    const struct sx_eventlog *const events = &clients[0]->nspace->events;
    const uint32_t spent = clients[INVITER]->share.spent;
    static const uint32_t guest = 0;
    char name[32];

    limit_ns = UINT64_MAX / 4;
    inviter_receives = RECEIVES_NEWS;
    for (unsigned i = 0; i < LOST; i++) {
        group_name(i, name);
        send_invite(INVITER, name, &guest, 1);
        send_join(0, name, false, INVITER);
    }
    const uint64_t newest = events->newest;

    sx_invite_missed(&server, clients[INVITER], 1, newest + 1);
    cr_expect_eq(events->newest, newest + ASKS_A_TURN);
    cr_expect_geq(clients[INVITER]->share.spent - spent, LOST, "it pays for all");
    sx_invite_missed(&server, clients[INVITER], 1, newest + 1);
    cr_expect_eq(events->newest, newest + ASKS_A_TURN, "each is asked again once");
}

static void inviter_ends(void)
{
    sx_invite_client_gone(&server, clients[INVITER]);
    bare_call(&server, NULL, NULL);
    sx_pending_client_gone(&server, clients[INVITER]);
    cr_expect(sx_list_empty(&server.group.missed));
}

Test(invite, asks_its_inviter_again_in_steps_what_it_has_lost)
{
    char last[32];

    many_are_lost();
    const uint64_t newest = clients[0]->nspace->events.newest;

    group_name(LOST - 1, last);
    send_word(INVITER, last, question_about(last, 0), SX_GROUP_SAYS_NOTHING);
    cr_expect_not_null(sx_invitation_next(&server, last, NULL), "it is still to be asked");
    bare_call(&server, NULL, NULL);
    cr_expect_eq(clients[0]->nspace->events.newest, newest + LOST - ASKS_A_TURN);
    send_word(INVITER, last, question_about(last, 0), SX_GROUP_SAYS_NOTHING);
    cr_expect_null(sx_invitation_next(&server, last, NULL));
    inviter_ends();
}

/* The last group's guest is invited again before its inviter is asked again. */
Test(invite, asks_nothing_again_about_a_guest_that_is_invited_again)
{
    const struct sx_eventlog *const events = &clients[0]->nspace->events;
    static const uint32_t guest = 0;
    char last[32];

    many_are_lost();
    group_name(LOST - 1, last);
    send_invite(INVITER, last, &guest, 1);
    const uint64_t newest = events->newest;

    bare_call(&server, NULL, NULL);
    cr_expect_eq(events->newest, newest + LOST - ASKS_A_TURN - 1);
    cr_expect_eq(sx_invitation_next(&server, last, NULL)->awaited, 0);
    inviter_ends();
}

/* The job of the guest is removed before all questions about it are asked again. */
Test(invite, awaits_nothing_about_a_guest_whose_job_has_gone)
{
    struct sx_nspace *const job = clients[0]->nspace;

    many_are_lost();
    clients[0]->nspace = NULL;
    bare_call(&server, NULL, NULL);
    clients[0]->nspace = job;
    cr_expect_eq(server.group.invitations.count, ASKS_A_TURN);
    inviter_ends();
}

Test(invite, asks_nothing_again_when_its_inviter_has_gone)
{
    many_are_lost();
    const uint64_t newest = clients[0]->nspace->events.newest;

    inviter_ends();
    cr_expect_eq(clients[0]->nspace->events.newest, newest);
}

/* One that invites to many groups has left: nobody of them can lead. */
Test(invite, of_an_inviter_to_many_groups_fail_a_thousand_a_turn)
{
    static const uint32_t guest = 0;
    char name[32];

    limit_ns = UINT64_MAX / 4;
    server.port.pending_max[SX_PENDING_INVITE] = ALL + 1;
    for (unsigned i = 0; i < ALL; i++) {
        group_name(i, name);
        send_invite(INVITER, name, &guest, 1);
    }
    sx_invite_client_gone(&server, clients[INVITER]);
    cr_expect_eq(server.group.invitations.count, ALL - LOSSES_A_TURN);
    cr_expect_eq(clients[INVITER]->guests_lost, ALL - LOSSES_A_TURN);
    /* Its next process invites to one of them. */
    send_invite(INVITER, name, &guest, 1);
    cr_expect_eq(server.group.invitations.count, ALL - LOSSES_A_TURN);
    cr_assert_not_null(sx_invitation_next(&server, name, NULL));
    cr_expect_eq(sx_invitation_next(&server, name, NULL)->leaders.count, 1);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(server.group.invitations.count, 1);
    sx_invite_client_gone(&server, clients[INVITER]);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(clients[INVITER]->guests_lost, 0);
    sx_pending_client_gone(&server, clients[INVITER]);
}
