/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connection_test.c - what a client is given, what it sends, and that all of it comes back. */
#include "server/entry/entry.h"

#include <dirent.h>
#include <stdlib.h>

#include "../bare.h"
#include "../opened.h"
#include "../peer.h"
#include "server/port/port.h"

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_client *client;
static struct peer peer;

/* ---- who is told
 * ------------------------------------------------------------------------------ */

static char notified[64];

static void notify(const char *what)
{
    strncat(notified, what, sizeof(notified) - strlen(notified) - 1);
}

static void on_connected(struct sx_server *which, struct sx_client *of)
{
    (void)which;
    cr_expect_eq(of->state, SX_CLIENT_CONNECTED);
    notify("connected ");
}

static void on_closed(struct sx_server *which, struct sx_client *of)
{
    (void)which, (void)of;
    notify("closed ");
}

static const struct sx_family families[] = {
    { .name = "all", .client_connected = on_connected, .client_closed = on_closed },
    { .name = NULL },
};

static void on_frame(struct sx_server *which, struct sx_client *of, struct sx_frame *frame,
                     uint64_t now_ns)
{
    (void)of, (void)now_ns;
    if (frame->header.kind == SX_MSG_JOB_CONTROL) {
        notify(frame->procs != NULL ? "list " : "unread ");
        return;
    }
    cr_expect_eq(frame->header.kind, SX_MSG_RESULTS_GET);
    notify("frame ");
    sx_loop_stop(which->loop);
}

static void on_ended(struct sx_server *which, struct sx_client *of, const char *why)
{
    cr_expect_null(why);
    notify("ended ");
    sx_connection_close(which, of);
    sx_loop_stop(which->loop);
}

static const struct sx_consumer consumer = { .frame = on_frame, .ended = on_ended };

static pmix_status_t host_returns;

static pmix_status_t on_host(const pmix_proc_t *proc, void *server_object, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    (void)server_object, (void)cbfunc, (void)cbdata;
    cr_expect_str_eq(proc->nspace, "job");
    return host_returns;
}

/* ---- the server
 * ------------------------------------------------------------------------------- */

static void begin(void)
{
    peer_server(&server, &consumer);
    server.families = families;
    server.module.client_connected = on_host;
    job = bare_job(&server, "job", 1, 1);
    client = sx_client_find(job, 0);
    client->uid = geteuid();
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    peer_connect(&peer, &server);
}

static void end(void)
{
    peer_leave(&peer);
    sx_strangers_end(&server);
    sx_connection_end_all(&server);
    sx_server_set(NULL);
    free(server.live);
    bare_deinit(&server);
}

TestSuite(connection, .init = begin, .fini = end, .timeout = 60);

static const struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION,
                                       .flags = SX_HELLO_NO_WAITV,
                                       .nspace = "job" };

