/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_lead.c - questions, and who has still to answer them. */
#include "server/engine/group_lead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/bodies.h"
#include "base/clock.h"
#include "base/status.h"
#include "server/engine/collective_kind.h"
#include "server/engine/event_made.h"
#include "server/engine/group_plan.h"
#include "server/model/arrival.h"

pmix_status_t sx_group_lead_take(struct sx_collective *collective, struct sx_client *client,
                                 const struct sx_arrival *arrival)
{
    struct sx_group_lead *const lead = &collective->plan->lead;

    if ((arrival->options.group & SX_GROUP_LEADER) != 0) {
        if (sx_members_find(&collective->members, lead->leader) != NULL) {
            return SX_RAISE(PMIX_ERR_EXISTS, "%s.%u leads the group %s already",
                            lead->leader->nspace->name, lead->leader->rank, collective->id);
        }
        lead->leader = client;
    }
    sx_members_find(&collective->members, client)->hears = arrival->hears;
    return PMIX_SUCCESS;
}

/* ---- questions ------------------------------------------------------------------------------ */

static struct sx_group_question *question_find(const struct sx_group_lead *lead,
                                               const struct sx_client *lost)
{
    for (size_t i = 0; i < lead->count; i++) {
        if (lead->questions[i].lost == lost) {
            return &lead->questions[i];
        }
    }
    return NULL;
}

static void question_close(struct sx_group_lead *lead, struct sx_group_question *question)
{
    const size_t behind = (size_t)(lead->questions + lead->count - (question + 1));

    free(question->asked);
    memmove(question, question + 1, behind * sizeof(*question));
    lead->count--;
}

/* Whether @client is to hear of @code. */
static bool is_for(const struct sx_group_lead *lead, pmix_status_t code,
                   const struct sx_client *client)
{
    return code != PMIX_GROUP_MEMBER_FAILED || lead->leader == NULL || lead->leader == client;
}

/* Find out who is waited for. */
static bool question_ask(const struct sx_collective *collective, struct sx_group_question *question)
{
    const struct sx_group_lead *const lead = &collective->plan->lead;
    const struct sx_members *const members = &collective->members;
    const uint8_t needed = question->code == PMIX_GROUP_LEADER_FAILED ? SX_ARRIVE_HEARS_LEADERS
                                                                      : SX_ARRIVE_HEARS_MEMBERS;

    free(question->asked);
    question->asked_count = 0;
    question->is_told = false;
    question->asked = calloc(members->count, sizeof(struct sx_client *));
    for (size_t i = 0; question->asked != NULL && i < members->count; i++) {
        const struct sx_member *const member = &members->all[i];

        if (member->arrived && (member->hears & needed) != 0 &&
            is_for(lead, question->code, member->client)) {
            question->asked[question->asked_count++] = member->client;
        }
    }
    return question->asked_count > 0;
}

static void question_forget(struct sx_group_question *question, const struct sx_client *client)
{
    for (size_t i = 0; i < question->asked_count; i++) {
        if (question->asked[i] == client) {
            question->asked[i] = question->asked[--question->asked_count];
        }
    }
}

/* Return: one that nobody will answer; NULL: there is none.  While a leader is sought, the others
 * wait for him. */
static const struct sx_group_question *question_silent(const struct sx_group_lead *lead)
{
    const struct sx_group_question *silent = NULL;

    for (size_t i = 0; i < lead->count; i++) {
        const struct sx_group_question *const question = &lead->questions[i];

        if (question->code == PMIX_GROUP_LEADER_FAILED) {
            return question->asked_count == 0 ? question : NULL;
        }
        silent = question->asked_count == 0 ? question : silent;
    }
    return silent;
}

/* ---- events --------------------------------------------------------------------------------- */

static void tell(void *arg, uint64_t now_ns);

static void tell_soon(struct sx_collective *collective)
{
    struct sx_timer *const timer = &collective->plan->lead.tell;

    sx_timer_remove(timer);
    *timer = (struct sx_timer){ .fn = tell, .arg = collective };
    sx_timer_add(collective->members.server->loop, timer, sx_now_ns());
}

void sx_group_lead_hearers(const struct sx_collective *collective, pmix_status_t code,
                           const struct sx_client *but, struct sx_proc_list *ret)
{
    const struct sx_group_lead *const lead = &collective->plan->lead;

    for (size_t i = 0; i < collective->members.count; i++) {
        struct sx_client *const client = collective->members.all[i].client;

        if (client != but && question_find(lead, client) == NULL && is_for(lead, code, client)) {
            (void)sx_proc_list_add(ret, client->nspace->name, client->rank);
        }
    }
    sx_proc_list_sort(ret);
}

