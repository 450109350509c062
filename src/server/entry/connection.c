/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connection.c - check each peer against what the host registered, and welcome it.
 *
 *     ACCEPTED --HELLO, uid and rank agree--> CONNECTED --FINALIZE--> FINALIZED --end--> REGISTERED
 *        |                                           |                   \--another HELLO--^
 *        |                                           \--death, or a breach--> DEAD
 *        \--anything else: one log line, closed
 *
 * Until its HELLO a socket owns one struct sx_connection and nothing else.  At the end of a turn
 * there are at most SX_CONNECTION_PENDING_MAX of them: the oldest silent ones make room for new
 * ones.  The kernel says who the peer is.  The message only says which rank it wants to be, or that
 * it is a tool (tool.h). */
#include "server/entry/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/status.h"
#include "base/value.h"
#include "server/entry/tool.h"
#include "server/model/family.h"
#include "server/port/host.h"
#include "server/port/lanes.h"
#include "server/port/reply.h"
#include "server/port/wake.h"

#define REFUSALS_TOLD_MAX 64 /* of other users */
#define REFUSAL_UNITS 20     /* of one who is refused, or leaves without a word */

/* Owned by the pending list, then by its client.  The loop buries it, because it may end inside one
 * of its own callbacks. */
struct sx_connection {
    struct sx_list link; /* server.connections or turn.strangers while pending */
    struct sx_server *server;
    struct sx_channel channel;
    struct sx_loop_post burial;
};

static void connection_bury(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    free(arg);
}

static void connection_end(struct sx_connection *connection)
{
    sx_channel_close(&connection->channel);
    connection->burial = (struct sx_loop_post){ .fn = connection_bury, .arg = connection };
    if (sx_loop_post(connection->server->loop, &connection->burial) != PMIX_SUCCESS) {
        free(connection); /* the loop has stopped: nothing refers to it */
    }
}

static void pending_remove(struct sx_connection *connection)
{
    sx_list_remove(&connection->link);
    if (--connection->server->connection_count == 0) {
        connection->server->crowd_told = false;
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

#define ACCEPT_REST_NS (SX_TURN_STRANGER_UNITS * SX_TURN_REST * SX_TURN_UNIT_NS)

static pmix_status_t accept_start(struct sx_server *server)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < SX_COUNT(server->accepts) && rc == PMIX_SUCCESS; i++) {
        struct sx_accept *accept = &server->accepts[i];

        if (accept->fd >= 0 && accept->source.loop == NULL) {
            rc = sx_accept_add(server->loop, accept);
        }
    }
    return rc;
}

static void accept_stop(struct sx_server *server)
{
    for (size_t i = 0; i < SX_COUNT(server->accepts); i++) {
        sx_accept_remove(&server->accepts[i]);
    }
}

static void accept_again(void *arg, uint64_t now_ns);

/* A refused peer may come back at once.  So when refused peers have used up a share of a turn, the
 * others have ten times as long for themselves.  A peer that connects meanwhile waits in the
 * backlog.  Accepted peers go on. */
static void accept_rest(struct sx_server *server, uint64_t now_ns)
{
    server->accept_rest.fn = accept_again;
    server->accept_rest.arg = server;
    if (sx_timer_add(server->loop, &server->accept_rest, now_ns + ACCEPT_REST_NS) == PMIX_SUCCESS) {
        accept_stop(server);
        server->refused_units -= server->refused_units < SX_TURN_STRANGER_UNITS
                                     ? server->refused_units
                                     : SX_TURN_STRANGER_UNITS;
    }
}

static void accept_again(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    if (server->refused_units >= SX_TURN_STRANGER_UNITS || /* accepted before the rest */
        accept_start(server) != PMIX_SUCCESS) {
        accept_rest(server, now_ns);
    }
}

static void refusal_charge(struct sx_server *server, uint64_t now_ns)
{
    sx_share_charge_strangers(server, REFUSAL_UNITS);
    server->refused_units += REFUSAL_UNITS;
    if (server->refused_units >= SX_TURN_STRANGER_UNITS &&
        server->accept_rest.source.loop == NULL) {
        accept_rest(server, now_ns);
    }
}

