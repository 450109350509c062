/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* open_ops.h - operations that stay open are shown in a table that other processes read.
 *
 *     opened --SX_OPEN_DELAY_NS--> has a row --changed, and as long again--> written anew
 *        \                            |
 *         \---ended: never shown      \---ended: the row is free
 *
 * So an operation that ends sooner costs two list operations.  A row shows a state that is at most
 * that delay old, also while the server hangs.  The oldest operations have rows; the others are
 * counted. */
#ifndef SX_SERVER_COLLECTIVE_OPEN_OPS_H
#define SX_SERVER_COLLECTIVE_OPEN_OPS_H

#include "server/model/state.h"

/* State of one operation in the table. */
struct sx_shown {
    struct sx_list link; /* server.shown.due or .rowless, or in neither */
    uint64_t since_ns, due_ns;
    uint32_t row; /* from 1; 0: none */
    bool is_rowless;
};

/* Make the table; the server must have its name.  Return: PMIX_SUCCESS, or as
 * sx_open_ops_create. */
pmix_status_t sx_shown_init(struct sx_server *server);
/* Safe on a server whose table is SX_OPEN_OPS_NULL, and twice. */
void sx_shown_deinit(struct sx_server *server);

/* An operation is being opened.  @shown is zeroed, and a member of its struct sx_collective. */
void sx_shown_add(struct sx_server *server, struct sx_shown *shown);
/* The operation has ended. */
void sx_shown_remove(struct sx_server *server, struct sx_shown *shown);

/* The slow paths of the next functions. */
void sx_shown_renew(struct sx_server *server, struct sx_shown *shown);
void sx_shown_write(struct sx_server *server, uint64_t now_ns);
void sx_shown_watch(struct sx_server *server);

static inline bool sx_shown_has_row(const struct sx_shown *shown)
{
    return shown->row != 0;
}

/* The missing members of an operation have changed, or whether the host has it. */
static inline void sx_shown_changed(struct sx_server *server, struct sx_shown *shown)
{
    if (sx_shown_has_row(shown)) {
        sx_shown_renew(server, shown);
    }
}

/* Once per turn of the loop: write some of the rows that are due. */
static inline void sx_shown_turn(struct sx_server *server, uint64_t now_ns)
{
    if (!sx_list_empty(&server->shown.due)) {
        sx_shown_write(server, now_ns);
    }
}

/* The loop is about to sleep: until the next row is due, at most. */
static inline void sx_shown_sleep(struct sx_server *server)
{
    if (!sx_list_empty(&server->shown.due) || server->shown.timer.source.loop != NULL) {
        sx_shown_watch(server);
    }
}

#endif
