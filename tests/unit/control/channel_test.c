/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* channel_test.c - frames arrive whole and judged; who sends anything else is dropped. */
#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/system/pages.h"
#include "control/channel.h"
#include "engines.h"

#define HEADER sizeof(struct sx_frame_header)

struct server {
    struct bench_loop bench;
    struct sx_channel channel;
    int client_fd;
    int frame_count, piece_count, gone_count, pidfd_count, sent_count;
    int window_fd; /* the client's */
    int stop_at_frames;
    struct sx_frame_header header;
    size_t body_size;
    uint64_t body_sum;
    int fd_count;
    bool bulk;
    bool close_at_frame;
    const char *why;
};

static uint64_t sum_bytes(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = size;

    for (size_t i = 0; i < size; i++) {
        sum = sum * 31 + at[i];
    }
    return sum;
}

static void on_sent(void *arg, uint64_t now_ns)
{
    struct server *server = arg;

    (void)now_ns;
    server->sent_count++;
}

static void on_frame(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    struct server *server = arg;

    (void)now_ns;
    if (frame == NULL) {
        cr_expect_eq(server->channel.fd, -1);
        /* Its watcher has still to take it out of a loop: under its number it must be found. */
        cr_expect(server->channel.peer.pidfd < 0 ||
                  fcntl(server->channel.peer.pidfd, F_GETFD) == FD_CLOEXEC);
        server->pidfd_count += server->channel.peer.pidfd >= 0;
        sx_channel_close(&server->channel);
        cr_expect_eq(server->channel.peer.pidfd, -1);
        server->why = why;
        server->gone_count++;
        sx_loop_stop(server->bench.loop);
        return;
    }
    if (frame->body == NULL) {
        cr_expect_eq(frame->status, PMIX_SUCCESS);
        cr_expect(frame->header.flags & SX_FRAME_MORE);
        server->piece_count++;
        sx_loop_stop(server->bench.loop);
        return;
    }
    cr_expect_eq((uintptr_t)frame->body % 8, 0);
    server->header = frame->header;
    server->body_size = frame->body_size;
    server->body_sum = sum_bytes(frame->body, frame->body_size);
    server->fd_count = frame->fd_count;
    server->bulk = frame->bulk_pages.at != NULL;
    server->frame_count++;
    if (server->close_at_frame) {
        sx_channel_close(&server->channel);
        sx_channel_close(&server->channel);
        sx_loop_stop(server->bench.loop);
    }
    if (server->frame_count == server->stop_at_frames) {
        sx_loop_stop(server->bench.loop);
    }
}

static void connect_client(struct server *server)
{
    int pair[2];

    test_socket_pair(pair);
    server->client_fd = pair[1];
    server->window_fd = -1;
    server->frame_count = server->gone_count = 0;
    server->why = NULL;
    cr_assert_eq(sx_channel_open(&server->channel, server->bench.loop, pair[0], on_frame, server),
                 PMIX_SUCCESS);
}

static struct server *server_open(enum test_engine engine)
{
    struct server *server = calloc(1, sizeof(*server));

    cr_assert_not_null(server);
    server->stop_at_frames = 1;
    test_loop_open(&server->bench, engine);
    connect_client(server);
    return server;
}

static void server_close(struct server *server)
{
    sx_channel_close(&server->channel);
    if (server->window_fd >= 0) {
        close(server->window_fd);
    }
    close(server->client_fd);
    test_loop_close(&server->bench);
    free(server);
}

static uint64_t soon(void)
{
    return sx_now_ns() + TEST_GUARD_NS;
}

/* As the server hands it out. */
static void get_window(struct server *server)
{
    int fd;

    if (server->window_fd >= 0) {
        close(server->window_fd);
    }
    cr_assert_eq(sx_channel_window(&server->channel, &fd), PMIX_SUCCESS);
    server->window_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    cr_assert_geq(server->window_fd, 0);
}

/* A large body goes through the window, as many pieces as it takes. */
static pmix_status_t send_body(struct server *server, uint16_t kind, const void *body, size_t size)
{
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)body, .iov_len = size };
    size_t off = 0;

    if (size <= SX_FRAME_BODY_MAX) {
        return sx_frame_send(server->client_fd, kind, 7, &iov, 1, soon());
    }
    if (server->window_fd < 0) {
        get_window(server);
    }
    for (;;) {
        const size_t piece = size - off < SX_WINDOW_BYTES ? size - off : SX_WINDOW_BYTES;
        const bool more = off + piece < size;

        cr_assert_eq(pwrite(server->window_fd, (const uint8_t *)body + off, piece, 0),
                     (ssize_t)piece);
        const pmix_status_t rc = sx_frame_send_window(server->client_fd, kind,
                                                      more ? SX_FRAME_MORE : 0, 7, piece, soon());

        if (rc != PMIX_SUCCESS || !more) {
            return rc;
        }
        test_loop_run(&server->bench, "a piece");
        off += piece;
    }
}

