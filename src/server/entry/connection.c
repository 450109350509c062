/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connection.c - equip a client, welcome it, hand on its frames, take resources back; notices to
 * the host, which need no answer.
 *
 *     REGISTERED --its HELLO--> CONNECTED --FINALIZE--> FINALIZED --end--> REGISTERED
 *        |                          |                       \--another HELLO--^
 *        |                          \--death, or a breach--> DEAD
 *        \--it cannot be equipped: all is given back--> REGISTERED */
#include "server/entry/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/status.h"
#include "server/collective/collective.h"
#include "server/model/family.h"
#include "server/port/port.h"

static void connection_bury(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    free(arg);
}

void sx_connection_end(struct sx_connection *connection)
{
    sx_channel_close(&connection->channel);
    connection->burial = (struct sx_loop_post){ .fn = connection_bury, .arg = connection };
    if (sx_loop_post(connection->server->loop, &connection->burial) != PMIX_SUCCESS) {
        free(connection); /* the loop has stopped: nothing refers to it */
    }
}

/* ---- frames of a welcomed client ----------------------------------------------------------- */

/* The frames of a client wait for its turn, and until its lane has been taken up to here. */
static void client_is_ready(void *arg, uint64_t now_ns)
{
    struct sx_client *client = arg;

    (void)now_ns;
    client->share.frame = true;
    client->share.frame_mark = sx_lane_end(client);
}

static void frame_take(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    if (client->state != SX_CLIENT_CONNECTED) {
        /* Another thread of the client sent this frame during its good-bye.  The server does
         * nothing for the frame, and the host is called for one good-bye only. */
        sx_reply(server, client, frame->header.id, PMIX_ERR_NOT_AVAILABLE, -1);
        return;
    }
    if (frame->body == NULL) { /* a piece of a large body, or none for want of memory */
        sx_reply(server, client, frame->header.id, frame->status, -1);
        return;
    }
    sx_client_retain(client);
    if (frame->header.kind != SX_MSG_GET_CANCEL &&
        sx_pending_uses(server, client, frame->header.id)) {
        server->consumer->breaks(server, client,
                                 "it sent a frame with the number of one of its requests that is "
                                 "not answered yet");
    } else {
        server->consumer->frame(server, client, frame, now_ns);
    }
    sx_client_release(client);
}

/* ---- long bodies --------------------------------------------------------------------------- */

#define PROCS_PER_UNIT 16u /* to read them, or to do what their message asks for: share.h */

/* A frame whose body is judged in its client's turns.
 *
 *     JUDGED --it names many processes--> they are READ --> taken
 *         \--else--------------------------------------------^
 *
 * Until the end nothing else of the client is taken. */
struct sx_long_frame {
    struct sx_share_work work;
    struct sx_server *server;
    struct sx_client *client;
    struct sx_frame frame;
    struct sx_judging judging;
    enum { LONG_JUDGED, LONG_READ, LONG_TAKEN } next; /* what it is in the next step */
};

static void long_frame_free(struct sx_client *client)
{
    struct sx_long_frame *const all = client->judged;

    if (all != NULL) {
        client->judged = NULL;
        sx_share_work_remove(&all->work);
        sx_judging_end(&all->judging);
        sx_frame_release(&all->frame);
        free(all);
    }
}

/* Return: false while another step is needed; true, and *ret_why as of sx_judging_step. */
static bool long_frame_judge(struct sx_long_frame *all, const char **ret_why)
{
    const uint64_t looks = SX_SHARE_STEP_UNITS * SX_SHARE_LOOKS_PER_UNIT;
    uint64_t left = looks;
    const bool is_more = sx_judging_step(&all->judging, &all->frame.opened, &left, ret_why);

    sx_share_charge(all->server, all->client, 1 + (looks - left) / SX_SHARE_LOOKS_PER_UNIT);
    return !is_more;
}

/* Return: true when the frame is to be taken or, for *ret_why, refused. */
static bool long_frame_proceeds(struct sx_long_frame *all, const char **ret_why)
{
    const struct sx_opened_part *const list = sx_frame_long_list(&all->frame);

    *ret_why = NULL;
    if (all->next == LONG_JUDGED) {
        if (!long_frame_judge(all, ret_why)) {
            return false;
        }
        all->next = list == NULL ? LONG_TAKEN : LONG_READ;
        return list == NULL || *ret_why != NULL;
    }
    sx_share_charge(all->server, all->client, list->count / PROCS_PER_UNIT);
    if (all->next == LONG_TAKEN) {
        return true;
    }
    (void)sx_part_procs(list, &all->frame.procs); /* else it is read, or refused, when taken */
    all->next = LONG_TAKEN;
    return false;
}

static void long_frame_step(struct sx_share_work *work)
{
    struct sx_long_frame *const all = SX_CONTAINER(work, struct sx_long_frame, work);
    struct sx_server *const server = all->server;
    struct sx_client *const client = all->client;
    const uint64_t now_ns = server->turn.now_ns;
    const char *why;

    if (!long_frame_proceeds(all, &why)) {
        return;
    }
    struct sx_frame frame = all->frame; /* what it causes may end the client */

    all->frame.bulk_pages = (struct sx_pages){ .at = NULL };
    all->frame.procs = NULL;
    long_frame_free(client);
    if (why != NULL) {
        sx_channel_drop(client->channel, why, now_ns);
    } else {
        frame_take(server, client, &frame, now_ns);
    }
    sx_frame_release(&frame);
}

