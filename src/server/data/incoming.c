/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* incoming.c - what the host brings from other nodes is stored, some in each turn.
 *
 * Two that have a namespace in common are stored in their order: of two values of one key the later
 * one stays.  Others take turns, so none waits long for what another job brings.  Entered from the
 * host's answers to fences and direct modexes.  Memory: one struct each; the bytes are the
 * host's. */
#include <stdlib.h>
#include <string.h>

#include "server/data/data.h"

#define STEP_BYTES ((size_t)512 << 10)

static struct sx_incoming *incoming_of(struct sx_list *link)
{
    return SX_LIST_ENTRY(link, struct sx_incoming, link);
}

static uint64_t names_in(const struct sx_list *list)
{
    uint64_t names = 0;

    SX_LIST_EACH(it, list) {
        names |= incoming_of(it)->names;
    }
    return names;
}

static pmix_status_t incoming_step(struct sx_incoming *incoming, size_t *left)
{
    return sx_blob_read_step(&incoming->reader, incoming->server, sx_modex_store, &incoming->far,
                             left);
}

/* Free @incoming, of which some may not be stored. */
static void incoming_free(struct sx_incoming *incoming)
{
    sx_modex_far_end(&incoming->far);
    sx_answer_release(incoming->question);
    free((void *)(uintptr_t)incoming->pieces);
    free(incoming);
}

/* @incoming has left its list: those that have waited for nothing else run. */
static void next_run(struct sx_incomings *state)
{
    uint64_t names = names_in(&state->running);

    for (struct sx_list *it = state->waiting.next, *next; it != &state->waiting; it = next) {
        struct sx_incoming *const incoming = incoming_of(it);
        const bool may_run = (incoming->names & names) == 0;

        next = it->next;
        names |= incoming->names;
        if (may_run) {
            sx_list_remove(it);
            sx_list_append(&state->running, it);
        }
    }
}

static void incoming_end(struct sx_incoming *incoming, pmix_status_t rc)
{
    struct sx_incomings *const state = &incoming->server->data.incomings;

    sx_list_remove(&incoming->link);
    next_run(state);
    incoming->stored(incoming, rc);
    incoming_free(incoming);
}

void sx_incoming_drop(struct sx_incoming *incoming)
{
    if (incoming != NULL) {
        struct sx_incomings *const state = &incoming->server->data.incomings;

        sx_list_remove(&incoming->link);
        next_run(state);
        incoming_free(incoming);
    }
}

void sx_incomings_deinit(struct sx_server *server)
{
    struct sx_incomings *const state = &server->data.incomings;

    while (state->steps.server != NULL && !sx_list_empty(&state->running)) {
        sx_incoming_drop(incoming_of(state->running.next));
    }
}

static bool incomings_step(struct sx_server *server, size_t *left)
{
    struct sx_list *const running = &server->data.incomings.running;

    while (*left > 0 && !sx_list_empty(running)) {
        struct sx_incoming *const incoming = incoming_of(running->next);
        const pmix_status_t rc = incoming_step(incoming, left);

        if (rc != PMIX_ERR_WOULD_BLOCK) {
            incoming_end(incoming, rc);
        } else { /* the others have the next turns */
            sx_list_remove(&incoming->link);
            sx_list_append(running, &incoming->link);
        }
    }
    return sx_list_empty(running);
}

/* Return: the state of a server that has stored in steps, or begins to. */
static struct sx_incomings *state_of(struct sx_server *server)
{
    struct sx_incomings *const state = &server->data.incomings;

    if (state->steps.server == NULL) {
        sx_list_init(&state->running);
        sx_list_init(&state->waiting);
        sx_steps_init(&state->steps, server, incomings_step, STEP_BYTES);
    }
    return state;
}

/* The rest of @begun is for later turns.  Return: false when memory is out. */
static bool incoming_keep(const struct sx_incoming *begun, uint64_t busy, struct sx_incoming **ret)
{
    struct sx_incomings *const state = &begun->server->data.incomings;
    struct sx_incoming *const incoming = malloc(sizeof(*incoming));
    struct sx_blob_piece *const pieces = malloc((begun->piece_count + 1) * sizeof(*pieces));

    if (incoming == NULL || pieces == NULL) {
        free(incoming);
        free(pieces);
        return false;
    }
    if (begun->piece_count > 0) {
        memcpy(pieces, begun->pieces, begun->piece_count * sizeof(*pieces));
    }
    *incoming = *begun;
    incoming->names = sx_nspace_names(begun->server, begun->procs, begun->proc_count);
    incoming->pieces = pieces;
    incoming->reader.pieces = pieces + (begun->piece_count - begun->reader.piece_count);
    incoming->question = sx_answer_keep(begun->answer);
    incoming->answer = NULL;
    incoming->procs = NULL;
    sx_list_init(&incoming->link);
    sx_list_append((incoming->names & busy) != 0 ? &state->waiting : &state->running,
                   &incoming->link);
    *ret = incoming;
    sx_steps_later(&state->steps); /* when the loop has stopped, it is stored now, and freed */
    return true;
}

pmix_status_t sx_incoming_store(struct sx_incoming *incoming, struct sx_incoming **ret)
{
    struct sx_incomings *const state = state_of(incoming->server);
    const uint64_t busy = names_in(&state->running) | names_in(&state->waiting);
    pmix_status_t rc = PMIX_ERR_WOULD_BLOCK;

    *ret = NULL;
    incoming->reader = (struct sx_blob_reader){ .pieces = incoming->pieces,
                                                .piece_count = incoming->piece_count };
    if (busy == 0 ||
        (busy & sx_nspace_names(incoming->server, incoming->procs, incoming->proc_count)) == 0) {
        rc = incoming_step(incoming, sx_steps_left(&state->steps));
    }
    if (rc == PMIX_ERR_WOULD_BLOCK && incoming_keep(incoming, busy, ret)) {
        return rc;
    }
    sx_modex_far_end(&incoming->far);
    return rc == PMIX_ERR_WOULD_BLOCK ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}
