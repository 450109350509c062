/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bare.h - a server that is nothing but its state: no thread, no socket, no engine that is told of
 * anything.  Its jobs are made up, and their processes are connected by the state's word alone. */
#ifndef SX_TEST_BARE_H
#define SX_TEST_BARE_H

#include <criterion/criterion.h>
#include <string.h>

#include "server/collective/collective.h"
#include "server/data/get_index.h"
#include "server/group/group.h"
#include "server/model/family.h"
#include "server/model/state.h"
#include "server/port/port.h"

static inline void bare_init(struct sx_server *server)
{
    static const struct sx_family none[] = { { .name = NULL } };

    *server = (struct sx_server){ .self = { .nspace = "host" },
                                  .families = none,
                                  .kinds = sx_kinds };
    server->board = SX_BOARD_NULL;
    sx_registry_init(&server->registry);
    sx_turn_init(&server->turn);
    cr_assert_eq(sx_shown_init(server), PMIX_SUCCESS);
    sx_list_init(&server->event.wants);
    sx_list_init(&server->event.open_codes);
    sx_list_init(&server->event.dirty);
    sx_list_init(&server->event.handled_askers);
    sx_list_init(&server->collective.spans);
    sx_list_init(&server->collective.all);
    sx_list_init(&server->collective.marked);
    sx_collective_ends_init(server);
    sx_list_init(&server->collective.unread);
    sx_list_init(&server->collective.leavers);
    sx_list_init(&server->group.invite_early);
    sx_invites_init(server);
    sx_memberships_init(&server->memberships, 1);
    sx_waiting_init(server);
    sx_list_init(&server->entry.strangers.asked);
    sx_list_init(&server->entry.strangers.joining);
    sx_list_init(&server->port.host.calls);
    cr_assert_eq(sx_pendings_init(server), PMIX_SUCCESS);
    cr_assert_eq(sx_board_create(&server->board, "bare", NULL), PMIX_SUCCESS);
}

/* A job of @job_size processes, of which the first @here are registered on this node. */
static inline struct sx_nspace *bare_job(struct sx_server *server, const char *name,
                                         uint32_t job_size, uint32_t here)
{
    struct sx_nspace *const nspace = sx_nspace_obtain(server, name);

    cr_assert_not_null(nspace);
    nspace->registered = true;
    nspace->job_size = job_size;
    nspace->local_count = here;
    for (uint32_t rank = 0; rank < here; rank++) {
        cr_assert_not_null(sx_client_add(nspace, rank));
    }
    return nspace;
}

/* These processes are connected under a name of their own. */
static inline struct sx_membership_entry *bare_connected(struct sx_server *server, const char *name,
                                                         const pmix_proc_t procs[], size_t count)
{
    const struct sx_membership_options options = {
        .name = name, .kind = SX_MEMBERSHIP_CONNECTED, .procs = procs, .proc_count = count
    };
    struct sx_membership_entry *entry;

    cr_assert_eq(sx_memberships_add(server, &options, &entry), PMIX_SUCCESS);
    return entry;
}

/* A process of it, with a lane and a bell. */
static inline struct sx_client *bare_connect(struct sx_server *server, struct sx_nspace *nspace,
                                             uint32_t rank)
{
    struct sx_client *const client = sx_client_find(nspace, rank);

    cr_assert_not_null(client);
    cr_assert_eq(sx_nspace_open(server, nspace), PMIX_SUCCESS);
    cr_assert_eq(sx_board_slot_claim(&server->board, &client->slot), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_create(&client->lane, "lane", &server->board, client->slot, NULL),
                 PMIX_SUCCESS);
    client->state = SX_CLIENT_CONNECTED;
    nspace->connected_count++;
    nspace->reader_count++;
    return client;
}

static inline void bare_turn(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_host_calls_make((struct sx_server *)arg);
}

/* A loop, which runs in bare_call and bare_much_later alone.  At the end of each turn the host is
 * called, as the server's own turn does. */
static inline void bare_loop(struct sx_server *server)
{
    const struct sx_loop_hooks hooks = { .turn = bare_turn, .arg = server };

    cr_assert_eq(sx_loop_new(&server->loop), PMIX_SUCCESS);
    sx_loop_set_hooks(server->loop, &hooks);
}

static inline void bare_stop(void *loop, uint64_t now_ns)
{
    (void)now_ns;
    sx_loop_stop(loop);
}

/* Call @fn (or NULL) as the loop's thread, what it posts, the host, and what follows from that. */
static inline void bare_call(struct sx_server *server, sx_loop_fn fn, void *arg)
{
    struct sx_timer call = { .fn = fn, .arg = arg };

    if (fn != NULL) {
        cr_assert_eq(sx_timer_add(server->loop, &call, 0), PMIX_SUCCESS);
    }
    do {
        struct sx_timer last = { .fn = bare_stop, .arg = server->loop };

        cr_assert_eq(sx_timer_add(server->loop, &last, 0), PMIX_SUCCESS);
        sx_loop_run(server->loop);
    } while (!sx_list_empty(&server->port.host.calls));
}

struct bare_leave {
    struct sx_server *server;
    struct sx_timer look;
};

static inline void bare_leave_look(void *arg, uint64_t now_ns)
{
    struct bare_leave *const leave = (struct bare_leave *)arg;

    if (sx_list_empty(&leave->server->collective.leavers)) {
        sx_loop_stop(leave->server->loop);
    } else {
        cr_assert_eq(sx_timer_add(leave->server->loop, &leave->look, now_ns), PMIX_SUCCESS);
    }
}

/* Run the loop until all who leave their lists in steps have left them. */
static inline void bare_leave(struct sx_server *server)
{
    struct bare_leave leave = { .server = server };

    leave.look = (struct sx_timer){ .fn = bare_leave_look, .arg = &leave };
    cr_assert_eq(sx_timer_add(server->loop, &leave.look, 0), PMIX_SUCCESS);
    sx_loop_run(server->loop);
}

static inline uint64_t bare_end_of_time(void *arg)
{
    (void)arg;
    return UINT64_MAX / 2;
}

/* Run all timers, as if their time had come. */
static inline void bare_much_later(struct sx_server *server)
{
    struct sx_timer last = { .fn = bare_stop, .arg = server->loop };

    sx_loop_set_clock(server->loop, bare_end_of_time, NULL);
    cr_assert_eq(sx_timer_add(server->loop, &last, UINT64_MAX / 2), PMIX_SUCCESS);
    sx_loop_run(server->loop);
    sx_loop_set_clock(server->loop, NULL, NULL);
}

static inline void bare_deinit(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        for (size_t i = 0; i < nspace->client_count; i++) {
            sx_lane_destroy(&nspace->by_rank[i]->lane);
        }
    }
    sx_registry_deinit(server);
    sx_shown_deinit(server);
    sx_memberships_deinit(server);
    sx_board_deinit(&server->board);
    sx_loop_free(server->loop);
}

/* How often a client was rung. */
static inline uint32_t bare_rings(const struct sx_server *server, const struct sx_client *client)
{
    return sx_door_epoch(&server->board.slots[client->slot].bell);
}

#endif
