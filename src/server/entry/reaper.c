/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reaper.c - the three signals of a death, and what follows from it.
 *
 *     CONNECTED --FINALIZE--> FINALIZED --socket ends--> REGISTERED --it exits--> departed
 *        |--pidfd readable, or socket ends without FINALIZE--> its lane is taken --> DEAD
 *        \--a breach--> DEAD
 *     DEAD --the host registers it again; it has died, and another process comes--> REGISTERED
 *
 * The life word in the lane fires 0.1 ms after a kill, however large the process is.  The pidfd
 * fires only after the kernel has freed the memory of the process (60 us per MiB).
 *
 * The client can write its life word, so the word decides nothing.  It makes the server ask the
 * kernel whether all threads of the process exit, at growing intervals, SX_DEATH_CHECK_MAX
 * times.  The end of a single thread, or an execve, fires the word too.  The kernel's answer
 * distinguishes them from a death. */
#include "server/entry/entry.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/system/process.h"
#include "server/collective/collective.h"
#include "server/model/family.h"
#include "server/port/port.h"

#define SX_DEATH_CHECK_MAX 12u /* 0.1 ms doubling: 0.4 s in all, then the pidfd decides */
#define SX_DEATH_CHECK_FIRST_NS UINT64_C(100000)

/* ---- departures ----------------------------------------------------------------------------- */

void sx_reaper_await_nobody(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    client->left = client->departed = client->died = false;
    sx_poll_remove(&client->exit);
    if (client->exit_fd >= 0) {
        close(client->exit_fd);
        client->exit_fd = -1;
    }
}

void sx_reaper_client_departed(struct sx_server *server, struct sx_client *client)
{
    sx_client_retain(client);
    sx_reaper_await_nobody(server, client);
    client->departed = true;
    SX_FAMILIES_NOTIFY_OF(server, client_departed, client);
    sx_client_release(client);
}

static void exit_fired(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_client *const client = arg;

    (void)revents;
    (void)now_ns;
    if (client->nspace->is_ending) { /* the host takes it away */
        sx_poll_remove(&client->exit);
    } else {
        sx_reaper_client_departed(sx_server_get(), client);
    }
}

/* The client has sent its good-bye, and its socket or its process has ended. */
static void client_left(struct sx_server *server, struct sx_client *client)
{
    const int pidfd = sx_client_peer(client)->pidfd;
    /* relaxed: the client stored it before it sent its good-bye. */
    const bool no_wrapper = atomic_load_explicit(&client->lane.line->no_wrapper,
                                                 memory_order_relaxed) != 0;
    const bool is_awaited = no_wrapper && !client->is_tool && pidfd >= 0;
    const int exit_fd = is_awaited ? fcntl(pidfd, F_DUPFD_CLOEXEC, 0) : -1;

    sx_client_retain(client);
    sx_connection_close(server, client);
    if (exit_fd >= 0) { /* before the rows below: they ask whether the exit is awaited */
        client->exit_fd = exit_fd;
        client->exit = (struct sx_poll){
            .fd = exit_fd,
            .events = POLLIN,
            .fn = exit_fired,
            .arg = client,
        };
        sx_poll_add(server->loop, &client->exit);
    }
    SX_FAMILIES_NOTIFY_OF(server, client_ended, client);
    if (client->is_tool) {
        sx_reaper_client_departed(server, client);
        sx_tool_forget(server, client);
    }
    sx_client_release(client);
}

/* ---- deaths --------------------------------------------------------------------------------- */

static void lane_was_taken(struct sx_lane_mark *mark)
{
    sx_reaper_client_lost(sx_server_get(), SX_CONTAINER(mark, struct sx_client, share.ending));
}

/* The kernel reports the client's death.  Messages that the client had submitted before still
 * count.  Nothing else from the client is read meanwhile. */
static void client_died(struct sx_server *server, struct sx_client *client)
{
    if (client->nspace->is_ending) { /* the host takes it away */
        sx_reaper_unwatch(server, client);
    } else if (client->state == SX_CLIENT_FINALIZED) {
        client_left(server, client);
    } else if (client->state == SX_CLIENT_CONNECTED && client->share.ending.reached == NULL) {
        /* The main thread is enough: whatever shares the connection has closed it. */
        client->died = sx_process_end(sx_client_peer(client)->pidfd) != SX_PROCESS_LIVES;
        sx_reaper_unwatch(server, client);
        sx_share_forgive(client);
        client->share.ending.reached = lane_was_taken;
        sx_lane_mark(server, client, &client->share.ending);
    }
}

