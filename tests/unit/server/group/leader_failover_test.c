/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leader_failover_test.c - members of a group that is being built end, and the others say anything
 * at all, in every order: nobody waits for somebody who cannot answer.  GR32 GR33 GR34 GR36 GR37
 * GR38 GR39 GR40 X11 */
#include "server/group/group.h"

#include <stdlib.h>

#include "../bare_events.h"
#include "base/message/payloads.h"
#include "server/collective/collective.h"
#include "server/group/group_construct.h"

#define SIZE 3u
#define STEPS 3u
#define RECEIVES_ALL (SX_RECEIVES_MEMBERS | SX_RECEIVES_LEADERS)
#define END PMIX_ERR_LOST_CONNECTION

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_client *clients[SIZE];
static char name[] = "group";

static void begin(void)
{
    bare_events_init(&server);
    sx_server_set(&server);
    job = bare_job(&server, "job", SIZE, SIZE);
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        clients[rank] = bare_connect(&server, job, rank);
    }
}

static void end(void)
{
    sx_server_set(NULL);
    bare_events_deinit(&server);
}

TestSuite(group_lead, .init = begin, .fini = end);

/* ---- a construct of all three ---------------------------------------------------------------- */

static struct sx_collective built;
static struct sx_group_plan *plan;
static struct sx_group_building building;
static bool is_over, is_notified; /* is_notified: that nobody leads */
static pmix_status_t ended;

static int by_address(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t)((const struct sx_member *)a)->client;
    const uintptr_t right = (uintptr_t)((const struct sx_member *)b)->client;

    return left < right ? -1 : left > right;
}

static void open_construct(uint8_t group)
{
    plan = calloc(1, sizeof(*plan));
    built = (struct sx_collective){ .id = name, .plan = plan, .group = group };
    built.members = (struct sx_members){ .server = &server, .count = SIZE, .capacity = SIZE };
    built.members.all = calloc(SIZE, sizeof(struct sx_member));
    for (uint32_t rank = 0; rank < SIZE; rank++) {
        built.members.all[rank].client = sx_client_retain(clients[rank]);
    }
    qsort(built.members.all, SIZE, sizeof(struct sx_member), by_address);
    for (uint32_t i = 0; i < SIZE; i++) {
        struct sx_member *const member = &built.members.all[i];

        member->members = &built.members;
        sx_list_append(&member->client->operations, &member->of_client);
    }
    is_over = is_notified = false;
}

static void over(pmix_status_t status)
{
    is_over = true;
    ended = status;
}

/* The last one who could answer has ended. */
static void decide(void *owner, const struct sx_group_verdict *verdict)
{
    cr_assert_eq(owner, &built);
    cr_assert(verdict->is_over && verdict->lost == NULL);
    cr_assert_eq(verdict->leader.rank, PMIX_RANK_INVALID);
    is_notified = verdict->is_choice;
    over(verdict->status);
}

static void close_construct(void)
{
    sx_group_plan_free(plan);
    sx_members_clear(&built.members);
}

static pmix_status_t arrive(uint32_t rank, uint8_t receives, bool leads)
{
    const struct sx_arrival arrival = { .receives = receives,
                                        .options.group = leads ? SX_GROUP_LEADER : 0 };
    struct sx_member *const member = sx_members_find(&built.members, clients[rank]);
    pmix_status_t rc = PMIX_SUCCESS;

    if (member != NULL && !member->arrived) {
        rc = sx_group_construct_join(&built, clients[rank], &arrival);
    }
    if (member != NULL && !member->arrived && rc == PMIX_SUCCESS) {
        sx_members_arrive(&built.members, member, 1, 0);
    }
    if (plan->lead.building != NULL) { /* no engine stops this one */
        building = (struct sx_group_building){ plan->lead.building->next, decide };
        plan->lead.building = &building;
    }
    return rc;
}

