/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leader_failover.c - questions, and the processes that have still to answer them. */
#include "server/group/leader_failover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "server/event/event.h"
#include "server/model/state.h"

void sx_group_lead_init(struct sx_group_lead *lead, const struct sx_group_building *building,
                        void *owner, struct sx_server *server, const char *name)
{
    *lead = (struct sx_group_lead){
        .building = building, .owner = owner, .server = server, .name = name
    };
}

void sx_group_lead_clear(struct sx_group_lead *lead)
{
    for (size_t i = 0; i < lead->count; i++) {
        free(lead->questions[i].asked);
    }
    free(lead->questions);
    lead->questions = NULL;
    lead->count = 0;
    sx_timer_remove(&lead->notify);
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

/* Return: whether @client gets events of @code. */
static bool is_for(const struct sx_group_lead *lead, pmix_status_t code,
                   const struct sx_client *client)
{
    return code != PMIX_GROUP_MEMBER_FAILED || lead->leader == NULL || lead->leader == client;
}

/* List the builders whose answers are awaited.  Return: how many; into @ret, unless it is NULL. */
static size_t asked_list(const struct sx_group_lead *lead, pmix_status_t code,
                         struct sx_group_asked ret[])
{
    const uint8_t needed = code == PMIX_GROUP_LEADER_FAILED ? SX_RECEIVES_LEADERS
                                                            : SX_RECEIVES_MEMBERS;
    struct sx_group_builder builder;
    void *at = NULL;
    size_t count = 0;

    while ((at = lead->building->next(lead->owner, at, &builder)) != NULL) {
        if (builder.has_called && (builder.receives & needed) != 0 &&
            is_for(lead, code, builder.client) && question_find(lead, builder.client) == NULL) {
            if (ret != NULL) {
                ret[count].client = builder.client;
            }
            count++;
        }
    }
    return count;
}

/* Ask anew.  Without memory, no builder is awaited. */
static void question_ask(const struct sx_group_lead *lead, struct sx_group_question *question)
{
    const size_t count = asked_list(lead, question->code, NULL);

    free(question->asked);
    question->is_notified = false;
    question->asked = calloc(count + 1, sizeof(*question->asked));
    question->asked_count = question->asked != NULL
                                ? asked_list(lead, question->code, question->asked)
                                : 0;
}

static void question_forget(struct sx_group_question *question, const struct sx_client *client)
{
    for (size_t i = 0; i < question->asked_count; i++) {
        if (question->asked[i].client == client) {
            question->asked[i] = question->asked[--question->asked_count];
        }
    }
}

/* Return: the question about the leader; NULL: no leader is sought. */
static const struct sx_group_question *question_of_leader(const struct sx_group_lead *lead)
{
    size_t i = 0;

    while (i < lead->count && lead->questions[i].code != PMIX_GROUP_LEADER_FAILED) {
        i++;
    }
    return i < lead->count ? &lead->questions[i] : NULL;
}

/* Return: a question that no builder will answer; NULL: there is none.  While a leader is sought,
 * the other questions wait for that leader. */
static const struct sx_group_question *question_silent(const struct sx_group_lead *lead)
{
    const struct sx_group_question *silent = question_of_leader(lead);

    if (silent != NULL) {
        return silent->asked_count == 0 ? silent : NULL;
    }
    for (size_t i = 0; i < lead->count; i++) {
        silent = lead->questions[i].asked_count == 0 ? &lead->questions[i] : silent;
    }
    return silent;
}

/* ---- events --------------------------------------------------------------------------------- */

static void notify(void *arg, uint64_t now_ns);

static void notify_soon(struct sx_group_lead *lead)
{
    sx_timer_remove(&lead->notify);
    lead->notify = (struct sx_timer){ .fn = notify, .arg = lead };
    sx_timer_add(lead->server->loop, &lead->notify, sx_now_ns());
}

void sx_group_lead_hearers(const struct sx_group_lead *lead, pmix_status_t code,
                           const struct sx_client *but, struct sx_proc_list *ret)
{
    struct sx_group_builder builder;
    void *at = NULL;

    while ((at = lead->building->next(lead->owner, at, &builder)) != NULL) {
        struct sx_client *const client = builder.client;

        if (client != but && question_find(lead, client) == NULL && is_for(lead, code, client)) {
            (void)sx_proc_list_add(ret, client->nspace->name, client->rank);
        }
    }
    sx_proc_list_sort(ret);
}

static struct sx_group_verdict silence(const struct sx_group_question *silent)
{
    return (struct sx_group_verdict){
        .is_over = true,
        .status = silent->end,
        .proc = silent->proc,
        .is_choice = silent->code == PMIX_GROUP_LEADER_FAILED,
        .leader.rank = PMIX_RANK_INVALID,
    };
}

/* Return: whether an awaited builder has still to get the event, for the first time or again. */
static bool is_to_notify(const struct sx_group_question *question)
{
    bool is = !question->is_notified;

    for (size_t i = 0; i < question->asked_count; i++) {
        is |= question->asked[i].notified == 0;
    }
    return is;
}

/* List the builders that get the event now: all, or those that have lost it. */
static void listeners(const struct sx_group_lead *lead, struct sx_group_question *question,
                      struct sx_proc_list *ret)
{
    if (!question->is_notified) {
        sx_group_lead_hearers(lead, question->code, NULL, ret);
    }
    for (size_t i = 0; i < question->asked_count; i++) {
        struct sx_group_asked *const asked = &question->asked[i];
        const struct sx_client *const client = asked->client;

        if (question->is_notified && asked->notified == 0) {
            (void)sx_proc_list_add(ret, client->nspace->name, client->rank);
        }
        asked->notified = asked->notified == 0 ? client->home->events.newest + 1 : asked->notified;
    }
    question->is_notified = true;
}

static void question_notify(struct sx_group_lead *lead, struct sx_group_question *question)
{
    struct sx_server *const server = lead->server;
    const pmix_proc_t lost = question->proc;
    const pmix_status_t code = question->code;
    struct sx_proc_list to = { .all = NULL };
    char name[PMIX_MAX_NSLEN + 1];
    const struct sx_event_note notes[] = {
        { .key = PMIX_GROUP_ID, .text = name },
        { .key = SX_GROUP_QUESTION, .number = question->number },
    };

    snprintf(name, sizeof(name), "%s", lead->name);
    listeners(lead, question, &to);
    notify_soon(lead);
    sx_event_of_proc(server, code, &lost, &to, notes, SX_COUNT(notes));
    sx_proc_list_clear(&to);
}

/* Send one event that is due.  If there is none, check that a builder is left that can answer. */
static void notify(void *arg, uint64_t now_ns)
{
    struct sx_group_lead *const lead = arg;
    size_t i = 0;

    (void)now_ns;
    while (i < lead->count && !is_to_notify(&lead->questions[i])) {
        i++;
    }
    if (i < lead->count) {
        question_notify(lead, &lead->questions[i]);
        return;
    }
    const struct sx_group_question *const silent = question_silent(lead);

    if (silent != NULL) {
        const struct sx_group_verdict verdict = silence(silent);

        lead->building->decide(lead->owner, &verdict);
    }
}

void sx_group_lead_missed(struct sx_group_lead *lead, const struct sx_client *client,
                          uint64_t first, uint64_t next)
{
    for (size_t i = 0; i < lead->count; i++) {
        for (size_t n = 0; n < lead->questions[i].asked_count; n++) {
            struct sx_group_asked *const asked = &lead->questions[i].asked[n];

            if (asked->client == client && asked->notified >= first && asked->notified < next) {
                asked->notified = 0;
                notify_soon(lead);
            }
        }
    }
}

void sx_group_lead_selected(struct sx_server *server, const char *name,
                            const struct sx_group_verdict *verdict, const struct sx_proc_list *to)
{
    const bool is_led = verdict->leader.rank != PMIX_RANK_INVALID;
    const struct sx_event_note notes[] = {
        { .key = PMIX_GROUP_ID, .text = name },
        is_led ? (struct sx_event_note){ .key = PMIX_GROUP_LEADER,
                                         .procs = &verdict->leader,
                                         .count = 1 }
               : (struct sx_event_note){ .key = PMIX_LOCAL_COLLECTIVE_STATUS,
                                         .status = verdict->status },
    };

    sx_event_of_proc(server, PMIX_GROUP_LEADER_SELECTED, is_led ? &verdict->leader : &verdict->proc,
                     to, notes, SX_COUNT(notes));
}

/* ---- ends of builders ------------------------------------------------------------------------ */

static struct sx_group_question *question_new(struct sx_group_lead *lead)
{
    struct sx_group_question *const grown = realloc(lead->questions,
                                                    (lead->count + 1) * sizeof(*grown));

    if (grown == NULL) {
        return NULL;
    }
    lead->questions = grown;
    grown[lead->count] = (struct sx_group_question){
        .number = ++lead->server->group.question_last
    };
    return &grown[lead->count++];
}

void sx_group_lead_forget(struct sx_group_lead *lead, const struct sx_client *client)
{
    for (size_t i = 0; i < lead->count; i++) {
        question_forget(&lead->questions[i], client);
    }
    if (lead->count > 0) {
        notify_soon(lead);
    }
}

pmix_status_t sx_group_lead_lose(struct sx_group_lead *lead, struct sx_client *client,
                                 pmix_status_t end)
{
    const bool led = client == lead->leader;
    const bool is_sought = question_of_leader(lead) != NULL;

    if (question_find(lead, client) != NULL) {
        return PMIX_SUCCESS; /* this end was handled when it finalized */
    }
    sx_group_lead_forget(lead, client);
    struct sx_group_question *const question = question_new(lead);

    if (question == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    question->lost = client;
    question->proc = sx_nspace_proc(client->nspace, client->rank);
    question->end = end;
    question->code = led ? PMIX_GROUP_LEADER_FAILED : PMIX_GROUP_MEMBER_FAILED;
    lead->leader = led ? NULL : lead->leader;
    question_ask(lead, question);
    if (question_silent(lead) != NULL && !is_sought) {
        return end;
    }
    notify_soon(lead); /* builders that seek a leader learn that there is none */
    return PMIX_SUCCESS;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* @client leads from now on, and the old leader is no longer a builder. */
static struct sx_group_verdict lead_from_now_on(struct sx_group_lead *lead,
                                                struct sx_group_question *question,
                                                struct sx_client *client)
{
    const struct sx_group_verdict verdict = {
        .lost = question->lost,
        .proc = question->proc,
        .is_choice = true,
        .leader = sx_nspace_proc(client->nspace, client->rank),
    };

    lead->leader = client;
    question_close(lead, question);
    for (size_t i = 0; i < lead->count; i++) {
        question_ask(lead, &lead->questions[i]);
    }
    notify_soon(lead);
    return verdict;
}

static struct sx_group_question *question_meant(const struct sx_group_lead *lead,
                                                const struct sx_group_said *said)
{
    size_t i = 0;

    while (i < lead->count && lead->questions[i].number != said->question) {
        i++;
    }
    return i < lead->count ? &lead->questions[i] : NULL;
}

/* Return: whether @client still builds; one that has ended does not. */
static bool builds(const struct sx_group_lead *lead, const struct sx_client *client)
{
    struct sx_group_builder builder = { .client = NULL };
    void *at = NULL;

    do {
        at = lead->building->next(lead->owner, at, &builder);
    } while (at != NULL && builder.client != client);
    return at != NULL && question_find(lead, client) == NULL;
}

struct sx_group_verdict sx_group_lead_receive(struct sx_group_lead *lead, struct sx_client *client,
                                              const struct sx_group_said *said)
{
    struct sx_group_question *const question = question_meant(lead, said);

    if (question == NULL || !builds(lead, client) || !is_for(lead, question->code, client)) {
        return (struct sx_group_verdict){ .is_over = false };
    }
    const bool is_leader = question->code == PMIX_GROUP_LEADER_FAILED;

    if (said->word == SX_GROUP_ABORTS) {
        return (struct sx_group_verdict){ .is_over = true, .status = PMIX_GROUP_CONSTRUCT_ABORT };
    }
    if (said->word == SX_GROUP_LEADS && is_leader) {
        return lead_from_now_on(lead, question, client);
    }
    if (said->word == SX_GROUP_GOES_ON && !is_leader) {
        const struct sx_group_verdict without = { .lost = question->lost, .proc = question->proc };

        question_close(lead, question);
        return without;
    }
    question_forget(question, client);
    const struct sx_group_question *const silent = question_silent(lead);

    return silent != NULL ? silence(silent) : (struct sx_group_verdict){ .is_over = false };
}