/* Make what is in @body a put of @size bytes. */
static void make_put(uint8_t *body, size_t size)
{
    const size_t off = sizeof(struct sx_lane_put) + 8; /* of the value, behind a key of one byte */
    const struct sx_lane_put put = {
        .cell = { .type = size > off ? PMIX_BYTE_OBJECT : PMIX_UINT8,
                  .len = (uint32_t)(size - off) },
        .key_len = 1,
    };

    memcpy(body, &put, sizeof(put));
    body[sizeof(put)] = 'k';
}

/* ---- good frames -------------------------------------------------------------------------- */

EACH_ENGINE(channel, carries_frames_of_any_size_both_ways)
{
    static const size_t sizes[] = { 32, 100, 8175, 8176, 8177, 65536, 3000001 };
    static uint8_t body[3000001];
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    struct server *server = server_open(engine);
    struct sx_frame reply;

    for (size_t i = 0; i < sizeof(body); i++) {
        body[i] = (uint8_t)(i * 7 + i / 256);
    }
    get_window(server);
    const int before = test_count_fds();

    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        const bool bulk = sizes[i] > SX_FRAME_MAX - HEADER;
        const struct iovec iov[2] = { { body, 5 }, { body + 5, sizes[i] - 5 } };

        server->frame_count = server->piece_count = 0;
        make_put(body, sizes[i]);
        cr_assert_eq(send_body(server, SX_MSG_PUT_BULK, body, sizes[i]), PMIX_SUCCESS);
        test_loop_run(&server->bench, "a frame");
        cr_expect_eq(server->piece_count, (int)((sizes[i] - 1) / SX_WINDOW_BYTES));
        cr_expect_eq(server->header.kind, SX_MSG_PUT_BULK);
        cr_expect_eq(server->header.id, 7);
        cr_expect_eq(server->body_size, sizes[i]);
        cr_expect_eq(server->body_sum, sum_bytes(body, sizes[i]), "%zu bytes", sizes[i]);
        cr_expect_eq(server->bulk, bulk);
        cr_expect_eq(server->fd_count, 0);

        cr_assert_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, 9, iov, 2, NULL, 0),
                     PMIX_SUCCESS);
        cr_assert_eq(sx_frame_receive(server->client_fd, buf, &reply, soon()), PMIX_SUCCESS);
        cr_expect_eq(reply.header.id, 9);
        cr_expect_eq(reply.body_size, sizes[i]);
        cr_expect_eq(sum_bytes(reply.body, reply.body_size), sum_bytes(body, sizes[i]));
        sx_frame_release(&reply);
        sx_frame_release(&reply);
    }
    cr_expect_eq(test_count_fds(), before);
    server_close(server);
}

