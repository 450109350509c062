/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ending.c - what the host takes away: one client at once, a namespace with all of its clients in
 * steps.
 *
 *     deregistered --> TOOLS --none is left--> CLIENTS --all are DEAD--\
 *                             GONE <-- NSPACE <-- UNSAID <-- LOSSES <--/
 *
 * From the start no client of the namespace is served, and no process becomes one; others find the
 * namespace until NSPACE, where its name is free.  Inviters of its processes to groups are informed
 * in LOSSES, as long as these have their name, and processes that are still connected with it in
 * UNSAID.  Calls of the host that name it wait until GONE is over, and are made then in their
 * order.  A call that cannot wait, on the loop's own thread, does first what is left; so does the
 * end of the server. */
#include "server/entry/entry.h"

#include <string.h>

#include "base/status.h"
#include "server/collective/collective.h"
#include "server/event/event.h"
#include "server/group/group.h"
#include "server/model/family.h"

#define STEP_UNITS 1500u    /* of one turn: share.h */
#define CONNECTED_UNITS 20u /* to close what a connected client has */
#define TOOL_UNITS 50u      /* the same, and to look for the next one */
#define NSPACE_UNITS 100u
#define LOOKS 64u  /* at operations of clients that have gone, in one piece */
#define LOSSES 64u /* in one piece */
#define LOSS_UNITS 3u
#define UNSAID 16u /* in one piece, with their members */
#define UNSAID_UNITS 2u
#define WAIT_UNITS 1u         /* for a request that ends with its client */
#define FORGOTTEN_PER_UNIT 4u /* clients that are not connected */

/* ---- clients --------------------------------------------------------------------------------- */