static uint64_t frame_cost(const struct sx_frame *frame)
{
    return frame->body == NULL ? sx_message_piece_cost(frame->body_size)
                               : sx_message_cost(frame->header.kind, frame->body_size);
}

/* ---- frames of a welcomed client ----------------------------------------------------------- */

/* Its frames wait for its turn, and until its lane has been taken up to here. */
static void client_is_ready(void *arg, uint64_t now_ns)
{
    struct sx_client *client = arg;

    (void)now_ns;
    client->share.frame = true;
    client->share.frame_mark = sx_lane_end(client);
}

static void client_on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct sx_client *client = arg;
    struct sx_server *server = sx_server_get();

    if (frame == NULL) {
        server->consumer->ended(server, client, why);
        return;
    }
    sx_share_charge(server, client, frame_cost(frame));
    if (client->state != SX_CLIENT_CONNECTED) {
        /* Sent by another of its threads while it said good-bye: nothing is done for it, and the
         * host hears of one good-bye only. */
        sx_reply(server, client, frame->header.id, PMIX_ERR_NOT_AVAILABLE, -1);
        return;
    }
    if (frame->body == NULL) { /* a piece of a large body, or none for want of memory */
        sx_reply(server, client, frame->header.id, frame->status, -1);
        return;
    }
    sx_client_retain(client);
    server->consumer->frame(server, client, frame, now_ns);
    sx_client_release(client);
}

void sx_connection_take(struct sx_client *client, uint64_t now_ns)
{
    sx_channel_take(&client->connection->channel, now_ns);
}

/* Its bell rang when the answers were queued.  A client that has read up to there and sleeps is
 * woken again. */
static void client_on_sent(void *arg, uint64_t now_ns)
{
    struct sx_client *client = arg;
    struct sx_server *server = sx_server_get();

    (void)now_ns;
    if (client->slot < server->board.slot_count) {
        sx_wake_client(server, client);
    }
}