EACH_ENGINE(channel, hands_descriptors_to_the_client)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    struct server *server = server_open(engine);
    const int all = sx_message_spec(SX_MSG_WELCOME)->fds_max;
    const struct sx_welcome welcome = { .slot = 3 };
    const struct iovec iov = { (void *)(uintptr_t)&welcome, sizeof(welcome) };
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fds[SX_FRAME_FDS_MAX] = { 0 };
    struct sx_frame frame;

    for (int i = 0; i < all; i++) {
        fds[i] = null_fd;
    }
    const int before = test_count_fds();

    cr_assert_eq(sx_channel_send(&server->channel, SX_MSG_WELCOME, 1, &iov, 1, fds, all),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_frame_receive(server->client_fd, buf, &frame, soon()), PMIX_SUCCESS);
    cr_expect_eq(frame.fd_count, all);
    cr_expect_eq(test_count_fds(), before + all);
    const int taken = frame.fds[1];

    frame.fds[1] = -1;
    sx_frame_release(&frame);
    cr_expect_eq(test_count_fds(), before + 1, "what was taken stays");
    cr_expect_eq(fcntl(taken, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(taken);
    close(null_fd);
    server_close(server);
}

EACH_ENGINE(channel, knows_its_peer)
{
    struct server *server = server_open(engine);
    int pair[2];

    cr_expect_eq(server->channel.peer.pid, getpid());
    cr_expect_eq(server->channel.peer.uid, geteuid());
    cr_expect_eq(server->channel.peer.gid, getegid());
    cr_expect_eq(server->channel.peer.pidfd, -1, "nobody has asked for it");
    cr_assert_eq(sx_channel_watch_peer(&server->channel), PMIX_SUCCESS);
    if (server->channel.peer.pidfd >= 0) {
        struct pollfd alive = { .fd = server->channel.peer.pidfd, .events = POLLIN };

        cr_expect_eq(poll(&alive, 1, 0), 0);
        cr_expect_eq(fcntl(server->channel.peer.pidfd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
    /* A channel that cannot be opened closes what it was given. */
    test_socket_pair(pair);
    const int regular = memfd_create("no socket", MFD_CLOEXEC);
    const int before = test_count_fds();
    struct sx_channel channel;

    cr_expect_neq(sx_channel_open(&channel, server->bench.loop, regular, on_frame, server),
                  PMIX_SUCCESS);
    cr_expect_eq(test_count_fds(), before - 1);
    sx_channel_close(&channel);
    close(pair[0]);
    close(pair[1]);
    server_close(server);
}

EACH_ENGINE(channel, keeps_the_pidfd_of_a_client_that_left_until_it_is_closed)
{
    struct server *server = server_open(engine);

    cr_assert_eq(sx_channel_watch_peer(&server->channel), PMIX_SUCCESS);
    const bool has_pidfd = server->channel.peer.pidfd >= 0;

    close(server->client_fd);
    server->client_fd = -1;
    test_loop_run(&server->bench, "the end");
    cr_expect_eq(server->gone_count, 1);
    cr_expect_eq(server->pidfd_count, has_pidfd);
    server_close(server);
}

EACH_ENGINE(channel, delivers_the_last_frame_of_a_client_that_leaves)
{
    struct server *server = server_open(engine);
    const struct sx_reply reply = { .status = 0 };
    const struct iovec iov = { (void *)(uintptr_t)&reply, sizeof(reply) };

    server->stop_at_frames = 0;
    cr_assert_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, 1, &iov, 1, NULL, 0),
                 PMIX_SUCCESS);
    cr_assert_eq(send_body(server, SX_MSG_FINALIZE, "", 0), PMIX_SUCCESS);
    close(server->client_fd); /* without reading the reply */
    server->client_fd = -1;
    cr_expect_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, 2, &iov, 1, NULL, 0),
                 PMIX_ERR_LOST_CONNECTION);
    test_loop_run(&server->bench, "the end");
    cr_expect_eq(server->frame_count, 1);
    cr_expect_eq(server->header.kind, SX_MSG_FINALIZE);
    cr_expect_eq(server->gone_count, 1);
    cr_expect_null(server->why, "an orderly end");
    cr_expect_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, 3, &iov, 1, NULL, 0),
                 PMIX_ERR_LOST_CONNECTION);
    server_close(server);
}

EACH_ENGINE(channel, may_be_closed_inside_its_callback)
{
    struct server *server = server_open(engine);

    server->close_at_frame = true;
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(send_body(server, SX_MSG_FINALIZE, "", 0), PMIX_SUCCESS);
    }
    test_loop_run(&server->bench, "a frame");
    test_loop_settle(&server->bench);
    cr_expect_eq(server->frame_count, 1);
    cr_expect_eq(server->gone_count, 0, "nothing is called back after a close");
    server_close(server);
}

/* ---- a slow client ------------------------------------------------------------------------ */

EACH_ENGINE(channel, queues_for_a_slow_client_in_order)
{
    enum { COUNT = 400 };
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    uint8_t body[2000] = { 0 };
    struct server *server = server_open(engine);
    const struct iovec iov[] = { { NULL, 0 }, { body, sizeof(body) }, { NULL, 0 } };
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int before = test_count_fds();
    struct sx_frame frame;
    uint32_t next = 0;
    int notified = 0;

    server->channel.on_sent = on_sent;
    for (uint32_t id = 0; id < COUNT; id++) {
        cr_assert_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, id, iov, 3, &null_fd,
                                     id % 8 == 0),
                     PMIX_SUCCESS);
    }
    cr_expect_gt(server->channel.queue_bytes, 0, "the socket cannot have taken all");
    while (next < COUNT) {
        const pmix_status_t rc = sx_frame_receive(server->client_fd, buf, &frame, 0);

        if (rc == PMIX_ERR_WOULD_BLOCK) {
            test_loop_settle(&server->bench);
            cr_assert_gt(server->sent_count, notified, "who sleeps is told of more");
            notified = server->sent_count;
            continue;
        }
        cr_assert_eq(rc, PMIX_SUCCESS);
        cr_assert_eq(frame.header.id, next);
        cr_assert_eq(frame.fd_count, next % 8 == 0);
        sx_frame_release(&frame);
        next++;
    }
    test_loop_settle(&server->bench);
    cr_expect_eq(server->channel.queue_bytes, 0);
    cr_expect_null(server->channel.writable.source.loop);
    cr_expect_eq(test_count_fds(), before);
    close(null_fd);
    server_close(server);
}

