/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* share.h - the share of each client in a turn of the loop.
 *
 *     IDLE --lane, socket, answer due--> BUSY --nothing left--> IDLE
 *                                         | ^--share used up: goes on in the next turn
 *                                         \--one message of more than LONG units--> RESTING
 *
 * Work is counted in units, of which one is about a microsecond: control/message.h has the cost of
 * a frame, dispatch.c that of a lane message.  Each turn serves every busy client, beginning with
 * another one each time, and each gets SX_TURN_UNITS.  A client whose last message takes more pays
 * with its shares of the next turns.  So no client's requests change the shares of others: no
 * client starves, and a turn is no longer than the shares of the busy clients.  Long walks for a
 * message are cut into steps (struct sx_share_work), which go on in the client's next turns.  The
 * steps of all clients in one turn have a bound together: the next turn begins with the first
 * client whose step was put off.  A message that is long by itself cannot be cut: its sender rests,
 * so that it holds up few turns of others, and never has more than half of the time.  All strangers
 * have one share together.
 *
 * The loop does not sleep while a client is BUSY.  Loop thread. */
#ifndef SX_SERVER_MODEL_SHARE_H
#define SX_SERVER_MODEL_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "control/loop.h"

struct sx_client;
struct sx_server;

#define SX_TURN_UNIT_NS UINT64_C(1000)
#define SX_TURN_UNITS 100          /* of a client */
#define SX_TURN_STRANGER_UNITS 400 /* of all strangers together */
#define SX_TURN_LONG_UNITS 1000
#define SX_TURN_REST 10          /* units of rest for each unit beyond LONG, but no more ... */
#define SX_TURN_REST_UNITS 20000 /* ... than these, unless the message took longer itself */
#define SX_TURN_ANSWER_UNITS 5   /* to send one answer that was waited for */
#define SX_TURN_WORK_UNITS 1000  /* of the works of all clients: then the next turn continues */

/* A wait until all messages that a lane had at some moment have been taken: lanes.c. */
struct sx_lane_mark {
    struct sx_list link; /* client.share.marks */
    uint64_t at;
    void (*reached)(struct sx_lane_mark *mark);
};

/* Work for a client that takes longer than a turn may: one step each time the client is served.  A
 * step does about as much as SX_SHARE_STEP_UNITS, and charges that.  The last removes the work. */
#define SX_SHARE_STEP_UNITS 400
#define SX_SHARE_LOOKS_PER_UNIT 32u /* of a check (flat.h) */
struct sx_share_work {
    struct sx_list link; /* client.share.works; zeroed: it is not there */
    void (*step)(struct sx_share_work *work);
};

/* A client's share of the turns. */
struct sx_share {
    uint64_t turn;              /* up to which it has had its units */
    int64_t units;              /* left; below 0: to be paid */
    uint32_t spent;             /* in this turn */
    bool frame;                 /* there is something in its socket ... */
    uint64_t frame_mark;        /* ... which comes when its lane has been taken up to here */
    struct sx_timer rest;       /* added: it rests */
    struct sx_list marks;       /* of struct sx_lane_mark, in their lane's order */
    struct sx_list due;         /* pending.c: what has its answer */
    struct sx_list works;       /* of struct sx_share_work: what goes on in its turns */
    struct sx_lane_mark ending; /* reaper.c: set when it has gone */
};

/* Of the server. */
struct sx_turn {
    uint64_t number, now_ns;
    uint32_t units;           /* spent in this turn ... */
    uint32_t work_units;      /* ... by steps of works */
    size_t first;             /* of the live clients: the turn begins with it */
    struct sx_list strangers; /* hello.c: those that have sent something, oldest first */
    int64_t stranger_units;
};

void sx_turn_init(struct sx_turn *turn);

/* A share for a client that connects; nothing is left of the last one. */
void sx_share_begin(struct sx_server *server, struct sx_client *client);
void sx_share_end(struct sx_client *client);

/* Whether @client may spend something in this turn. */
bool sx_share_affords(struct sx_server *server, struct sx_client *client);
/* Charge @client for work that was done for it. */
void sx_share_charge(struct sx_server *server, struct sx_client *client, uint64_t units);
void sx_share_charge_strangers(struct sx_server *server, uint64_t units);
/* @work goes on in the turns of @client, from the next time it is served.  Its owner removes it
 * before @client goes; that is safe at any time. */
void sx_share_work_add(struct sx_client *client, struct sx_share_work *work);
void sx_share_work_remove(struct sx_share_work *work);
/* Do one step of the client's oldest work: later works wait for its end, and take no memory. */
void sx_share_work_step(struct sx_client *client);
/* Whether @client rests, to pay for a message that was long by itself. */
bool sx_share_rests(const struct sx_client *client);
/* End the debts and the rest of @client, whose remaining messages are its last. */
void sx_share_forgive(struct sx_client *client);

#endif