static void die(uint32_t rank)
{
    struct sx_member *const member = sx_members_find(&built.members, clients[rank]);
    const pmix_status_t rc = member != NULL ? sx_group_construct_lost(&built, member, END)
                                            : PMIX_SUCCESS;

    if (rc != PMIX_SUCCESS) {
        over(rc);
    }
}

/* Return: 0 when nobody is asked that. */
static uint64_t number_of(pmix_status_t code, uint32_t about)
{
    uint64_t number = 0;

    for (size_t i = 0; i < plan->lead.count; i++) {
        const struct sx_group_question *const question = &plan->lead.questions[i];

        number = question->code == code && question->proc.rank == about ? question->number : number;
    }
    return number;
}

static struct sx_group_verdict say_to(uint64_t number, uint32_t rank, uint32_t word)
{
    const struct sx_group_said said = { .group = "group", .question = number, .word = word };
    const struct sx_group_verdict verdict = sx_group_lead_receive(&plan->lead, clients[rank],
                                                                  &said);

    if (verdict.is_over) {
        over(verdict.status);
    } else if (verdict.lost != NULL) {
        sx_members_leave(&built.members, sx_members_find(&built.members, verdict.lost));
    }
    return verdict;
}

static struct sx_group_verdict say(uint32_t rank, pmix_status_t code, uint32_t about, uint32_t word)
{
    return say_to(number_of(code, about), rank, word);
}

/* ---- every order ----------------------------------------------------------------------------- */

static bool is_lost(const struct sx_client *client)
{
    bool lost = false;

    for (size_t i = 0; i < plan->lead.count; i++) {
        lost |= plan->lead.questions[i].lost == client;
    }
    return lost;
}

/* Some were asked, and all of them have ended: all hear so when the loop is next. */
static bool is_silent(void)
{
    bool silent = false;

    for (size_t i = 0; i < plan->lead.count; i++) {
        const struct sx_group_question *const question = &plan->lead.questions[i];

        silent |= question->code == PMIX_GROUP_LEADER_FAILED && question->asked_count == 0;
    }
    return silent;
}

static void expect_sound(void)
{
    const struct sx_group_lead *const lead = &plan->lead;
    bool seeks = false;

    for (size_t i = 0; i < lead->count; i++) {
        seeks |= lead->questions[i].code == PMIX_GROUP_LEADER_FAILED;
    }
    cr_assert(lead->leader == NULL || !is_lost(lead->leader));
    for (size_t i = 0; i < lead->count; i++) {
        const struct sx_group_question *const question = &lead->questions[i];
        const struct sx_member *const lost = sx_members_find(&built.members, question->lost);
        const bool waits = !seeks || question->code == PMIX_GROUP_LEADER_FAILED;

        cr_assert(lost != NULL && !lost->arrived, "it is awaited");
        cr_assert(!waits || question->asked_count > 0, "somebody can answer");
        for (size_t n = 0; n < question->asked_count; n++) {
            const struct sx_member *const asked = sx_members_find(&built.members,
                                                                  question->asked[n].client);

            cr_assert(asked != NULL && asked->arrived && !is_lost(asked->client));
        }
    }
}

/* Steps: die (3), come (3), and each word of each about each, by each code. */
#define DEATHS SIZE
#define COMES SIZE
#define WORDS (SIZE * SIZE * 4u * 2u)
#define CHOICES (DEATHS + COMES + WORDS)

static void step(uint32_t choice)
{
    if (choice < DEATHS) {
        die(choice);
    } else if (choice < DEATHS + COMES) {
        if (!is_lost(clients[choice - DEATHS])) {
            (void)arrive(choice - DEATHS, RECEIVES_ALL, false);
        }
    } else {
        const uint32_t word = choice - DEATHS - COMES;
        const uint32_t who = word % SIZE, about = word / SIZE % SIZE;

        (void)say(who,
                  word / (SIZE * SIZE) % 2 == 0 ? PMIX_GROUP_MEMBER_FAILED
                                                : PMIX_GROUP_LEADER_FAILED,
                  about, word / (SIZE * SIZE * 2));
    }
}