/* Nothing of a part waits in the server: what has not gone goes with the rest of its answer. */
EACH_ENGINE(channel, sends_a_part_at_once_or_not_at_all)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    static _Alignas(8) uint8_t body[SX_FRAME_MAX];
    struct server *server = server_open(engine);
    const struct iovec part = { body, SX_FRAME_BODY_MAX };
    const struct iovec large = { body, SX_FRAME_BODY_MAX + 1 };
    struct sx_frame frame;
    uint32_t sent = 0;

    cr_expect_not(sx_channel_send_part(&server->channel, SX_MSG_REPLY, 1, &large, 1));
    while (sx_channel_send_part(&server->channel, SX_MSG_REPLY, sent, &part, 1)) {
        cr_assert_lt(++sent, 10000, "the socket takes all there is");
    }
    cr_expect_eq(server->channel.queue_bytes, 0);
    for (uint32_t i = 0; i < sent; i++) {
        cr_assert_eq(sx_frame_receive(server->client_fd, buf, &frame, 0), PMIX_SUCCESS);
        cr_assert_eq(frame.header.id, i);
        cr_expect_eq(frame.header.flags, SX_FRAME_MORE);
        cr_expect_eq(frame.body_size, part.iov_len);
        sx_frame_release(&frame);
    }
    cr_expect_eq(sx_frame_receive(server->client_fd, buf, &frame, 0), PMIX_ERR_WOULD_BLOCK);
    cr_expect(sx_channel_send_part(&server->channel, SX_MSG_REPLY, 1, &part, 1));
    while (server->channel.queue_bytes == 0) {
        cr_assert_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, 2, &part, 1, NULL, 0),
                     PMIX_SUCCESS);
    }
    cr_assert_eq(sx_frame_receive(server->client_fd, buf, &frame, 0), PMIX_SUCCESS);
    sx_frame_release(&frame);
    cr_expect_not(sx_channel_send_part(&server->channel, SX_MSG_REPLY, 3, &part, 1),
                  "it would overtake what waits");
    server_close(server);
}

EACH_ENGINE(channel, drops_a_client_that_never_reads)
{
    uint8_t body[8000] = { 0 };
    struct server *server = server_open(engine);
    const struct iovec iov = { body, sizeof(body) };
    const int log_fd = test_capture_stderr();
    const int before = test_count_fds();
    pmix_status_t rc = PMIX_SUCCESS;
    int sent = 0;

    while (rc == PMIX_SUCCESS) {
        cr_assert_lt(sent, 10000, "memory is not bounded");
        rc = sx_channel_send(&server->channel, SX_MSG_REPLY, 1, &iov, 1, NULL, 0);
        sent++;
        cr_assert_leq(server->channel.queue_bytes, SX_CHANNEL_QUEUE_MAX + 10000);
    }
    cr_expect_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(server->gone_count, 0, "never inside the sender");
    test_loop_run(&server->bench, "the drop");
    cr_expect_eq(server->gone_count, 1);
    cr_expect_not_null(server->why);
    cr_expect_eq(test_count_lines(log_fd, "dropped"), 1);
    cr_expect_leq(test_count_fds(), before);
    server_close(server);
}

/* ---- frames that are refused -------------------------------------------------------------- */

/* Send raw bytes; the client must be dropped for a reason, with one line that names it. */
static void expect_drop(struct server *server, int log_fd, const void *bytes, size_t size, int fd,
                        int fd_count, const char *what)
{
    const int lines = test_count_lines(log_fd, "dropped");
    char who[64];

    snprintf(who, sizeof(who), "pid %d, uid %u: ", (int)getpid(), (unsigned)geteuid());
    const int named = test_count_lines(log_fd, who);

    cr_assert_eq(descriptors_send(server->client_fd, bytes, size, fd, fd_count), (ssize_t)size,
                 "%s: %s", what, strerror(errno));
    server->frame_count = 0;
    test_loop_run(&server->bench, what);
    cr_expect_eq(server->frame_count, 0, "%s was let through", what);
    cr_expect_eq(server->gone_count, 1, "%s", what);
    cr_expect_not_null(server->why, "%s", what);
    cr_expect_eq(test_count_lines(log_fd, "dropped"), lines + 1, "%s", what);
    cr_expect_eq(test_count_lines(log_fd, who), named + 1, "%s", what);
    close(server->client_fd);
    connect_client(server);
}

static size_t make_frame(uint8_t *frame, uint16_t kind, uint16_t flags, uint64_t body_size,
                         size_t in_frame)
{
    const struct sx_frame_header header = {
        .kind = kind, .flags = flags, .id = 1, .body_size = body_size
    };

    memset(frame, 0, HEADER + in_frame);
    memcpy(frame, &header, HEADER);
    return HEADER + in_frame;
}

