/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_kind.h - what tells one kind of collective operation from the others: a row each.
 *
 * The engine (collective.c) reads these rows and knows no kind by name. */
#ifndef SX_SERVER_ENGINE_COLLECTIVE_KIND_H
#define SX_SERVER_ENGINE_COLLECTIVE_KIND_H

#include "base/list.h"
#include "base/options.h"
#include "base/table.h"
#include "control/loop.h"
#include "server/engine/collective_shown.h"
#include "server/engine/generation.h"
#include "server/port/members.h"
#include "server/port/upcall.h"
#include "server/port/wishes.h"

struct sx_kind;

/* One operation that is open. */
struct sx_collective {
    struct sx_list link;             /* server.collectives */
    struct sx_generation generation; /* server.signatures */
    struct sx_shown shown;
    const struct sx_kind *kind;
    char *id; /* NULL: none */
    struct sx_members members;
    struct sx_wishes wishes; /* for the host */
    struct sx_asker asker;
    bool with_host;    /* everybody here has arrived; it stays until the host has answered */
    bool is_asking;    /* within the upcall */
    bool is_abandoned; /* its job has gone: the answer means nothing */
    bool is_over;      /* its members have been told */
    bool collect;      /* somebody asked for the data */
    uint8_t pardons;   /* SX_PARDON_*, of anybody */
    struct sx_timer deadline;
};

struct sx_kind {
    enum sx_collective_kind number;
    enum sx_function function; /* whose directives its callers may give */
    /* What becomes of an operation when a member goes that has not arrived, or that has.  Where it
     * is pardoned, it goes on without the member. */
    struct sx_member_ends before, after;
    /* How it ends where it would end well, but somebody is missing. */
    pmix_status_t incomplete;

    /* The way to members on other nodes; NULL: there is none. */
    bool (*host_reaches)(const struct sx_server *server);
    /* All members here have arrived.  Return: PMIX_SUCCESS when @told will be called. */
    pmix_status_t (*host_ask)(struct sx_collective *collective, sx_told_fn told);
    /* Take in what the host has brought.  Return: how it ends for the members here. */
    pmix_status_t (*host_said)(struct sx_collective *collective,
                               const struct sx_host_answer *answer);
};

/* Return: the row of @number (enum sx_collective_kind), NULL when there is none. */
const struct sx_kind *sx_kind_of(uint32_t number);

#endif