/* Two have come, of whom the first leads or not. */
static void play(uint8_t group, bool led, uint32_t order)
{
    open_construct(group);
    (void)arrive(0, RECEIVES_ALL, led);
    (void)arrive(1, RECEIVES_ALL, false);
    for (uint32_t i = 0; i < STEPS && !is_over; i++, order /= CHOICES) {
        step(order % CHOICES);
        if (!is_over && is_silent()) {
            bare_much_later(&server);
            cr_assert(is_over && is_notified);
        }
        if (is_over) {
            cr_assert(ended == END || ended == PMIX_GROUP_CONSTRUCT_ABORT);
        } else {
            expect_sound();
        }
    }
    close_construct();
}

Test(group_lead, waits_for_nobody_who_cannot_answer_in_any_order)
{
    for (uint32_t order = 0; order < CHOICES * CHOICES * CHOICES; order++) {
        if (order % CHOICES < DEATHS) { /* until somebody ends there is nothing to say */
            play(SX_GROUP_NOTIFY, false, order);
            play(SX_GROUP_LEADER, true, order);
        }
    }
}

/* ---- each answer ----------------------------------------------------------------------------- */

Test(group_lead, goes_on_or_ends_as_the_first_answer_says)
{
    static const struct {
        bool led;
        uint32_t dies, says, word;
        pmix_status_t code, want; /* PMIX_SUCCESS: it goes on; PMIX_ERR_EMPTY: it waits on */
    } rows[] = {
        { false, 2, 1, SX_GROUP_GOES_ON, PMIX_GROUP_MEMBER_FAILED, PMIX_SUCCESS },
        { false, 2, 1, SX_GROUP_ABORTS, PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_CONSTRUCT_ABORT },
        { false, 2, 1, SX_GROUP_LEADS, PMIX_GROUP_MEMBER_FAILED, PMIX_ERR_EMPTY },
        { false, 2, 1, SX_GROUP_SAYS_NOTHING, PMIX_GROUP_MEMBER_FAILED, PMIX_ERR_EMPTY },
        { false, 2, 1, SX_GROUP_ABORTS, PMIX_GROUP_LEADER_FAILED, PMIX_ERR_EMPTY },
        { false, 2, 2, SX_GROUP_GOES_ON, PMIX_GROUP_MEMBER_FAILED, PMIX_ERR_EMPTY },
        { true, 2, 0, SX_GROUP_GOES_ON, PMIX_GROUP_MEMBER_FAILED, PMIX_SUCCESS },
        { true, 2, 0, SX_GROUP_SAYS_NOTHING, PMIX_GROUP_MEMBER_FAILED, END },
        { true, 2, 1, SX_GROUP_ABORTS, PMIX_GROUP_MEMBER_FAILED, PMIX_ERR_EMPTY },
        { true, 0, 1, SX_GROUP_LEADS, PMIX_GROUP_LEADER_FAILED, PMIX_SUCCESS },
        { true, 0, 2, SX_GROUP_LEADS, PMIX_GROUP_LEADER_FAILED, PMIX_SUCCESS },
        { true, 0, 1, SX_GROUP_ABORTS, PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_CONSTRUCT_ABORT },
        { true, 0, 1, SX_GROUP_GOES_ON, PMIX_GROUP_LEADER_FAILED, END },
        { true, 0, 1, SX_GROUP_SAYS_NOTHING, PMIX_GROUP_LEADER_FAILED, END },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        open_construct(SX_GROUP_NOTIFY);
        cr_assert_eq(arrive(0, RECEIVES_ALL, rows[i].led), PMIX_SUCCESS);
        cr_assert_eq(arrive(1, RECEIVES_ALL, false), PMIX_SUCCESS);
        die(rows[i].dies);
        die(rows[i].dies); /* a good-bye, and then the end */
        cr_assert_not(is_over);
        const struct sx_group_verdict verdict = say(rows[i].says, rows[i].code, rows[i].dies,
                                                    rows[i].word);
        const pmix_status_t got = is_over                ? ended
                                  : verdict.lost != NULL ? PMIX_SUCCESS
                                                         : PMIX_ERR_EMPTY;

        cr_expect_eq(got, rows[i].want, "row %zu", i);
        cr_expect_eq(verdict.is_choice,
                     rows[i].code == PMIX_GROUP_LEADER_FAILED && rows[i].led &&
                         rows[i].word != SX_GROUP_ABORTS,
                     "row %zu", i);
        close_construct();
    }
}