static void check_death(void *arg, uint64_t now_ns)
{
    struct sx_client *client = arg;
    struct sx_server *server = sx_server_get();
    const struct sx_peer *peer = sx_client_peer(client);

    if (client->state != SX_CLIENT_CONNECTED) {
        return; /* the client has released the word with its good-bye */
    }
    if (sx_process_end(peer->pidfd) == SX_PROCESS_EXITS) {
        client_died(server, client);
        return;
    }
    if (client->death_checks++ < SX_DEATH_CHECK_MAX) {
        client->death_check.fn = check_death;
        client->death_check.arg = client;
        sx_timer_add(server->loop, &client->death_check,
                     now_ns + (SX_DEATH_CHECK_FIRST_NS << client->death_checks));
    }
}

static void hint_fired(void *arg, uint64_t now_ns)
{
    struct sx_client *client = arg;

    client->death_checks = 0;
    check_death(client, now_ns);
}

static void pidfd_fired(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_client *client = arg;

    (void)revents;
    (void)now_ns;
    client_died(sx_server_get(), client);
}

void sx_reaper_watch(struct sx_server *server, struct sx_client *client)
{
    const struct sx_peer *peer = sx_client_peer(client);

    sx_reaper_await_nobody(server, client);
    if (peer->pidfd >= 0) {
        client->death = (struct sx_poll){
            .fd = peer->pidfd,
            .events = POLLIN,
            .fn = pidfd_fired,
            .arg = client,
        };
        sx_poll_add(server->loop, &client->death);
    }
}

/* The client takes its life word some time after the welcome, so watch it from its first lane
 * message on.  The word is only a hint: the pidfd finds a client that never takes it. */
void sx_reaper_watch_hint(struct sx_server *server, struct sx_client *client)
{
    const uint32_t seen = atomic_load_explicit(client->lane.life_word, memory_order_relaxed);

    if (client->death_hint.source.loop != NULL || client->death_checks != 0 || seen == 0) {
        return;
    }
    client->death_hint = (struct sx_futex){
        .word = client->lane.life_word,
        .seen = seen,
        .fn = hint_fired,
        .arg = client,
    };
    client->death_checks = 1; /* asked once, the answer does not matter */
    sx_futex_add(server->loop, &client->death_hint);
}

void sx_reaper_unwatch(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    sx_poll_remove(&client->death);
    sx_futex_remove(&client->death_hint);
    sx_timer_remove(&client->death_check);
    client->death_checks = 0;
}

void sx_reaper_client_lost(struct sx_server *server, struct sx_client *client)
{
    if (client->state == SX_CLIENT_DEAD) {
        return;
    }
    sx_client_retain(client);
    client->state = SX_CLIENT_DEAD;
    sx_connection_close(server, client);
    SX_FAMILIES_NOTIFY_OF(server, client_gone, client);
    SX_FAMILIES_NOTIFY_OF(server, client_lost, client);
    sx_tool_forget(server, client);
    sx_client_release(client);
}

bool sx_reaper_client_replaced(struct sx_server *server, struct sx_client *client)
{
    if (!sx_process_has_gone(sx_client_peer(client)->pidfd)) {
        return false;
    }
    sx_client_retain(client);
    client_died(server, client);
    while (client->state == SX_CLIENT_CONNECTED) { /* at most one lane: its writer has ended */
        sx_lane_take_one(server, client);
    }
    const bool may_come = client->died && client->nspace != NULL;

    sx_client_release(client);
    return may_come;
}

void sx_reaper_client_breaks(struct sx_server *server, struct sx_client *client, const char *why)
{
    sx_log(SX_LOG_WARN, "client %s.%u (pid %d) is dropped: %s", client->nspace->name, client->rank,
           (int)sx_client_peer(client)->pid, why);
    client->died = false;
    sx_reaper_client_lost(server, client);
}