static void doorbell_rung(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_client *client = arg;
    uint64_t count;
    const struct iovec iov = { .iov_base = &count, .iov_len = sizeof(count) };
    ssize_t got;

    (void)revents;
    (void)now_ns;
    /* The lanes are looked at in this turn anyway; only the bell has to be silenced.  Its flags are
     * shared with the client, who may have made it blocking, and emptied it meanwhile. */
    do {
        got = preadv2(client->doorbell_fd, &iov, 1, -1, RWF_NOWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != EAGAIN) { /* before 5.8: nearly as good */
        fcntl(client->doorbell_fd, F_SETFL, O_RDWR | O_NONBLOCK);
        (void)!read(client->doorbell_fd, &count, sizeof(count));
    }
}

/* ---- welcome ------------------------------------------------------------------------------- */

/* Return: the registered client that the peer may become, or NULL with *ret_status and *ret_why. */
static struct sx_client *client_judge(struct sx_server *server, const struct sx_hello *hello,
                                      const struct sx_peer *peer, pmix_status_t *ret_status,
                                      const char **ret_why)
{
    struct sx_nspace *nspace = sx_nspace_find(server, hello->nspace);
    struct sx_client *client = nspace == NULL ? NULL : sx_client_find(nspace, hello->rank);

    *ret_status = PMIX_ERR_NOT_FOUND;
    *ret_why = "wants to be a rank that the host has not registered here";
    if (client == NULL || client->is_tool) {
        return NULL;
    }
    *ret_why =
        "wants to be a rank that was cut off, or taken away: the host has to register it again";
    if (client->state == SX_CLIENT_DEAD && !client->died) {
        return NULL;
    }
    *ret_status = PMIX_ERR_NO_PERMISSIONS;
    *ret_why = "belongs to another user than the rank it wants to be";
    if (peer->uid != client->uid) {
        return NULL;
    }
    *ret_status = PMIX_EXISTS;
    *ret_why = "wants to be a rank that is connected already";
    if (client->state == SX_CLIENT_CONNECTED && !server->consumer->replaced(server, client)) {
        return NULL;
    }
    return client;
}

/* The same for any role.  @hello has been checked: its names end. */
static struct sx_client *hello_judge(struct sx_server *server, const struct sx_hello *hello,
                                     const struct sx_peer *peer, pmix_status_t *ret_status,
                                     const char **ret_why)
{
    *ret_status = PMIX_ERR_BAD_PARAM;
    *ret_why = "speaks another protocol";
    if (hello->protocol != SX_PROTOCOL_VERSION) {
        return NULL;
    }
    switch (hello->role) {
    case SX_PEER_CLIENT:
        return client_judge(server, hello, peer, ret_status, ret_why);
    case SX_PEER_TOOL:
        return sx_tool_admit(server, hello, peer, ret_status, ret_why);
    default:
        *ret_why = "is neither client nor tool";
        return NULL;
    }
}

#define WELCOME_DOORBELL 2 /* of the five: the server's own, the others are for the client alone */

/* Everything a client needs from us, in the order of struct sx_welcome. */
static pmix_status_t welcome_descriptors(struct sx_server *server, struct sx_client *client,
                                         int fds[5])
{
    pmix_status_t rc = sx_segment_share(&server->board.seg, &fds[0]);

    if (rc == PMIX_SUCCESS) {
        rc = sx_segment_share(&client->lane.seg, &fds[1]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_segment_share(&client->home->ring.seg, &fds[3]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_segment_share(&client->home->store.view.seg, &fds[4]);
    }
    fds[WELCOME_DOORBELL] = client->doorbell_fd;
    return rc;
}

static pmix_status_t client_equip(struct sx_server *server, struct sx_client *client)
{
    char name[300];
    pmix_status_t rc = sx_nspace_open(server, client->home);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_board_slot_claim(&server->board, &client->slot);
    if (rc != PMIX_SUCCESS) {
        client->slot = SX_BOARD_SLOT_MAX;
        return rc;
    }
    snprintf(name, sizeof(name), "%s.%u", client->nspace->name, client->rank);
    rc = sx_lane_create(&client->lane, name, &server->board, client->slot);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    client->doorbell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->doorbell_fd < 0) {
        return SX_RAISE(sx_status_from_errno(errno), "eventfd for %s.%u: %s (raise ulimit -n)",
                        client->nspace->name, client->rank, strerror(errno));
    }
    client->doorbell = (struct sx_poll){
        .fd = client->doorbell_fd,
        .events = POLLIN,
        .fn = doorbell_rung,
        .arg = client,
    };
    rc = sx_poll_add(server->loop, &client->doorbell);
    return rc == PMIX_SUCCESS ? sx_lanes_add(server, client) : rc;
}

static void welcome_close(int fds[5])
{
    for (int i = 0; i < 5; i++) {
        if (i != WELCOME_DOORBELL && fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

static void client_welcome(struct sx_server *server, struct sx_client *client, uint32_t id,
                           int fds[5])
{
    struct sx_welcome welcome = {
        .status = PMIX_SUCCESS,
        .slot = client->slot,
        .rank = client->rank,
        .server_rank = server->self.rank,
    };
    const struct iovec iov = { .iov_base = &welcome, .iov_len = sizeof(welcome) };

    memcpy(welcome.nspace, client->nspace->name, sizeof(welcome.nspace));
    memcpy(welcome.server_nspace, server->self.nspace, sizeof(welcome.server_nspace));
    /* A failed send ends in client_on_frame(NULL). */
    sx_channel_send(&client->connection->channel, SX_MSG_WELCOME, id, &iov, 1, fds, 5);
    welcome_close(fds);
    if (client->lane.seg.fd >= 0) { /* the client has it now; nobody else ever gets it */
        close(client->lane.seg.fd);
        client->lane.seg.fd = -1;
    }
}

/* The pending socket becomes the client's.  Return: an error when it could not be equipped. */
static pmix_status_t client_connect(struct sx_server *server, struct sx_client *client,
                                    struct sx_connection *connection, const struct sx_hello *hello,
                                    uint32_t id)
{
    int fds[5] = { -1, -1, -1, -1, -1 };
    pmix_status_t rc;

    if (client->state == SX_CLIENT_FINALIZED) {
        /* Its good-bye was said; a forked child holds the old socket open. */
        server->consumer->ended(server, client, NULL);
    }
    if (client->state == SX_CLIENT_DEAD) { /* the host has started it again */
        client->state = SX_CLIENT_REGISTERED;
        SX_FAMILIES_TELL(server, client_expected, server, client);
    }
    rc = client_equip(server, client);
    if (rc == PMIX_SUCCESS) {
        rc = sx_channel_watch_peer(&connection->channel);
    }
    if (rc == PMIX_SUCCESS) {
        rc = welcome_descriptors(server, client, fds);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_host_client_connected(server, client);
    }
    if (rc != PMIX_SUCCESS) {
        welcome_close(fds);
        sx_connection_close(server, client);
        sx_tool_forget(server, client);
        return rc;
    }
    pending_remove(connection);
    client->connection = connection;
    client->channel = &connection->channel;
    connection->channel.on_frame = client_on_frame;
    connection->channel.on_ready = client_is_ready;
    connection->channel.on_sent = client_on_sent;
    connection->channel.arg = client;
    client->state = SX_CLIENT_CONNECTED;
    sx_share_begin(server, client);
    client->result_count = 0; /* those of the process before have its numbers */
    client->no_waitv = (hello->flags & SX_HELLO_NO_WAITV) != 0;
    server->bitset_sleepers += client->no_waitv;
    client->nspace->connected_count++;
    client->home->reader_count++;
    sx_client_retain(client); /* the connection's */
    SX_FAMILIES_TELL(server, client_connected, server, client);
    client_welcome(server, client, id, fds);
    return PMIX_SUCCESS;
}

/* Any user of this network namespace may connect, but must not fill the host's log. */
static void refusal_tell(struct sx_server *server, const struct sx_peer *peer, const char *why)
{
    const bool is_other = peer->uid != 0 && peer->uid != geteuid();

    if (is_other && server->refusals_told == REFUSALS_TOLD_MAX) {
        return;
    }
    server->refusals_told += is_other;
    sx_log(SX_LOG_WARN, "connection of pid %d uid %u refused: it %s%s", (int)peer->pid,
           (unsigned)peer->uid, why,
           is_other && server->refusals_told == REFUSALS_TOLD_MAX
               ? " (no more is said of other users)"
               : "");
}

/* The first frame of a connection: HELLO, or something else, or nothing. */
static void pending_on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct sx_connection *connection = arg;
    struct sx_server *server = connection->server;
    const struct sx_peer peer = connection->channel.peer;
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    const char *reason = "did not say who it is";

    (void)why;
    if (frame != NULL && frame->header.kind == SX_MSG_HELLO) {
        const struct sx_hello *hello = frame->body;
        const uint32_t id = frame->header.id;
        struct sx_client *client = hello_judge(server, hello, &peer, &status, &reason);

        if (client != NULL) {
            reason = "could not be equipped";
            status = client_connect(server, client, connection, hello, id);
        }
        if (status == PMIX_SUCCESS) {
            sx_share_charge_strangers(server, frame_cost(frame));
            return;
        }
        struct sx_welcome refusal = { .status = status };
        const struct iovec iov = { .iov_base = &refusal, .iov_len = sizeof(refusal) };

        sx_channel_send(&connection->channel, SX_MSG_WELCOME, id, &iov, 1, NULL, 0);
    }
    refusal_charge(server, now_ns);
    if (frame != NULL) {
        refusal_tell(server, &peer, reason);
    }
    pending_remove(connection);
    connection_end(connection);
}

/* ---- those who say nothing ----------------------------------------------------------------- */

/* Welcomed clients need descriptors, too. */
static size_t pending_max(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 > SX_CONNECTION_PENDING_MAX) {
        return SX_CONNECTION_PENDING_MAX;
    }
    return limit.rlim_cur / 4 < SX_CONNECTION_PENDING_MIN ? SX_CONNECTION_PENDING_MIN
                                                          : limit.rlim_cur / 4;
}

/* At the end of a turn, after everybody accepted in it has had a chance to say HELLO. */
static void pending_thin_out(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;
    const size_t max = pending_max();

    server->crowd_posted = false;
    while (server->connection_count > max && !sx_list_empty(&server->connections)) {
        struct sx_connection *oldest = SX_LIST_ENTRY(server->connections.next, struct sx_connection,
                                                     link);

        if (!server->crowd_told) {
            server->crowd_told = true;
            sx_log(SX_LOG_WARN,
                   "more than %zu connections do not say who they are: the oldest "
                   "are closed (one is of pid %d uid %u)",
                   max, (int)oldest->channel.peer.pid, (unsigned)oldest->channel.peer.uid);
        }
        pending_remove(oldest);
        connection_end(oldest);
        refusal_charge(server, now_ns);
    }
}

static void stranger_is_ready(void *arg, uint64_t now_ns)
{
    struct sx_connection *connection = arg;

    (void)now_ns;
    sx_list_remove(&connection->link);
    sx_list_append(&connection->server->turn.strangers, &connection->link);
}

void sx_connection_take_stranger(struct sx_server *server, uint64_t now_ns)
{
    struct sx_connection *connection = SX_LIST_ENTRY(sx_list_pop(&server->turn.strangers),
                                                     struct sx_connection, link);

    sx_list_append(&server->connections, &connection->link); /* there may be nothing after all */
    sx_channel_take(&connection->channel, now_ns);
}

static void accepted(void *arg, int fd, uint64_t now_ns)
{
    struct sx_server *server = arg;
    struct sx_connection *connection = calloc(1, sizeof(*connection));

    (void)now_ns;
    if (connection == NULL) {
        sx_channel_refuse(fd);
        return;
    }
    connection->server = server;
    sx_list_init(&connection->link);
    if (sx_channel_open(&connection->channel, server->loop, fd, pending_on_frame, connection) !=
        PMIX_SUCCESS) {
        free(connection);
        return;
    }
    connection->channel.on_ready = stranger_is_ready;
    sx_list_append(&server->connections, &connection->link);
    if (++server->connection_count > pending_max() && !server->crowd_posted) {
        server->crowd = (struct sx_loop_post){ .fn = pending_thin_out, .arg = server };
        server->crowd_posted = sx_loop_post(server->loop, &server->crowd) == PMIX_SUCCESS;
    }
}

pmix_status_t sx_connection_listen(struct sx_server *server)
{
    const int fds[] = { server->rendezvous.listen_fd, server->rendezvous.abstract_fd };

    for (size_t i = 0; i < SX_COUNT(fds); i++) {
        server->accepts[i] = (struct sx_accept){ .fd = fds[i], .fn = accepted, .arg = server };
    }
    return accept_start(server);
}

/* ---- the end ------------------------------------------------------------------------------- */

void sx_connection_close(struct sx_server *server, struct sx_client *client)
{
    struct sx_connection *connection = client->connection;

    if (client->slot < server->board.slot_count && client->lane.seg.base != NULL) {
        atomic_store_explicit(&server->board.slots[client->slot].state, SX_SLOT_DROPPED,
                              memory_order_release);
        sx_wake_client(server, client);
    }
    SX_FAMILIES_TELL(server, client_closed, server, client);
    sx_share_end(client);
    sx_lanes_remove(server, client);
    sx_wake_fd_close(client);
    sx_poll_remove(&client->doorbell);
    if (client->doorbell_fd >= 0) {
        close(client->doorbell_fd);
        client->doorbell_fd = -1;
    }
    if (client->lane.seg.base != NULL) {
        sx_lane_destroy(&client->lane);
        client->lane = SX_LANE_READER_NULL;
    }
    if (client->slot < server->board.slot_count) {
        sx_board_slot_abandon(&server->board, client->slot);
        client->slot = SX_BOARD_SLOT_MAX;
    }
    if (client->state != SX_CLIENT_DEAD) {
        client->state = SX_CLIENT_REGISTERED;
    }
    if (connection != NULL) {
        client->connection = NULL;
        client->channel = NULL;
        connection_end(connection);
        server->bitset_sleepers -= client->no_waitv;
        if (client->nspace != NULL) {
            client->nspace->connected_count--;
            client->home->reader_count--;
        }
        sx_client_release(client);
    }
}

static void pending_end_all(struct sx_list *connections)
{
    SX_LIST_EACH(it, connections) {
        struct sx_connection *connection = SX_LIST_ENTRY(it, struct sx_connection, link);

        pending_remove(connection);
        connection_end(connection);
    }
}

void sx_connection_end_all(struct sx_server *server)
{
    accept_stop(server);
    sx_timer_remove(&server->accept_rest);
    pending_end_all(&server->connections);
    pending_end_all(&server->turn.strangers);
    while (server->live_count > 0) {
        struct sx_client *client = server->live[server->live_count - 1];

        sx_connection_close(server, client);
    }
}
