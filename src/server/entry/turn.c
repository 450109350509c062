/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* turn.c - one round over all clients, each as far as its units go.
 *
 * Before the loop sleeps, the board's epoch becomes odd.  Then every lane is checked once more.  So
 * a message appended in between is either found here, or its client sees the odd epoch and
 * rings. */
#include "server/entry/entry.h"

#include <sys/socket.h>

#include "base/status.h"
#include "base/util.h"
#include "server/collective/collective.h"
#include "server/event/event.h"
#include "server/model/state.h"
#include "server/port/port.h"

/* ---- one client ----------------------------------------------------------------------------- */

static bool has_lane_work(const struct sx_client *client)
{
    return client->state == SX_CLIENT_CONNECTED && sx_lane_pending(&client->lane);
}

/* A client of a namespace that ends is taken away soon: ending.c. */
static bool is_busy(const struct sx_client *client)
{
    return !client->nspace->is_ending &&
           (client->share.frame || has_lane_work(client) || !sx_list_empty(&client->share.due) ||
            !sx_list_empty(&client->share.works)) &&
           !sx_share_rests(client);
}

/* Lane messages that the client wrote before its request are taken first.  Later ones must not
 * delay the request. */
static bool is_frames_turn(const struct sx_client *client)
{
    return client->share.frame && (client->state != SX_CLIENT_CONNECTED ||
                                   sx_lane_taken(client, client->share.frame_mark));
}

/* Return: whether the steps of this turn have come to their bound, and the next of @client is put
 * off.  Nothing else of it is taken before. */
static bool is_put_off(const struct sx_server *server, const struct sx_client *client)
{
    return server->turn.work_units >= SX_TURN_WORK_UNITS && !sx_list_empty(&client->share.works);
}

static void work_step(struct sx_server *server, struct sx_client *client)
{
    const uint32_t before = server->turn.units;

    sx_share_work_step(client);
    server->turn.work_units += server->turn.units - before;
}

/* Return: false when there was nothing to do. */
static bool serve_one(struct sx_server *server, struct sx_client *client)
{
    if (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
    } else if (is_put_off(server, client)) {
        return false;
    } else if (!sx_list_empty(&client->share.works)) {
        work_step(server, client);
    } else if (is_frames_turn(client)) {
        client->share.frame = false;
        sx_connection_take(client, server->turn.now_ns);
    } else if (has_lane_work(client)) {
        sx_lane_take_one(server, client);
    } else {
        return false;
    }
    return true;
}

/* Return: whether @client could have done a step, which is put off. */
static bool serve(struct sx_server *server, struct sx_client *client)
{
    sx_client_retain(client); /* its message may end it */
    const struct sx_log_cause before = sx_log_bound_serve(server, client->uid);

    while (client->connection != NULL && sx_share_affords(server, client) &&
           serve_one(server, client)) {
    }
    const bool put_off = client->connection != NULL && is_put_off(server, client) &&
                         sx_share_affords(server, client);

    sx_log_bound_served(server, before);
    sx_client_release(client);
    return put_off;
}

/* ---- the turn ------------------------------------------------------------------------------- */

static void strangers_serve(struct sx_server *server)
{
    struct sx_turn *turn = &server->turn;

    turn->stranger_units += SX_TURN_STRANGER_UNITS;
    if (turn->stranger_units > SX_TURN_STRANGER_UNITS) {
        turn->stranger_units = SX_TURN_STRANGER_UNITS;
    }
    while (turn->stranger_units > 0 && !sx_list_empty(&turn->strangers)) {
        sx_stranger_take(server, turn->now_ns);
    }
}

/* Clients connect and end during a turn.  The last one moves into a hole: it was served already, or
 * it is served in the next turn. */
static void clients_serve(struct sx_server *server)
{
    const size_t first = server->turn.first++;
    bool put_off = false;

    server->turn.work_units = 0;
    for (size_t i = 0; i < server->live_count; i++) {
        const size_t at = (first + i) % server->live_count;
        struct sx_client *client = server->live[at];

        if (is_busy(client) && serve(server, client) && !put_off) {
            put_off = true;
            server->turn.first = at;
        }
    }
}

static void turn(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    server->turn.number++;
    server->turn.now_ns = now_ns;
    sx_engine_enter(server);
    strangers_serve(server);
    clients_serve(server);
    sx_engine_leave(server);
    sx_eventhandled_check(server);
    sx_host_calls_make(server);
    sx_event_wake(server);
    sx_memberships_notify(server);
    sx_shown_turn(server, now_ns);
    sx_board_work(&server->board, server->turn.units, 0);
    server->turn.units = 0;
}

static bool somebody_is_busy(const struct sx_server *server)
{
    for (size_t i = 0; i < server->live_count; i++) {
        if (is_busy(server->live[i])) {
            return true;
        }
    }
    return !sx_list_empty(&server->turn.strangers);
}

/* After activity, more is likely.  Let other processes run first, so that they do not have to wake
 * this one.  A collective of many ranks on few CPUs then costs one wake of the server instead of
 * one for every few arrivals.  Then the loop polls for a while, if polling has found work
 * lately. */
static bool linger(struct sx_server *server)
{
    if (sx_spin_again(&server->spin, &server->spin_try)) {
        return true;
    }
    for (unsigned i = 0; i < SX_SERVER_LINGER_YIELDS; i++) {
        sx_spin_yield(&server->spin);
        if (somebody_is_busy(server)) {
            return true;
        }
    }
    return false;
}

static bool about_to_sleep(void *arg)
{
    struct sx_server *server = arg;

    if (!sx_list_empty(&server->port.host.calls)) { /* made by the end of the turn itself */
        return true;
    }
    if (somebody_is_busy(server)) {
        sx_spin_paid(&server->spin, &server->spin_try);
        return true;
    }
    if (server->port.lanes_active && linger(server)) {
        return true;
    }
    server->port.lanes_active = false;
    sx_shown_sleep(server);
    sx_board_sleep(&server->board);
    if (somebody_is_busy(server)) {
        sx_board_wake(&server->board);
        return true;
    }
    return false;
}

static void awake(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    server->turn.now_ns = now_ns; /* callbacks before the turn may read the time as well */
    sx_board_wake(&server->board);
}

/* No client can be served any more.  Their calls return PMIX_ERR_LOST_CONNECTION, no process can
 * connect, and the host is notified of each lost client.  Calls of the host are posts, and work. */
static void broken(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    server->turn.now_ns = now_ns;
    for (size_t i = 0; i < SX_COUNT(server->entry.strangers.accepts); i++) {
        (void)shutdown(server->entry.strangers.accepts[i].fd, SHUT_RDWR);
    }
    sx_strangers_end(server);
    while (server->live_count > 0) {
        struct sx_client *const client = server->live[server->live_count - 1];

        if (client->state == SX_CLIENT_CONNECTED) {
            sx_reaper_client_lost(server, client);
        } else {
            sx_connection_close(server, client);
        }
    }
}

void sx_turn_hook(struct sx_server *server)
{
    const struct sx_loop_hooks hooks = {
        .about_to_sleep = about_to_sleep,
        .awake = awake,
        .turn = turn,
        .broken = broken,
        .arg = server,
    };
    sx_loop_set_hooks(server->loop, &hooks);
}