void sx_reaper_socket_ended(struct sx_server *server, struct sx_client *client, const char *why)
{
    if (why == NULL) {
        client_died(server, client);
    } else { /* a breach, which the channel has logged: no later message is trusted */
        client->died = false;
        sx_reaper_client_lost(server, client);
    }
}

/* ---- PMIx_Finalize ------------------------------------------------------------------------- */

/*     FINALIZE --client_finalized has returned--> WAITS --nothing of the client is left--> answered
 *
 * A host takes an exit before client_finalized for a failure.  The end of the client is acted on in
 * steps, and has answers for its own calls too: those are sent before. */
struct good_bye {
    struct sx_host_call call;
    struct sx_server *server;
    struct sx_client *client; /* retained */
    uint32_t id;
};

static void good_bye_look(void *arg, uint64_t now_ns)
{
    struct sx_pending *const pending = arg;
    const struct sx_client *const client = pending->client;

    if (client->guests_lost > 0 || sx_membership_is_leaving(pending->server, client)) {
        sx_pending_limit(pending, good_bye_look, now_ns); /* in the next turn */
    } else {
        sx_pending_answer_last(pending);
    }
}

/* Return: false for a client that has gone meanwhile, and when memory is out. */
static bool good_bye_wait(const struct good_bye *good_bye)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_FINALIZE };
    struct sx_client *const client = good_bye->client;
    struct sx_pending *const pending = client->state == SX_CLIENT_FINALIZED &&
                                               client->channel != NULL
                                           ? calloc(1, sizeof(*pending))
                                           : NULL;

    if (pending == NULL ||
        sx_pending_begin(good_bye->server, client, good_bye->id, &kind, pending) != PMIX_SUCCESS) {
        free(pending);
        return false;
    }
    good_bye_look(pending, 0);
    return true;
}

static void good_bye_reply(struct sx_host_call *call)
{
    struct good_bye *const good_bye = SX_CONTAINER(call, struct good_bye, call);

    if (!good_bye_wait(good_bye)) {
        sx_reply(good_bye->server, good_bye->client, good_bye->id, PMIX_SUCCESS, -1);
    }
    sx_client_release(good_bye->client);
    free(good_bye);
}

static void good_bye_begin(struct sx_server *server, struct sx_client *client, uint32_t id)
{
    struct good_bye *const good_bye = malloc(sizeof(*good_bye));

    if (good_bye == NULL) {
        sx_reply(server, client, id, PMIX_SUCCESS, -1);
        return;
    }
    *good_bye = (struct good_bye){ .server = server, .client = sx_client_retain(client), .id = id };
    sx_host_call_append(server, &good_bye->call, good_bye_reply);
}

void sx_reaper_client_finalized(struct sx_server *server, struct sx_client *client, uint32_t id)
{
    client->state = SX_CLIENT_FINALIZED;
    client->left = true;
    SX_FAMILIES_NOTIFY_OF(server, client_left, client);
    good_bye_begin(server, client, id);
}

/* ---- names that the host takes ------------------------------------------------------------- */

/* Return: NULL when there is none. */
static struct sx_client *first_tool(const struct sx_nspace *nspace)
{
    for (size_t i = 0; i < nspace->client_count; i++) {
        if (nspace->by_rank[i]->is_tool) {
            return nspace->by_rank[i];
        }
    }
    return NULL;
}

/* A tool that is just ending, and for whose end the host is called, is not a client of that name
 * from here on. */
static void tool_drop(struct sx_server *server, struct sx_client *tool)
{
    sx_log(SX_LOG_WARN,
           "tool %s.%u (uid %u) is disconnected: the host registers a namespace of that name",
           tool->nspace->name, tool->rank, (unsigned)tool->uid);
    if (tool->state != SX_CLIENT_DEAD) {
        sx_reaper_client_lost(server, tool);
        return;
    }
    sx_client_retain(tool);
    sx_connection_close(server, tool);
    sx_tool_forget(server, tool);
    sx_client_release(tool);
}

void sx_reaper_name_claimed(struct sx_server *server, const char *name)
{
    struct sx_nspace *nspace;
    struct sx_client *tool;

    while ((nspace = sx_nspace_find(server, name)) != NULL && !nspace->is_ending &&
           (tool = first_tool(nspace)) != NULL) {
        tool_drop(server, tool);
    }
}