/* Take the body of @frame.  Return: false without memory for that. */
static bool long_frame_begin(struct sx_server *server, struct sx_client *client,
                             struct sx_frame *frame)
{
    struct sx_long_frame *const all = calloc(1, sizeof(*all));

    sx_assert(client->judged == NULL);
    if (all == NULL) {
        return false;
    }
    all->work.step = long_frame_step;
    all->server = server;
    all->client = client;
    all->frame = *frame;
    frame->bulk_pages = (struct sx_pages){ .at = NULL };
    client->judged = all;
    sx_share_work_add(client, &all->work);
    return true;
}

/* ---- each frame ---------------------------------------------------------------------------- */

static void client_on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct sx_client *client = arg;
    struct sx_server *server = sx_server_get();

    if (frame == NULL) {
        server->consumer->ended(server, client, why);
        return;
    }
    /* A put is charged by who copies it. */
    sx_share_charge(server, client,
                    frame->body == NULL || frame->header.kind == SX_MSG_PUT_BULK
                        ? sx_message_piece_cost(frame->header.body_size)
                        : sx_message_cost(frame->header.kind, frame->body_size));
    if (frame->bulk_pages.at == NULL) {
        frame_take(server, client, frame, now_ns);
    } else if (!long_frame_begin(server, client, frame)) {
        sx_reply(server, client, frame->header.id, PMIX_ERR_OUT_OF_RESOURCE, -1);
    }
}

void sx_connection_take(struct sx_client *client, uint64_t now_ns)
{
    sx_channel_take(client->channel, now_ns);
}

/* The client's bell rang when the answers were queued.  A client that has read up to there and
 * sleeps is woken again. */
static void client_on_sent(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_wake_client(sx_server_get(), arg);
}