/* The host may end it inside the event: one at a time, and last. */
static void tell(void *arg, uint64_t now_ns)
{
    struct sx_collective *const collective = arg;
    const struct sx_group_lead *const lead = &collective->plan->lead;
    struct sx_server *const server = collective->members.server;
    struct sx_proc_list to = { .all = NULL };
    char name[PMIX_MAX_NSLEN + 1];
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = name };
    size_t i = 0;

    (void)now_ns;
    while (i < lead->count && lead->questions[i].is_told) {
        i++;
    }
    if (i == lead->count) {
        return;
    }
    const pmix_proc_t lost = lead->questions[i].proc;
    const pmix_status_t code = lead->questions[i].code;

    lead->questions[i].is_told = true;
    snprintf(name, sizeof(name), "%s", collective->id);
    sx_group_lead_hearers(collective, code, NULL, &to);
    tell_soon(collective);
    sx_event_of_proc(server, code, &lost, &to, &note, 1);
    sx_proc_list_clear(&to);
}

/* ---- ends of members ------------------------------------------------------------------------- */

static struct sx_group_question *question_new(struct sx_group_lead *lead)
{
    struct sx_group_question *const grown = realloc(lead->questions,
                                                    (lead->count + 1) * sizeof(*grown));

    if (grown == NULL) {
        return NULL;
    }
    lead->questions = grown;
    grown[lead->count] = (struct sx_group_question){ .lost = NULL };
    return &grown[lead->count++];
}

pmix_status_t sx_group_lead_lost(struct sx_collective *collective, struct sx_member *member,
                                 pmix_status_t end)
{
    struct sx_group_lead *const lead = &collective->plan->lead;
    const bool led = member->client == lead->leader;

    if (question_find(lead, member->client) != NULL) {
        return PMIX_SUCCESS; /* it has said good-bye before */
    }
    if (!led && lead->leader == NULL && (collective->group & SX_GROUP_NOTIFY) == 0) {
        return end;
    }
    for (size_t i = 0; i < lead->count; i++) {
        question_forget(&lead->questions[i], member->client);
    }
    struct sx_group_question *const question = question_new(lead);

    if (question == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *question = (struct sx_group_question){
        .lost = member->client,
        .proc = sx_nspace_proc(member->client->nspace, member->client->rank),
        .end = end,
        .code = led ? PMIX_GROUP_LEADER_FAILED : PMIX_GROUP_MEMBER_FAILED,
    };
    lead->leader = led ? NULL : lead->leader;
    sx_members_withdraw(&collective->members, member);
    (void)question_ask(collective, question);
    if (question_silent(lead) != NULL) {
        return end;
    }
    tell_soon(collective);
    return PMIX_SUCCESS;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* @client leads from now on, and without the old leader. */
static struct sx_group_verdict lead_from_now_on(struct sx_collective *collective,
                                                struct sx_group_question *question,
                                                struct sx_client *client)
{
    struct sx_group_lead *const lead = &collective->plan->lead;
    const struct sx_group_verdict verdict = {
        .lost = question->lost,
        .proc = question->proc,
        .is_choice = true,
        .leader = sx_nspace_proc(client->nspace, client->rank),
    };

    lead->leader = client;
    question_close(lead, question);
    for (size_t i = 0; i < lead->count; i++) {
        (void)question_ask(collective, &lead->questions[i]);
    }
    tell_soon(collective);
    return verdict;
}

/* One that was asked says nothing. */
static struct sx_group_verdict silence(const struct sx_group_lead *lead)
{
    const struct sx_group_question *const silent = question_silent(lead);

    if (silent == NULL) {
        return (struct sx_group_verdict){ .is_over = false };
    }
    return (struct sx_group_verdict){
        .is_over = true,
        .status = silent->end,
        .proc = silent->proc,
        .is_choice = silent->code == PMIX_GROUP_LEADER_FAILED,
        .leader.rank = PMIX_RANK_INVALID,
    };
}

static struct sx_group_question *question_meant(const struct sx_group_lead *lead,
                                                const struct sx_group_said *said)
{
    for (size_t i = 0; i < lead->count; i++) {
        const struct sx_group_question *const question = &lead->questions[i];

        if (question->code == said->code && question->proc.rank == said->rank &&
            strcmp(question->proc.nspace, said->nspace) == 0) {
            return &lead->questions[i];
        }
    }
    return NULL;
}

struct sx_group_verdict sx_group_lead_hear(struct sx_collective *collective,
                                           struct sx_client *client,
                                           const struct sx_group_said *said)
{
    struct sx_group_lead *const lead = &collective->plan->lead;
    struct sx_group_question *const question = question_meant(lead, said);

    if (question == NULL || sx_members_find(&collective->members, client) == NULL ||
        question_find(lead, client) != NULL || !is_for(lead, question->code, client)) {
        return (struct sx_group_verdict){ .is_over = false };
    }
    if (said->word == SX_GROUP_ABORTS) {
        return (struct sx_group_verdict){ .is_over = true, .status = PMIX_GROUP_CONSTRUCT_ABORT };
    }
    if (said->word == SX_GROUP_LEADS && said->code == PMIX_GROUP_LEADER_FAILED) {
        return lead_from_now_on(collective, question, client);
    }
    if (said->word == SX_GROUP_GOES_ON && said->code == PMIX_GROUP_MEMBER_FAILED) {
        const struct sx_group_verdict without = { .lost = question->lost, .proc = question->proc };

        question_close(lead, question);
        return without;
    }
    question_forget(question, client);
    return silence(lead);
}