EACH_ENGINE(channel, drops_whoever_sends_a_bad_frame_of_any_kind)
{
    static uint8_t frame[2 * SX_FRAME_MAX];
    struct server *server = server_open(engine);
    const int log_fd = test_capture_stderr();
    const int before = test_count_fds();

    for (uint16_t kind = 0; kind <= SX_MSG_SPEC_MAX; kind++) {
        const struct sx_message_spec *spec = sx_message_spec(kind);
        const size_t min = spec == NULL ? 0 : spec->body->head_size;
        const size_t max = spec == NULL ? 0 : spec->body_max;
        size_t size = make_frame(frame, kind, 0, min, min);

        if (spec == NULL || !spec->from_client) {
            expect_drop(server, log_fd, frame, size, -1, 0, "a kind that no client sends");
            continue;
        }
        expect_drop(server, log_fd, frame, HEADER - 1, -1, 0, "a cut header");
        if (min > 0) {
            expect_drop(server, log_fd, frame, size - 1, -1, 0, "a cut body");
        }
        size = make_frame(frame, kind, 0, max + 1, max + 1);
        expect_drop(server, log_fd, frame, size, -1, 0, "a body too long");
        size = make_frame(frame, kind, 0x8000, min, min);
        expect_drop(server, log_fd, frame, size, -1, 0, "an unknown flag");
        size = make_frame(frame, kind, SX_FRAME_BULK, 100000, 0);
        expect_drop(server, log_fd, frame, size, -1, 0, "bulk without a window");
        size = make_frame(frame, kind, SX_FRAME_MORE, min, min);
        expect_drop(server, log_fd, frame, size, -1, 0, "a piece that is no bulk");
        size = make_frame(frame, kind, 0, SX_FRAME_MAX, SX_FRAME_MAX);
        expect_drop(server, log_fd, frame, size, -1, 0, "a message too long");
    }
    struct sx_get get = { .key_size = 5 };

    make_frame(frame, SX_MSG_GET, 0, sizeof(get) + 4, sizeof(get) + 4);
    memcpy(frame + HEADER, &get, sizeof(get));
    expect_drop(server, log_fd, frame, HEADER + sizeof(get) + 4, -1, 0, "a key past the body");

    cr_expect_eq(test_count_fds(), before, "no descriptor stays");
    server_close(server);
}

EACH_ENGINE(channel, survives_ten_thousand_random_messages)
{
    static _Alignas(8) uint8_t frame[SX_FRAME_MAX];
    struct server *server = server_open(engine);
    const int log_fd = test_capture_stderr();
    const int before = test_count_fds();
    unsigned seed = 42;
    int drops = 0, passed = 0;

    for (int i = 0; i < 10000; i++) {
        const size_t size = 1 + (size_t)rand_r(&seed) % (i % 16 == 0 ? SX_FRAME_MAX : 400);

        for (size_t b = 0; b < size; b++) {
            frame[b] = (uint8_t)(rand_r(&seed) >> 8);
        }
        if (i % 2 == 0 && size >= HEADER) {
            const struct sx_frame_header header = { .kind = (uint16_t)(rand_r(&seed) % 14),
                                                    .body_size = size - HEADER };
            memcpy(frame, &header, HEADER);
        }
        cr_assert_eq(descriptors_send(server->client_fd, frame, size, -1, 0), (ssize_t)size);
        server->frame_count = 0;
        test_loop_run(&server->bench, "a frame or a drop");
        cr_assert_eq(server->frame_count + server->gone_count, 1);
        passed += server->frame_count;
        if (server->gone_count > 0) {
            drops++;
            close(server->client_fd);
            connect_client(server);
        }
    }
    cr_expect_gt(passed, 0);
    cr_expect_eq(test_count_lines(log_fd, "dropped"), drops);
    cr_expect_eq(test_count_fds(), before);
    server_close(server);
}

/* Where the kernel cannot refuse descriptors, whoever sends some is dropped, and none is made. */
EACH_ENGINE(channel, drops_whoever_sends_descriptors)
{
    uint8_t frame[HEADER];
    const size_t size = make_frame(frame, SX_MSG_FINALIZE, 0, 0, 0);

    setenv("SHMIX_PASSRIGHTS", "0", 1);
    struct server *server = server_open(engine);
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int log_fd = test_capture_stderr();
    const int before = test_count_fds();

    for (int count = 1; count <= 16; count++) {
        expect_drop(server, log_fd, frame, size, null_fd, count, "descriptors");
    }
    while (test_count_fds() != before) { /* another thread throws them away */
        usleep(1000);
    }
    close(null_fd);
    server_close(server);
}

/* ---- bulk --------------------------------------------------------------------------------- */