static void doorbell_rung(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_client *client = arg;
    uint64_t count;
    const struct iovec iov = { .iov_base = &count, .iov_len = sizeof(count) };
    ssize_t got;

    (void)revents;
    (void)now_ns;
    /* This turn checks the lanes anyway, so only the bell has to be drained.  The client shares the
     * bell's flags: it may have made the bell blocking, and emptied it meanwhile. */
    do {
        got = preadv2(client->doorbell_fd, &iov, 1, -1, RWF_NOWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != EAGAIN) { /* before 5.8: nearly as good */
        fcntl(client->doorbell_fd, F_SETFL, O_RDWR | O_NONBLOCK);
        (void)!read(client->doorbell_fd, &count, sizeof(count));
    }
}

/* ---- welcome ------------------------------------------------------------------------------- */

/* All but the doorbell are for the client alone. */
static pmix_status_t welcome_descriptors(struct sx_server *server, struct sx_client *client,
                                         int fds[SX_WELCOME_FDS])
{
    const struct sx_segment *const segments[SX_WELCOME_FDS] = {
        [SX_WELCOME_BOARD] = &server->board.seg,
        [SX_WELCOME_LANE] = &client->lane.seg,
        [SX_WELCOME_RING] = &client->home->ring.seg,
        [SX_WELCOME_STORE] = &client->home->store.view.seg,
    };
    pmix_status_t rc = PMIX_SUCCESS;

    for (int i = 0; i < SX_WELCOME_FDS; i++) {
        fds[i] = i == SX_WELCOME_DOORBELL ? client->doorbell_fd : -1;
        if (segments[i] != NULL && rc == PMIX_SUCCESS) {
            rc = sx_segment_share(segments[i], &fds[i]);
        }
    }
    return rc;
}

/* For reports. */
static void client_show(struct sx_server *server, const struct sx_client *client)
{
    const struct sx_board_client shown = {
        .pid = (uint32_t)sx_client_peer(client)->pid,
        .uid = client->uid,
        .rank = client->rank,
        .role = !client->is_tool                 ? SX_PEER_CLIENT
                : client->home == client->nspace ? SX_PEER_TOOL
                                                 : SX_PEER_COMMAND,
        .library = client->connection->library,
    };

    sx_board_slot_notify(&server->board, client->slot, &shown);
}

#define RANK_BYTES 12 /* a dot, the digits of a rank, and the NUL */

static pmix_status_t client_equip(struct sx_server *server, struct sx_client *client, pid_t pid)
{
    const struct sx_placement placement = sx_numa_place(&server->numa, SX_SEGMENT_LANE, pid);
    char name[SX_SEGMENT_NSPACE_BYTES]; /* a long namespace is cut in front of the rank */
    pmix_status_t rc = sx_nspace_open(server, client->home);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_board_slot_claim(&server->board, &client->slot);
    if (rc != PMIX_SUCCESS) {
        client->slot = SX_BOARD_SLOT_MAX;
        return rc;
    }
    snprintf(name, sizeof(name), "%.*s.%u", (int)sizeof(name) - RANK_BYTES, client->nspace->name,
             client->rank);
    rc = sx_lane_create(&client->lane, name, &server->board, client->slot, &placement);
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

static void welcome_close(int fds[SX_WELCOME_FDS])
{
    for (int i = 0; i < SX_WELCOME_FDS; i++) {
        if (i != SX_WELCOME_DOORBELL && fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

static void client_welcome(struct sx_server *server, struct sx_client *client, uint32_t id,
                           int fds[SX_WELCOME_FDS])
{
    struct sx_welcome welcome = {
        .status = PMIX_SUCCESS,
        .slot = client->slot,
        .rank = client->rank,
        .server_rank = server->self.rank,
        .collectives_max = server->port.pending_max[SX_PENDING_ARRIVAL],
    };
    const struct iovec iov = { .iov_base = &welcome, .iov_len = sizeof(welcome) };

    memcpy(welcome.nspace, client->nspace->name, sizeof(welcome.nspace));
    memcpy(welcome.server_nspace, server->self.nspace, sizeof(welcome.server_nspace));
    /* A failed send ends in client_on_frame(NULL). */
    sx_channel_send(client->channel, SX_MSG_WELCOME, id, &iov, 1, fds, SX_WELCOME_FDS);
    welcome_close(fds);
    if (client->lane.seg.fd >= 0) { /* now the client's; no other process ever gets it */
        close(client->lane.seg.fd);
        client->lane.seg.fd = -1;
    }
}

pmix_status_t sx_connection_welcome(struct sx_server *server, struct sx_client *client,
                                    struct sx_connection *connection, uint32_t flags, uint32_t id)
{
    int fds[SX_WELCOME_FDS] = { -1, -1, -1, -1, -1 };
    pmix_status_t rc;

    if (client->state == SX_CLIENT_FINALIZED) {
        /* The client has sent its good-bye; a forked child holds the old socket open. */
        server->consumer->ended(server, client, NULL);
    }
    sx_collective_client_looks(server, client);
    if (client->state == SX_CLIENT_DEAD) { /* the host has started the process again */
        client->state = SX_CLIENT_REGISTERED;
        SX_FAMILIES_NOTIFY_OF(server, client_expected, client);
    }
    rc = client_equip(server, client, connection->channel.peer.pid);
    if (rc == PMIX_SUCCESS) {
        rc = sx_channel_watch_peer(&connection->channel);
        sx_channel_watch_instead(&connection->channel, (pid_t)connection->pid);
    }
    if (rc == PMIX_SUCCESS) {
        rc = welcome_descriptors(server, client, fds);
    }
    if (rc != PMIX_SUCCESS) {
        welcome_close(fds);
        sx_connection_close(server, client);
        return rc;
    }
    client->connection = connection;
    client->channel = &connection->channel;
    connection->channel.on_frame = client_on_frame;
    connection->channel.on_ready = client_is_ready;
    connection->channel.on_sent = client_on_sent;
    connection->channel.arg = client;
    client->state = SX_CLIENT_CONNECTED;
    client_show(server, client);
    sx_share_begin(server, client);
    client->process++;
    client->results.count = 0; /* results of the process before have the same numbers */
    client->no_waitv = (flags & SX_HELLO_NO_WAITV) != 0;
    server->bitset_sleepers += client->no_waitv;
    client->nspace->connected_count++;
    client->home->reader_count++;
    sx_client_retain(client); /* the connection's */
    SX_FAMILIES_NOTIFY_OF(server, client_connected, client);
    client_welcome(server, client, id, fds);
    return PMIX_SUCCESS;
}

/* ---- the end ------------------------------------------------------------------------------- */

void sx_connection_close(struct sx_server *server, struct sx_client *client)
{
    if (client->slot < server->board.slot_count && client->lane.seg.base != NULL) {
        atomic_store_explicit(&server->board.slots[client->slot].state, SX_SLOT_DROPPED,
                              memory_order_release);
        sx_wake_client(server, client);
    }
    long_frame_free(client);
    SX_FAMILIES_NOTIFY_OF(server, client_closed, client);
    struct sx_connection *const connection = client->connection; /* if no callback closed it */

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
        sx_connection_end(connection);
        server->bitset_sleepers -= client->no_waitv;
        client->nspace->connected_count--;
        client->home->reader_count--;
        sx_client_release(client);
    }
}

void sx_connection_end_all(struct sx_server *server)
{
    while (server->live_count > 0) {
        struct sx_client *client = server->live[server->live_count - 1];

        sx_connection_close(server, client);
    }
}

/* ---- notices to the host --------------------------------------------------------------------- */

void sx_host_client_finalized(struct sx_server *server, struct sx_client *client)
{
    if (!client->is_tool || client->is_hosts_tool) {
        (void)sx_upcall(server, SX_UPCALL_CLIENT_FINALIZED,
                        &(struct sx_upcall){ .client = client });
    }
}

void sx_host_client_lost(struct sx_server *server, struct sx_client *client)
{
    if (client->is_hosts_tool) {
        sx_host_client_finalized(server, client);
    }
}