void sx_client_take_away(struct sx_server *server, struct sx_client *client)
{
    if (client->is_tool && client->state != SX_CLIENT_DEAD) { /* else it is just ending */
        sx_reaper_client_lost(server, client);
        return;
    }
    sx_client_retain(client);
    client->removals++;
    client->departed |= client->left;
    client->died = false;
    client->state = SX_CLIENT_DEAD;
    sx_connection_close(server, client);
    SX_FAMILIES_NOTIFY_OF(server, client_gone, client);
    sx_client_release(client);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Each returns the units that it took, and sets the next stage. */

/* Tools have this name, or their home there, which may be theirs alone.  A tool that is just
 * ending, and for whose end the host is called, is not connected from here on. */
static size_t tool_take_away(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_client *const tool = sx_tool_of(server, nspace);

    if (tool == NULL) {
        nspace->ending.stage = SX_ENDING_CLIENTS;
    } else if (tool->state == SX_CLIENT_DEAD) {
        sx_connection_close(server, tool);
    } else {
        sx_reaper_client_lost(server, tool);
    }
    return TOOL_UNITS;
}

static size_t next_take_away(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_client *const client = sx_client_from(nspace, nspace->ending.next_rank);
    size_t units = 1;

    if (client == NULL) {
        units += sx_collective_nspace_looks(server, nspace, LOOKS);
        nspace->ending.stage = units > 1 ? SX_ENDING_CLIENTS : SX_ENDING_LOSSES;
        return units;
    }
    nspace->ending.next_rank = client->rank + 1;
    for (unsigned kind = 0; kind < SX_PENDING_QUOTAS; kind++) {
        units += client->pending_counts[kind] * WAIT_UNITS;
    }
    units += client->connection != NULL ? CONNECTED_UNITS : 0;
    sx_client_take_away(server, client);
    return units;
}

/* Of all namespaces: its own are among them. */
static size_t losses_act(struct sx_server *server, struct sx_nspace *nspace)
{
    size_t left = LOSSES;

    if (sx_invite_losses_act(server, &left)) {
        nspace->ending.stage = SX_ENDING_UNSAID;
    }
    return 1 + (LOSSES - left) * LOSS_UNITS;
}

static size_t unsaid_act(struct sx_server *server, struct sx_nspace *nspace)
{
    const size_t visited = sx_connect_job_ends(server, nspace, UNSAID);

    if (visited == 0) {
        nspace->ending.stage = SX_ENDING_NSPACE;
    }
    return 1 + visited * UNSAID_UNITS;
}

/* Some of its clients, of which there are still some. */
static size_t some_forget(struct sx_server *server, struct sx_nspace *nspace)
{
    for (unsigned i = 0; i < FORGOTTEN_PER_UNIT && nspace->client_count > 0; i++) {
        (void)sx_nspace_end_step(server, nspace);
    }
    return 1;
}

static size_t piece(struct sx_server *server, struct sx_nspace *nspace)
{
    switch (nspace->ending.stage) {
    case SX_ENDING_TOOLS:
        return tool_take_away(server, nspace);
    case SX_ENDING_CLIENTS:
        return next_take_away(server, nspace);
    case SX_ENDING_LOSSES:
        return losses_act(server, nspace);
    case SX_ENDING_UNSAID:
        return unsaid_act(server, nspace);
    case SX_ENDING_NSPACE:
        nspace->ending.stage = SX_ENDING_GONE;
        sx_nspace_end_begin(server, nspace);
        sx_event_confine(server);
        return NSPACE_UNITS;
    case SX_ENDING_GONE:
        break;
    }
    return some_forget(server, nspace);
}

static bool is_over(const struct sx_nspace *nspace)
{
    return nspace->ending.stage == SX_ENDING_GONE && nspace->client_count == 0;
}

/* Do pieces of up to *@left units; the last of them may take more. */
static void advance(struct sx_server *server, struct sx_nspace *nspace, size_t *left)
{
    struct sx_list calls = SX_LIST_INIT(calls);

    while (*left > 0 && !is_over(nspace)) {
        const size_t units = piece(server, nspace);

        *left -= units < *left ? units : *left;
    }
    if (is_over(nspace)) {
        sx_list_splice(&calls, &nspace->ending.calls);
        sx_list_remove(&nspace->ending.link);
        (void)sx_nspace_end_step(server, nspace); /* frees it */
        sx_server_calls_again(server, &calls);
    }
}

/* Return: NULL: there is none. */
static struct sx_nspace *first_of(const struct sx_endings *endings)
{
    return sx_list_empty(&endings->all)
               ? NULL
               : SX_LIST_ENTRY(endings->all.next, struct sx_nspace, ending.link);
}

static bool endings_step(struct sx_server *server, size_t *left)
{
    struct sx_endings *const endings = &server->entry.endings;
    struct sx_nspace *nspace;

    sx_engine_enter(server);
    while (*left > 0 && (nspace = first_of(endings)) != NULL) {
        advance(server, nspace, left);
    }
    sx_engine_leave(server);
    return sx_list_empty(&endings->all);
}

/* ---- the host's calls ------------------------------------------------------------------------ */

void sx_endings_init(struct sx_server *server)
{
    sx_list_init(&server->entry.endings.all);
    sx_steps_init(&server->entry.endings.steps, server, endings_step, STEP_UNITS);
}

void sx_ending_begin(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace->is_ending = true;
    sx_list_append(&server->entry.endings.all, &nspace->ending.link);
    sx_steps_go(&server->entry.endings.steps);
}

static struct sx_nspace *ending_find(const struct sx_endings *endings, const char *name)
{
    SX_LIST_EACH(it, &endings->all) {
        struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, ending.link);

        if (strcmp(nspace->name, name) == 0) {
            return nspace;
        }
    }
    return NULL;
}

static void finish(struct sx_server *server, struct sx_nspace *nspace)
{
    size_t left = SIZE_MAX;

    sx_engine_enter(server);
    advance(server, nspace, &left);
    sx_engine_leave(server);
}

bool sx_ending_is_awaited(struct sx_server *server, const char *name)
{
    struct sx_endings *const endings = &server->entry.endings;
    struct sx_nspace *const nspace = ending_find(endings, name);

    if (nspace == NULL) {
        return false;
    }
    if (sx_server_call_waits(server, &nspace->ending.calls)) {
        return true;
    }
    finish(server, nspace);
    return false;
}

void sx_endings_finish(struct sx_server *server)
{
    struct sx_nspace *nspace;

    while ((nspace = first_of(&server->entry.endings)) != NULL) {
        finish(server, nspace);
    }
}