EACH_ENGINE(channel, drops_whoever_misuses_a_window)
{
    struct server *server = server_open(engine);
    const int log_fd = test_capture_stderr();
    uint8_t frame[HEADER];
    size_t size;

    const struct {
        const char *why;
        uint16_t kind, flags;
        uint64_t body_size;
    } rows[] = {
        { "a body larger than the window", SX_MSG_PUT_BULK, SX_FRAME_BULK, SX_WINDOW_BYTES + 1 },
        { "a piece of nothing", SX_MSG_PUT_BULK, SX_FRAME_BULK | SX_FRAME_MORE, 0 },
        { "an absurd size", SX_MSG_PUT_BULK, SX_FRAME_BULK, UINT64_MAX },
        { "less than a body of its kind", SX_MSG_JOB_CONTROL, SX_FRAME_BULK, 15 },
        { "a kind that is never bulk", SX_MSG_HELLO, SX_FRAME_BULK, sizeof(struct sx_hello) },
    };
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        get_window(server);
        size = make_frame(frame, rows[i].kind, rows[i].flags, rows[i].body_size, 0);
        expect_drop(server, log_fd, frame, size, -1, 0, rows[i].why);
    }
    /* In the middle of a body: one of another kind, and more than there may be of this one. */
    get_window(server);
    size = make_frame(frame, SX_MSG_JOB_CONTROL, SX_FRAME_BULK | SX_FRAME_MORE,
                      SX_REQUEST_BYTES_MAX, 0);
    cr_assert_eq(descriptors_send(server->client_fd, frame, size, -1, 0), (ssize_t)size);
    test_loop_run(&server->bench, "a piece");
    size = make_frame(frame, SX_MSG_ABORT, SX_FRAME_BULK, 100, 0);
    expect_drop(server, log_fd, frame, size, -1, 0, "another body in the middle of one");
    get_window(server);
    size = make_frame(frame, SX_MSG_JOB_CONTROL, SX_FRAME_BULK | SX_FRAME_MORE,
                      SX_REQUEST_BYTES_MAX, 0);
    cr_assert_eq(descriptors_send(server->client_fd, frame, size, -1, 0), (ssize_t)size);
    test_loop_run(&server->bench, "a piece");
    size = make_frame(frame, SX_MSG_JOB_CONTROL, SX_FRAME_BULK, 1, 0);
    expect_drop(server, log_fd, frame, size, -1, 0, "more than its kind may have");
    server_close(server);
}

/* What lies in a window is its client's to change, and not its size; a hole reads as zeros. */
EACH_ENGINE(channel, a_window_has_its_size_and_may_have_holes)
{
    static uint8_t zeros[20000];
    struct server *server = server_open(engine);

    get_window(server);
    make_put(zeros, sizeof(zeros));
    cr_assert_eq(pwrite(server->window_fd, zeros, 64, 0), 64, "and a hole behind it");
    cr_expect_eq(ftruncate(server->window_fd, 100), -1);
    cr_expect_eq(errno, EPERM);
    cr_expect_eq(ftruncate(server->window_fd, 2 * SX_WINDOW_BYTES), -1);
    cr_expect_eq(sx_frame_send_window(server->client_fd, SX_MSG_PUT_BULK, 0, 7, sizeof(zeros),
                                      soon()),
                 PMIX_SUCCESS);
    test_loop_run(&server->bench, "a frame");
    cr_expect_eq(server->body_size, sizeof(zeros));
    cr_expect_eq(server->body_sum, sum_bytes(zeros, sizeof(zeros)));

    /* A new one is asked for when an answer stayed away: what had begun in the old one is gone. */
    static uint8_t body[2 * SX_WINDOW_BYTES];

    server->frame_count = 0;
    cr_expect_eq(sx_frame_send_window(server->client_fd, SX_MSG_EVENT_BULK, SX_FRAME_MORE, 8,
                                      SX_WINDOW_BYTES, soon()),
                 PMIX_SUCCESS);
    test_loop_run(&server->bench, "a piece");
    get_window(server);
    memset(body, 'w', sizeof(body));
    make_put(body, sizeof(body));
    cr_expect_eq(send_body(server, SX_MSG_PUT_BULK, body, sizeof(body)), PMIX_SUCCESS);
    test_loop_run(&server->bench, "a frame");
    cr_expect_eq(server->body_sum, sum_bytes(body, sizeof(body)));
    server_close(server);
}

static int make_memfd(size_t size, size_t written, int seals)
{
    static const uint8_t zeros[65536];
    const int fd = memfd_create("bulk", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    cr_assert_geq(fd, 0);
    cr_assert_leq(written, sizeof(zeros));
    cr_assert_eq(write(fd, zeros, written), (ssize_t)written);
    cr_assert_eq(ftruncate(fd, (off_t)size), 0);
    if (seals != 0) {
        cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    }
    return fd;
}

/* Blocks behind the end: as many as there are bytes, and yet holes. */
static int make_memfd_with_blocks_behind(size_t size)
{
    const int fd = make_memfd(size, 100, 0);

    cr_assert_eq(fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)(1 << 20), (off_t)size), 0);
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW), 0);
    return fd;
}