Test(group_lead, ends_at_once_when_nobody_can_say_anything)
{
    open_construct(SX_GROUP_NOTIFY);
    (void)arrive(0, 0, false);
    die(2);
    cr_expect(is_over && ended == END, "no handler");
    close_construct();
    open_construct(0);
    (void)arrive(0, RECEIVES_ALL, false);
    die(2);
    cr_expect(is_over && ended == END, "nobody wants to be asked");
    close_construct();
}

/* Return: the newest event of the job. */
static const struct sx_event_block *newest(void)
{
    struct sx_eventlog_cursor cursor;

    sx_eventlog_seek(&cursor, &job->events, job->events.newest);
    const struct sx_event_entry *const entry = sx_eventlog_next(&cursor);

    cr_assert_not_null(entry);
    return entry->block;
}

Test(group_lead, asks_only_those_again_who_have_lost_the_question)
{
    open_construct(SX_GROUP_NOTIFY);
    (void)arrive(0, RECEIVES_ALL, false);
    (void)arrive(1, RECEIVES_ALL, false);
    die(2);
    bare_much_later(&server);
    cr_assert_eq(job->events.newest, 1);
    sx_group_lead_missed(&plan->lead, clients[0], 2, 9); /* others */
    sx_group_lead_missed(&plan->lead, clients[2], 1, 9); /* it has ended */
    bare_much_later(&server);
    cr_expect_eq(job->events.newest, 1);
    sx_group_construct_missed(&server, clients[0], 1, 2);
    bare_much_later(&server);
    cr_assert_eq(job->events.newest, 2);
    cr_expect(sx_event_block_aims_at(newest(), "job", 0));
    cr_expect_not(sx_event_block_aims_at(newest(), "job", 1));
    sx_group_lead_missed(&plan->lead, clients[0], 1, 2); /* it has got it since */
    bare_much_later(&server);
    cr_expect_eq(job->events.newest, 2);
    cr_expect_not(is_over);
    cr_expect(say(0, PMIX_GROUP_MEMBER_FAILED, 2, SX_GROUP_GOES_ON).lost != NULL);
    close_construct();
}

Test(group_lead, notifies_all_when_the_last_one_asked_has_ended)
{
    open_construct(0);
    (void)arrive(0, RECEIVES_ALL, true);
    (void)arrive(1, RECEIVES_ALL, false);
    (void)arrive(2, 0, false);
    die(0);
    die(1);
    cr_expect_not(is_over);
    bare_much_later(&server);
    cr_expect(is_over && is_notified && ended == END);
    close_construct();
}

Test(group_lead, receives_no_answer_to_a_question_of_an_earlier_one)
{
    uint64_t old = 0;

    for (int i = 0; i < 2; i++) {
        open_construct(SX_GROUP_NOTIFY);
        (void)arrive(0, RECEIVES_ALL, false);
        (void)arrive(1, RECEIVES_ALL, false);
        die(2);
        (void)say_to(old, 0, SX_GROUP_ABORTS);
        cr_expect_not(is_over);
        old = number_of(PMIX_GROUP_MEMBER_FAILED, 2);
        cr_assert_neq(old, 0);
        close_construct();
    }
}

Test(group_lead, has_one_leader)
{
    open_construct(0);
    cr_expect_eq(arrive(0, RECEIVES_ALL, true), PMIX_SUCCESS);
    cr_expect_eq(arrive(1, RECEIVES_ALL, true), PMIX_ERR_EXISTS);
    cr_expect_eq(arrive(1, RECEIVES_ALL, false), PMIX_SUCCESS);
    close_construct();
}