static unsigned descriptors(void)
{
    DIR *const dir = opendir("/proc/self/fd");
    unsigned count = 0;

    cr_assert_not_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

Test(connection, gives_a_client_all_that_it_needs)
{
    struct sx_board board;
    struct sx_ring ring;
    const struct sx_welcome *const welcome = peer_hello(&peer, &hello);

    cr_expect_eq(welcome->status, PMIX_SUCCESS);
    cr_expect_eq(welcome->slot, client->slot);
    cr_assert_eq(peer.frame.fd_count, 5);
    cr_expect_eq(sx_board_attach(&board, peer.frame.fds[0]), PMIX_SUCCESS);
    cr_expect_eq(sx_ring_attach(&ring, peer.frame.fds[3]), PMIX_SUCCESS);
    cr_expect_str_eq(sx_segment_header(&ring.seg)->nspace, "job");
    sx_ring_deinit(&ring);
    sx_board_deinit(&board);
    cr_expect_str_eq(notified, "connected ");
    cr_expect_eq(client->state, SX_CLIENT_CONNECTED);
    cr_expect_eq(client->lane.seg.fd, -1, "nobody else gets its lane");
    cr_expect_eq(job->connected_count, 1);
    cr_expect_eq(job->reader_count, 1);
    cr_expect_eq(server.bitset_sleepers, 1);
    cr_expect_eq(server.live_count, 1);
}

Test(connection, takes_all_of_it_back)
{
    const unsigned before = descriptors();

    cr_assert_eq(peer_hello(&peer, &hello)->status, PMIX_SUCCESS);
    const uint32_t slot = client->slot;

    sx_connection_close(&server, client);
    cr_expect_not(peer_receive(&peer));
    cr_expect_str_eq(notified, "connected closed ");
    cr_expect_eq(client->state, SX_CLIENT_REGISTERED);
    cr_expect_eq(client->reference_count, 1);
    cr_expect_eq(client->slot, SX_BOARD_SLOT_MAX);
    cr_expect_eq(atomic_load(&server.board.slots[slot].state), SX_SLOT_FREE);
    cr_expect_null(client->channel);
    cr_expect_eq(job->connected_count, 0);
    cr_expect_eq(job->reader_count, 0);
    cr_expect_eq(server.bitset_sleepers, 0);
    cr_expect_eq(server.live_count, 0);
    cr_expect_eq(descriptors(), before - 1, "the socket, too");
}

/* A host may return an error instead of the notice's success. */
Test(connection, is_none_when_the_host_refuses)
{
    const unsigned before = descriptors();

    host_returns = PMIX_ERR_NO_PERMISSIONS;
    cr_expect_eq(peer_hello(&peer, &hello)->status, PMIX_ERR_NO_PERMISSIONS);
    cr_expect_eq(peer.frame.fd_count, 0);
    cr_expect_not(peer_receive(&peer));
    cr_expect_eq(client->state, SX_CLIENT_REGISTERED);
    cr_expect_eq(client->slot, SX_BOARD_SLOT_MAX);
    cr_expect_eq(job->connected_count, 0);
    cr_expect_eq(server.live_count, 0);
    cr_expect_eq(descriptors(), before - 1);
}

Test(connection, of_a_tool_is_no_news_for_the_host)
{
    const struct sx_hello tool = { .protocol = SX_PROTOCOL_VERSION,
                                   .role = SX_PEER_COMMAND,
                                   .home = "job" };

    host_returns = PMIX_ERR_NO_PERMISSIONS;
    const struct sx_welcome *const welcome = peer_hello(&peer, &tool);

    cr_expect_eq(welcome->status, PMIX_SUCCESS);
    cr_expect_str_neq(welcome->nspace, "job");
    cr_expect_eq(job->connected_count, 0, "it is no rank of the job");
    cr_expect_eq(job->reader_count, 1, "and reads its ring");
    sx_connection_end_all(&server);
    cr_expect_eq(job->reader_count, 0);
}

Test(connection, hands_on_what_a_client_sends_until_its_good_bye)
{
    cr_assert_eq(peer_hello(&peer, &hello)->status, PMIX_SUCCESS);
    peer_say(&peer, SX_MSG_RESULTS_GET, NULL, 0);
    sx_loop_run(server.loop); /* until it is told */
    cr_expect_str_eq(notified, "connected frame ");
    client->state = SX_CLIENT_FINALIZED;
    peer_say(&peer, SX_MSG_RESULTS_GET, NULL, 0);
    cr_assert(peer_receive(&peer));
    cr_expect_eq(((const struct sx_reply *)peer.frame.body)->status, PMIX_ERR_NOT_AVAILABLE);
    cr_expect_str_eq(notified, "connected frame ", "nothing is done for it");
}

Test(connection, that_ends_is_notified_of_once)
{
    cr_assert_eq(peer_hello(&peer, &hello)->status, PMIX_SUCCESS);
    shutdown(peer.fd, SHUT_RDWR);
    sx_loop_run(server.loop); /* until it is told */
    cr_expect_str_eq(notified, "connected ended closed ");
    sx_connection_end_all(&server);
    cr_expect_str_eq(notified, "connected ended closed ");
}

/* ---- long lists of processes ----------------------------------------------------------------- */

/* A frame of job control that names so many. */
static struct sx_frame control_frame(uint32_t count)
{
    static const pmix_proc_t proc = { .nspace = "job" };
    struct sx_job_control head = { 0 };
    struct sx_draft draft = { .head = &head,
                              .signature = sx_message_spec(SX_MSG_JOB_CONTROL)->body,
                              .nspace = "" };
    pmix_proc_t *const procs = calloc(count, sizeof(*procs));
    struct sx_pages pages = { .at = NULL };
    size_t size;

    for (uint32_t i = 0; i < count; i++) {
        procs[i] = proc;
        procs[i].rank = i;
    }
    draft.parts[SX_CONTROL_PROCS] = (struct sx_part_source){ procs, count };
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert(sx_pages_grow(&pages, 0, size));
    cr_assert_eq(sx_body_write(&draft, pages.at), PMIX_SUCCESS);
    free(procs);
    struct sx_frame frame = opened_frame(SX_MSG_JOB_CONTROL, 9, pages.at, size);

    frame.bulk_pages = pages;
    return frame;
}

Test(connection, a_long_list_is_read_in_a_turn_before_its_message_is_taken)
{
    const uint32_t many = 2 * SX_FRAME_PROCS_AT_ONCE_MAX;
    struct sx_frame frame = control_frame(many);

    cr_assert_eq(peer_hello(&peer, &hello)->status, PMIX_SUCCESS);
    client->channel->on_frame(client, &frame, NULL, 0);
    for (unsigned step = 0; step < 3; step++) {
        const uint32_t before = server.turn.units;

        cr_expect_str_eq(notified, "connected ", "before step %u", step);
        sx_share_work_step(client);
        cr_expect_geq(server.turn.units - before, step == 0 ? 1 : many / 16, "step %u", step);
    }
    cr_expect_str_eq(notified, "connected list ");
    cr_expect(sx_list_empty(&client->share.works));
    frame = control_frame(SX_FRAME_PROCS_AT_ONCE_MAX);
    client->channel->on_frame(client, &frame, NULL, 0);
    sx_share_work_step(client);
    cr_expect_str_eq(notified, "connected list unread ", "a shorter one is taken at once");
}

Test(connection, leaves_nothing_of_a_long_list_of_one_that_goes)
{
    struct sx_frame frame = control_frame(2 * SX_FRAME_PROCS_AT_ONCE_MAX);

    cr_assert_eq(peer_hello(&peer, &hello)->status, PMIX_SUCCESS);
    client->channel->on_frame(client, &frame, NULL, 0);
    sx_share_work_step(client);
    sx_share_work_step(client);
    cr_assert_not_null(client->judged);
    sx_connection_close(&server, client);
    cr_expect_null(client->judged);
    cr_expect_str_eq(notified, "connected closed ");
}