static void answer_with(int fd, int fd_count, bool good, const char *why)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    uint8_t frame[HEADER];
    const size_t size = make_frame(frame, SX_MSG_REPLY, SX_FRAME_BULK, 20000, 0);
    struct sx_frame answer;
    int pair[2];

    test_socket_pair(pair);
    const int before = test_count_fds();

    cr_assert_eq(descriptors_send(pair[1], frame, size, fd, fd_count), (ssize_t)size);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &answer, 0),
                 good ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM, "%s", why);
    if (good) {
        cr_expect_eq(answer.body_size, 20000);
        cr_expect_not_null(answer.bulk_map);
        sx_frame_release(&answer);
        cr_expect_null(answer.bulk_map);
    }
    cr_expect_eq(test_count_fds(), before, "%s", why);
    close(pair[0]);
    close(pair[1]);
}

Test(channel, a_client_refuses_bulk_that_can_change_or_lies_about_its_size)
{
    enum { SEALED = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW };
    static const struct {
        const char *why;
        size_t size, written;
        int seals;
        bool good;
    } rows[] = {
        { "sealed, of its size", 20000, 20000, SEALED, true },
        { "not sealed", 20000, 20000, 0, false },
        { "can be written", 20000, 20000, F_SEAL_SHRINK | F_SEAL_GROW, false },
        { "can be shrunk", 20000, 20000, F_SEAL_WRITE | F_SEAL_GROW, false },
        { "can grow", 20000, 20000, F_SEAL_WRITE | F_SEAL_SHRINK, false },
        { "can be written through an older map", 20000, 20000,
          F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW, false },
        { "shorter than it says", 19999, 19999, SEALED, false },
        { "longer than it says", 20001, 20001, SEALED, false },
        { "empty", 0, 0, SEALED, false },
        { "has holes", 20000, 100, SEALED, false },
    };

    (void)test_capture_stderr();
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const int fd = make_memfd(rows[i].size, rows[i].written, rows[i].seals);

        answer_with(fd, 1, rows[i].good, rows[i].why);
        close(fd);
    }
    const int behind = make_memfd_with_blocks_behind(20000);
    const int good = make_memfd(20000, 20000, SEALED);

    answer_with(behind, 1, false, "has holes, and blocks behind its end");
    answer_with(good, 3, false, "three descriptors for one bulk and one more");
    close(behind);
    close(good);
}

static unsigned count_bulk_maps(void)
{
    FILE *const maps = fopen("/proc/self/maps", "re");
    char line[512];
    unsigned count = 0;

    cr_assert_not_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, "shmix-bulk") != NULL;
    }
    fclose(maps);
    return count;
}

static size_t heap_used(void)
{
    const struct mallinfo2 info = mallinfo2(); /* zeros under a sanitizer, which looks itself */

    return info.uordblks + info.hblkhd;
}

/* So many that what stays of one of them shows. */
EACH_ENGINE(channel, bulk_is_given_back_on_both_sides)
{
    static uint8_t body[100000];
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    struct server *server = server_open(engine);
    const struct iovec iov = { body, sizeof(body) };
    struct sx_frame frame;

    get_window(server);
    make_put(body, sizeof(body));
    const int before = test_count_fds();
    const size_t heap = heap_used();

    for (int i = 0; i < 200; i++) {
        server->frame_count = 0;
        cr_assert_eq(send_body(server, SX_MSG_PUT_BULK, body, sizeof(body)), PMIX_SUCCESS);
        test_loop_run(&server->bench, "a frame");
        cr_assert_eq(sx_channel_send(&server->channel, SX_MSG_REPLY, 1, &iov, 1, NULL, 0),
                     PMIX_SUCCESS);
        cr_assert_eq(sx_frame_receive(server->client_fd, buf, &frame, soon()), PMIX_SUCCESS);
        cr_expect_eq(count_bulk_maps(), 1, "and nothing of the one before");
        sx_frame_release(&frame);
    }
    cr_expect_eq(count_bulk_maps(), 0);
    cr_expect_eq(test_count_fds(), before);
    cr_expect_lt(heap_used(), heap + 10 * sizeof(body));
    server_close(server);
}

static atomic_size_t given_back; /* by this thread */
static atomic_bool threads_wait;
static pthread_t loop_thread;

__attribute__((visibility("default"))) int madvise(void *at, size_t size, int advice);

int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_DONTNEED && pthread_equal(pthread_self(), loop_thread)) {
        atomic_fetch_add(&given_back, size);
    }
    while (advice == MADV_DONTNEED && atomic_load(&threads_wait) &&
           !pthread_equal(pthread_self(), loop_thread)) {
        sched_yield();
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* So it pays for its own pages alone, and what waits becomes no more. */
EACH_ENGINE(channel, bulk_gives_back_as_much_as_it_brings_while_too_much_waits)
{
    static uint8_t body[3 * SX_WINDOW_BYTES];
    struct server *server = server_open(engine);

    loop_thread = pthread_self();
    get_window(server);
    make_put(body, sizeof(body));
    for (unsigned waiting = 0; waiting < 2; waiting++) {
        atomic_store(&threads_wait, waiting > 0);
        for (unsigned i = 0; i < waiting * (SX_PAGES_THREADS_MAX + 2); i++) {
            void *const many = malloc(SX_PAGES_WAITING_MAX_BYTES);

            cr_assert_not_null(many);
            sx_pages_give_back(many, SX_PAGES_WAITING_MAX_BYTES);
        }
        server->frame_count = 0;
        cr_assert_eq(send_body(server, SX_MSG_PUT_BULK, body, sizeof(body)), PMIX_SUCCESS);
        test_loop_run(&server->bench, "a frame");
        cr_expect_eq(atomic_load(&given_back), waiting * sizeof(body));
    }
    atomic_store(&threads_wait, false);
    server_close(server);
}

/* ---- the client's side -------------------------------------------------------------------- */

Test(channel, a_client_waits_until_its_deadline_and_no_longer)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    struct sx_frame frame;
    int pair[2];

    test_socket_pair(pair);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, 0), PMIX_ERR_WOULD_BLOCK);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, sx_now_ns() + SX_NS_PER_MS),
                 PMIX_ERR_TIMEOUT);
    pmix_status_t rc = PMIX_SUCCESS;

    for (int i = 0; i < 100000 && rc == PMIX_SUCCESS; i++) {
        rc = sx_frame_send(pair[0], SX_MSG_FINALIZE, 1, NULL, 0, sx_now_ns() + SX_NS_PER_MS);
    }
    cr_expect_eq(rc, PMIX_ERR_TIMEOUT);
    close(pair[1]);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, SX_DEADLINE_NEVER),
                 PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(sx_frame_send(pair[0], SX_MSG_FINALIZE, 1, NULL, 0, SX_DEADLINE_NEVER),
                 PMIX_ERR_LOST_CONNECTION);
    close(pair[0]);
}

static void *reply_later(void *arg)
{
    const struct sx_frame_header header = { .kind = SX_MSG_REPLY, .id = 5, .body_size = 8 };
    uint8_t frame[HEADER + 8] = { 0 };

    memcpy(frame, &header, HEADER);
    return descriptors_send(*(int *)arg, frame, sizeof(frame), -1, 0) == (ssize_t)sizeof(frame)
               ? NULL
               : arg;
}

Test(channel, a_client_without_a_deadline_waits_for_its_reply)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    struct sx_frame frame;
    pthread_t thread;
    int pair[2];

    for (int blocking = 0; blocking < 2; blocking++) {
        void *failed;

        test_socket_pair(pair);
        if (blocking != 0) {
            cr_assert_eq(fcntl(pair[0], F_SETFL, 0), 0);
        }
        cr_assert_eq(pthread_create(&thread, NULL, reply_later, &pair[1]), 0);
        cr_assert_eq(sx_frame_receive(pair[0], buf, &frame, SX_DEADLINE_NEVER), PMIX_SUCCESS);
        pthread_join(thread, &failed);
        cr_expect_null(failed);
        cr_expect_eq(frame.header.id, 5);
        sx_frame_release(&frame);
        close(pair[0]);
        close(pair[1]);
    }
}

Test(channel, a_client_refuses_what_no_server_sends)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    static uint8_t bytes[SX_FRAME_MAX + 1];
    const int log_fd = test_capture_stderr();
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct sx_frame frame;
    int pair[2];

    test_socket_pair(pair);
    const int before = test_count_fds();
    size_t size = make_frame(bytes, SX_MSG_HELLO, 0, sizeof(struct sx_hello),
                             sizeof(struct sx_hello));

    cr_assert_eq(descriptors_send(pair[1], bytes, size, -1, 0), (ssize_t)size);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, 0), PMIX_ERR_BAD_PARAM);
    size = make_frame(bytes, SX_MSG_REPLY, SX_FRAME_BULK, 10000, 0);
    cr_assert_eq(descriptors_send(pair[1], bytes, size, null_fd, 1), (ssize_t)size);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, 0), PMIX_ERR_BAD_PARAM);
    size = make_frame(bytes, SX_MSG_REPLY, 0, 8, 8);
    cr_assert_eq(descriptors_send(pair[1], bytes, size, null_fd, 3), (ssize_t)size);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, 0), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(descriptors_send(pair[1], bytes, size, null_fd, 12), (ssize_t)size);
    cr_expect_eq(sx_frame_receive(pair[0], buf, &frame, 0), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(test_count_fds(), before);
    cr_expect_eq(test_count_lines(log_fd, "server"), 4);
    close(null_fd);
    close(pair[0]);
    close(pair[1]);
}
