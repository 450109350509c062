/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* frames_test.c - what arrives on a control socket is judged; who sends what no client sends is
 * dropped with one log line, and everybody else goes on. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"
#include "base/value/flat.h"
#include "control/socket.h"

#define SEED UINT64_C(20260731)

static void fill_random(void *bytes, size_t size, uint64_t *seed)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)fault_random(seed);
    }
}

/* ---- a frame that no client sends, before and after HELLO ---------------------------------- */

/* Either a fresh connection or one of a welcomed client; the rest of the attack is the same. */
struct target {
    bool welcomed;
    struct attacker attacker;
    int socket_fd;
};

static void target_open(struct target *target, bool welcomed, const char *name)
{
    attack_begin(1, "%s %s", welcomed ? "a client sends" : "nobody sends", name);
    target->welcomed = welcomed;
    if (welcomed) {
        attack_attach(&target->attacker);
        target->socket_fd = target->attacker.socket_fd;
    } else {
        target->socket_fd = attack_connect();
    }
}

static void target_dropped(struct target *target)
{
    attack_expect_end(target->socket_fd);
    if (target->welcomed) {
        target->attacker.socket_fd = -1;
        attack_detach(&target->attacker);
    }
    attack_end();
}

static void send_bytes(bool welcomed, const char *name, const void *bytes, size_t size, int fd,
                       int fd_count)
{
    struct target target;

    target_open(&target, welcomed, name);
    CHECK(descriptors_send(target.socket_fd, bytes, size, fd, fd_count) == (ssize_t)size, "%s: %s",
          name, strerror(errno));
    target_dropped(&target);
}

static void attack_garbage(bool welcomed)
{
    static uint8_t bytes[65536];
    uint64_t seed = SEED;
    char name[64];

    for (size_t size = 1; size < sizeof(struct sx_frame_header); size++) {
        fill_random(bytes, size, &seed);
        snprintf(name, sizeof(name), "%zu bytes of a header", size);
        send_bytes(welcomed, name, bytes, size, -1, 0);
    }
    for (int i = 0; i < 24; i++) {
        const size_t size = 16 + fault_random(&seed) % 8000;

        fill_random(bytes, size, &seed);
        snprintf(name, sizeof(name), "%zu random bytes", size);
        send_bytes(welcomed, name, bytes, size, -1, 0);
    }
    memset(bytes, 0, sizeof(bytes));
    send_bytes(welcomed, "zeros", bytes, 512, -1, 0);
    send_bytes(welcomed, "one byte more than a frame", bytes, SX_FRAME_MAX + 1, -1, 0);
    send_bytes(welcomed, "64 KiB", bytes, sizeof(bytes), -1, 0);
}

/* Every kind, with every size that its row in the table refuses. */
static void attack_sizes(bool welcomed)
{
    static const uint8_t zeros[SX_FRAME_MAX];
    static const uint16_t flags[] = { 0x0002, 0x8000, 0xfffe };
    struct target target;
    char name[96];

    for (uint32_t kind = 0; kind < SX_MSG_SPEC_MAX + 2u; kind++) {
        const struct sx_message_spec *spec = sx_message_spec((uint16_t)kind);
        const uint32_t min = spec != NULL ? spec->body->head_size : 0;
        const uint32_t max = spec != NULL ? spec->body_max : 0;
        const struct {
            const char *what;
            uint64_t claimed;
            size_t sent;
            bool wrong;
        } sizes[] = {
            { "no body", 0, 0, min > 0 },
            { "a byte too little", min - 1, min - 1, min > 1 },
            { "a byte too much", max + 1u, max + 1u, max + 17u <= SX_FRAME_MAX },
            { "a size that is one too large", min + 1u, min, true },
            { "a size that is one too small", min - 1u, min, min > 0 },
            { "a size of 2^64 - 1", UINT64_MAX, min, true },
            { "a size of 2^32", UINT64_C(1) << 32, min, true },
            { "a size of -16", UINT64_MAX - 15, min, true },
        };
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            if (sizes[i].wrong) {
                snprintf(name, sizeof(name), "kind %u with %s", kind, sizes[i].what);
                target_open(&target, welcomed, name);
                attack_frame(target.socket_fd,
                             (struct sx_frame_header){
                                 .kind = (uint16_t)kind, .id = 7, .body_size = sizes[i].claimed },
                             zeros, sizes[i].sent);
                target_dropped(&target);
            }
        }
        snprintf(name, sizeof(name), "kind %u with unknown flags", kind);
        target_open(&target, welcomed, name);
        attack_frame(target.socket_fd,
                     (struct sx_frame_header){ .kind = (uint16_t)kind,
                                               .id = 7,
                                               .flags = flags[kind % 3],
                                               .body_size = min },
                     zeros, min);
        target_dropped(&target);
    }
}

/* ---- descriptors --------------------------------------------------------------------------- */

/* Descriptors that nobody asked for: refused to their sender, or the end of its connection. */
static void send_descriptors(bool welcomed, const char *name, const void *bytes, size_t size,
                             int fd, int fd_count)
{
    const bool refused = sx_socket_can_refuse_rights();
    struct target target;

    target_open(&target, welcomed, name);
    atomic_store(&fault_shared->attack_lines, refused ? 0 : 1);
    const ssize_t sent = descriptors_send(target.socket_fd, bytes, size, fd, fd_count);

    if (!refused) {
        CHECK(sent == (ssize_t)size, "%s: %s", name, strerror(errno));
        target_dropped(&target);
        return;
    }
    CHECK(sent < 0 && errno == EPERM, "%s: not refused", name);
    if (welcomed) { /* and nothing else has happened */
        attack_request(target.socket_fd, SX_MSG_RESULTS_GET, 9, NULL, 0);
        (void)attack_expect_reply(target.socket_fd, 9, PMIX_SUCCESS);
        attack_detach(&target.attacker);
    } else {
        close(target.socket_fd);
    }
    attack_end();
}

static void attack_descriptors(bool welcomed)
{
    struct {
        struct sx_frame_header header;
        uint8_t body[32];
    } plain = { .header = { .kind = SX_MSG_PUT_BULK, .id = 7, .body_size = sizeof(plain.body) } };
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int counts[] = { 1, 2, 8, 9, 40, 253 };
    char name[64];

    CHECK(null_fd >= 0, "%s", strerror(errno));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        snprintf(name, sizeof(name), "%d descriptors that nobody asked for", counts[i]);
        send_descriptors(welcomed, name, &plain, sizeof(plain), null_fd, counts[i]);
        snprintf(name, sizeof(name), "%d descriptors and nothing else", counts[i]);
        send_descriptors(welcomed, name, "", 0, null_fd, counts[i]);
    }
    plain.header.kind = SX_MSG_FINALIZE;
    plain.header.body_size = 0;
    send_descriptors(welcomed, "a good-bye with a descriptor", &plain.header, sizeof(plain.header),
                     null_fd, 1);
    plain.header = (struct sx_frame_header){
        .kind = SX_MSG_PUT_BULK, .flags = SX_FRAME_BULK, .id = 7, .body_size = 4096
    };
    send_descriptors(welcomed, "a bulk body in a descriptor", &plain.header, sizeof(plain.header),
                     null_fd, 1);
    close(null_fd);
}

/* ---- a descriptor that takes its time to be closed ------------------------------------------- */

#define LINGER_SECONDS 600 /* longer than any case */

/* A connection whose last close waits until its peer has read what was sent, or is gone.  Return:
 * -1 when there is no TCP on this machine. */
static int lingering_make(int *ret_peer)
{
    const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_SECONDS };
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    static const char bytes[65536];

    if (listener < 0 || fd < 0 ||
        bind(listener, (const struct sockaddr *)(const void *)&address, size) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)(void *)&address, &size) != 0 ||
        connect(fd, (const struct sockaddr *)(const void *)&address, size) != 0) {
        close(listener);
        close(fd);
        return -1;
    }
    *ret_peer = accept(listener, NULL, NULL);
    close(listener);
    CHECK(*ret_peer >= 0 && setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0,
          "%s", strerror(errno));
    while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
    return fd;
}

/* Send one on @socket_fd and keep nothing of it.  A process of its own has it last, since whoever
 * exits lingers nowhere.  Return: whether it went. */
static bool lingering_send(int socket_fd, const void *bytes, size_t size, int *ret_peer)
{
    const int fd = lingering_make(ret_peer);
    int pipes[2], status;
    char byte;

    CHECK(fd >= 0 && pipe2(pipes, O_CLOEXEC) == 0, "%s", strerror(errno));
    const pid_t pid = fork();

    CHECK(pid >= 0, "%s", strerror(errno));
    if (pid == 0) {
        close(pipes[1]);
        while (read(pipes[0], &byte, 1) < 0 && errno == EINTR) {
        }
        _exit(descriptors_send(socket_fd, bytes, size, fd, 1) < 0);
    }
    close(fd);
    close(pipes[0]);
    close(pipes[1]); /* now */
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "status %d", status);
    return WEXITSTATUS(status) == 0;
}

/* The good ranks go on while somebody waits for the close, which ends when we say so. */
static void lingering_ends(int peer)
{
    fault_good_wait(3);
    close(peer); /* unread bytes: a reset */
    attack_end();
}

static void lingering_in_a_frame(bool welcomed)
{
    const struct sx_frame_header header = { .kind = SX_MSG_FINALIZE, .id = 3 };
    const bool refused = sx_socket_can_refuse_rights();
    struct target target;
    int peer;

    target_open(&target, welcomed, "a descriptor that lingers");
    atomic_store(&fault_shared->attack_lines, ATTACK_LINES_ANY);
    CHECK(lingering_send(target.socket_fd, &header, sizeof(header), &peer) != refused,
          "descriptors are %srefused", refused ? "not " : "");
    if (refused) {
        shutdown(target.socket_fd, SHUT_WR);
    }
    attack_expect_end(target.socket_fd);
    if (welcomed) {
        target.attacker.socket_fd = -1;
        attack_detach(&target.attacker);
    }
    lingering_ends(peer);
}

/* It may come too late for a connection that has ended. */
static void lingering_behind_a_bad_frame(bool welcomed)
{
    struct target target;
    int peer;

    target_open(&target, welcomed, "a bad frame and a descriptor that lingers");
    atomic_store(&fault_shared->attack_lines, ATTACK_LINES_ANY);
    (void)descriptors_send(target.socket_fd, "", 1, -1, 0);
    (void)descriptors_send(target.socket_fd, "", 1, -1, 0);
    (void)lingering_send(target.socket_fd, "", 0, &peer);
    attack_expect_end(target.socket_fd);
    if (welcomed) {
        target.attacker.socket_fd = -1;
        attack_detach(&target.attacker);
    }
    lingering_ends(peer);
}

/* The server writes into the socket that wakes a client, and never reads from it. */
static void lingering_where_the_server_writes(void)
{
    struct attacker attacker;
    int peer;

    attack_begin(0, "a descriptor that lingers, into the socket that wakes");
    attack_attach(&attacker);
    attack_request(attacker.socket_fd, SX_MSG_WAKE_GET, 3, NULL, 0);
    const int wake_fd = attack_expect_descriptor(attacker.socket_fd, 3);

    CHECK(!lingering_send(wake_fd, "x", 1, &peer), "the server takes it");
    close(wake_fd);
    attack_detach(&attacker);
    lingering_ends(peer);
}

static int role_lingering(const char *arg)
{
    for (int welcomed = 0; welcomed < 2; welcomed++) {
        lingering_in_a_frame(welcomed != 0);
        lingering_behind_a_bad_frame(welcomed != 0);
    }
    lingering_where_the_server_writes();
    return 0;
}

/* ---- windows --------------------------------------------------------------------------------- */

static void window_misused(const char *name, uint16_t kind, uint16_t flags, uint64_t size)
{
    const struct sx_frame_header header = {
        .kind = kind, .flags = SX_FRAME_BULK | flags, .id = 7, .body_size = size
    };
    struct target target;

    target_open(&target, true, name);
    attack_window(&target.attacker);
    attack_frame(target.socket_fd, header, NULL, 0);
    target_dropped(&target);
}

/* So many whole windows, and then some: more than a message of this kind may have. */
static void window_overfilled(uint16_t kind)
{
    const struct sx_message_spec *spec = sx_message_spec(kind);
    struct sx_frame_header header = { .kind = kind,
                                      .flags = SX_FRAME_BULK | SX_FRAME_MORE,
                                      .id = 7 };
    struct target target;
    char name[64];

    snprintf(name, sizeof(name), "more than a %s may have", spec->name);
    target_open(&target, true, name);
    attack_window(&target.attacker);
    for (uint64_t sent = 0; sent < spec->bulk_max; sent += header.body_size) {
        const uint64_t left = spec->bulk_max - sent;

        header.body_size = left < SX_WINDOW_BYTES ? left : SX_WINDOW_BYTES;
        attack_frame(target.socket_fd, header, NULL, 0);
        (void)attack_expect_reply(target.socket_fd, 7, PMIX_SUCCESS);
    }
    header.body_size = 1;
    attack_frame(target.socket_fd, header, NULL, 0);
    target_dropped(&target);
}

/* A body that is left unfinished again and again holds no more than one. */
static void window_unfinished(void)
{
    struct attacker attacker;

    attack_begin(0, "bodies that are never finished");
    attack_attach(&attacker);
    for (uint32_t id = 1; id <= 64; id++) {
        attack_window(&attacker);
        for (int piece = 0; piece < 3; piece++) {
            CHECK_STATUS(sx_frame_send_window(attacker.socket_fd, SX_MSG_EVENT_BULK, SX_FRAME_MORE,
                                              id, SX_WINDOW_BYTES, UINT64_MAX),
                         PMIX_SUCCESS);
            (void)attack_expect_reply(attacker.socket_fd, id, PMIX_SUCCESS);
        }
    }
    attack_detach(&attacker);
    attack_end();
}

static atomic_bool scribbler_stop;

static void *scribble(void *arg)
{
    const int fd = *(const int *)arg;
    uint64_t seed = SEED, words[8];

    while (!atomic_load(&scribbler_stop)) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            words[i] = fault_random(&seed) % 64;
        }
        (void)!pwrite(fd, words, sizeof(words), (off_t)(8 * (fault_random(&seed) % 8)));
    }
    return NULL;
}

/* It changes while the server reads it: what is judged is what was copied. */
static void window_that_changes(void)
{
    struct {
        struct sx_job_control control;
        uint8_t infos[112];
    } body = { .control = { .info_size = 0 } };
    struct attacker attacker;
    pthread_t thread;

    for (int round = 0; round < 40; round++) {
        attack_begin(ATTACK_LINES_ANY, "a window that changes while it is read, round %d", round);
        attack_attach(&attacker);
        attack_window(&attacker);
        atomic_store(&scribbler_stop, false);
        CHECK(pthread_create(&thread, NULL, scribble, &attacker.window_fd) == 0, "no thread");
        for (uint32_t id = 1; id <= 20; id++) {
            (void)sx_frame_send_window(attacker.socket_fd, SX_MSG_JOB_CONTROL, 0, id, sizeof(body),
                                       UINT64_MAX);
        }
        shutdown(attacker.socket_fd, SHUT_WR);
        attack_expect_end(attacker.socket_fd);
        attacker.socket_fd = -1;
        atomic_store(&scribbler_stop, true);
        pthread_join(thread, NULL);
        attack_detach(&attacker);
        attack_end();
    }
}

static int role_windows(const char *arg)
{
    static const uint16_t kinds[] = { SX_MSG_ARRIVE_BULK, SX_MSG_ABORT, SX_MSG_JOB_CONTROL,
                                      SX_MSG_EVENT_BULK, SX_MSG_QUERY };

    window_misused("a bulk good-bye", SX_MSG_FINALIZE, 0, 16);
    window_misused("a bulk body of nothing", SX_MSG_PUT_BULK, 0, 0);
    window_misused("a piece of nothing", SX_MSG_PUT_BULK, SX_FRAME_MORE, 0);
    window_misused("a bulk body beyond its window", SX_MSG_PUT_BULK, 0, SX_WINDOW_BYTES + 1);
    window_misused("a bulk body of 2^64 - 1 bytes", SX_MSG_PUT_BULK, 0, UINT64_MAX);
    window_misused("job control of one byte", SX_MSG_JOB_CONTROL, 0, 1);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        window_overfilled(kinds[i]);
    }
    window_unfinished();
    window_that_changes();
    return 0;
}

static void attack_bulk(bool welcomed)
{
    struct {
        struct sx_frame_header header;
        uint8_t body[16];
    } both = { .header = { .kind = SX_MSG_PUT_BULK, .flags = SX_FRAME_BULK, .body_size = 16 } };

    send_bytes(welcomed, "a bulk and a body", &both, sizeof(both), -1, 0);
    for (uint16_t kind = SX_MSG_HELLO; kind < SX_MSG_SPEC_MAX; kind++) {
        const struct sx_frame_header header = {
            .kind = kind, .flags = SX_FRAME_BULK, .id = 7, .body_size = 64
        };
        char name[64];

        snprintf(name, sizeof(name), "a bulk body of kind %u without a window", kind);
        send_bytes(welcomed, name, &header, sizeof(header), -1, 0);
    }
}

static int role_before_hello(const char *arg)
{
    struct sx_get get = { .key_size = 0 };
    static const uint16_t kinds[] = { SX_MSG_FINALIZE, SX_MSG_GET_CANCEL, SX_MSG_RESULTS_GET };
    int fd;

    attack_garbage(false);
    attack_sizes(false);
    attack_descriptors(false);
    attack_bulk(false);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        attack_begin(1, "a well-formed frame of kind %u before HELLO", kinds[i]);
        fd = attack_connect();
        attack_request(fd, kinds[i], 3, NULL, 0);
        attack_expect_end(fd);
        attack_end();
    }
    attack_begin(1, "a Get before HELLO");
    fd = attack_connect();
    snprintf(get.nspace, sizeof(get.nspace), "%s", ATTACK_JOB);
    attack_request(fd, SX_MSG_GET, 3, &get, sizeof(get));
    attack_expect_end(fd);
    attack_end();
    return 0;
}

static int role_after_hello(const char *arg)
{
    attack_garbage(true);
    attack_sizes(true);
    attack_descriptors(true);
    attack_bulk(true);
    return 0;
}

/* ---- HELLO --------------------------------------------------------------------------------- */

static void hello_of_others(void)
{
    struct sx_hello hello;

    attack_hello(&hello, 0);
    snprintf(hello.nspace, sizeof(hello.nspace), "good.job");
    attack_hello_refused("HELLO as a rank that is connected", &hello, PMIX_EXISTS);
    attack_hello(&hello, 77);
    attack_hello_refused("HELLO as a rank that nobody registered", &hello, PMIX_ERR_NOT_FOUND);
    attack_hello(&hello, UINT32_MAX);
    attack_hello_refused("HELLO as rank 2^32 - 1", &hello, PMIX_ERR_NOT_FOUND);
    attack_hello(&hello, (uint32_t)PMIX_RANK_WILDCARD);
    attack_hello_refused("HELLO as the wildcard", &hello, PMIX_ERR_NOT_FOUND);
    attack_hello(&hello, ATTACK_RANK);
    snprintf(hello.nspace, sizeof(hello.nspace), "no.such.job");
    attack_hello_refused("HELLO of an unknown namespace", &hello, PMIX_ERR_NOT_FOUND);
    attack_hello(&hello, ATTACK_RANK);
    hello.nspace[0] = '\0';
    attack_hello_refused("HELLO without a namespace", &hello, PMIX_ERR_NOT_FOUND);
    attack_hello(&hello, ATTACK_RANK);
    hello.protocol = SX_PROTOCOL_VERSION + 1;
    attack_hello_refused("HELLO of another protocol", &hello, PMIX_ERR_NOT_SUPPORTED);
}

static int role_hello(const char *arg)
{
    struct attacker one, other;
    struct sx_hello hello;
    int fd;

    hello_of_others();
    attack_begin(1, "HELLO with a namespace that does not end");
    attack_hello(&hello, ATTACK_RANK);
    memset(hello.nspace, 'x', sizeof(hello.nspace));
    fd = attack_connect();
    attack_request(fd, SX_MSG_HELLO, 1, &hello, sizeof(hello));
    attack_expect_end(fd);
    attack_end();

    attack_begin(1, "HELLO a second time on the same connection");
    attack_attach(&one);
    attack_hello(&hello, ATTACK_RANK);
    attack_request(one.socket_fd, SX_MSG_HELLO, 1, &hello, sizeof(hello));
    attack_expect_end(one.socket_fd);
    one.socket_fd = -1;
    attack_detach(&one);
    attack_end();

    attack_begin(1, "HELLO a second time on another connection");
    attack_attach(&one);
    CHECK_STATUS(attack_attach_as(&other, ATTACK_RANK), PMIX_EXISTS);
    attack_expect_end(other.socket_fd);
    attack_detach(&one);
    attack_end();

    attack_begin(0, "a good-bye twice");
    const unsigned finalized = atomic_load(&fault_shared->finalized);

    attack_attach(&one);
    attack_request(one.socket_fd, SX_MSG_FINALIZE, 5, NULL, 0);
    (void)attack_expect_reply(one.socket_fd, 5, PMIX_SUCCESS);
    for (uint32_t id = 6; id < 10; id++) {
        attack_request(one.socket_fd, SX_MSG_FINALIZE, id, NULL, 0);
        (void)attack_expect_reply(one.socket_fd, id, PMIX_ERR_NOT_AVAILABLE);
    }
    CHECK(atomic_load(&fault_shared->finalized) == finalized + 1, "the host heard of it again");
    attack_detach(&one);
    attack_end();

    /* A forked child may keep the old connection open while its program starts anew. */
    attack_begin(0, "a good-bye, the connection left open, and HELLO on a new one");
    attack_attach(&one);
    attack_request(one.socket_fd, SX_MSG_FINALIZE, 5, NULL, 0);
    (void)attack_expect_reply(one.socket_fd, 5, PMIX_SUCCESS);
    attack_attach(&other);
    attack_expect_end(one.socket_fd);
    one.socket_fd = -1;
    attack_detach(&one);
    attack_request(other.socket_fd, SX_MSG_RESULTS_GET, 6, NULL, 0);
    (void)attack_expect_reply(other.socket_fd, 6, PMIX_SUCCESS);
    attack_detach(&other);
    attack_end();
    return 0;
}

/* ---- bodies that contradict themselves ----------------------------------------------------- */

/* A welcomed client sends one request with this body; dropped. */
static void body_dropped(const char *name, uint16_t kind, const void *body, size_t size)
{
    struct target target;

    target_open(&target, true, name);
    attack_request(target.socket_fd, kind, 9, body, size);
    target_dropped(&target);
}

/* Answered with @status, and the server writes @lines. */
static void body_answered_with(uint32_t lines, const char *name, uint16_t kind, const void *body,
                               size_t size, pmix_status_t status)
{
    struct attacker attacker;

    attack_begin(lines, "%s", name);
    attack_attach(&attacker);
    attack_request(attacker.socket_fd, kind, 9, body, size);
    (void)attack_expect_reply(attacker.socket_fd, 9, status);
    attack_detach(&attacker);
    attack_end();
}

static void body_answered(const char *name, uint16_t kind, const void *body, size_t size,
                          pmix_status_t status)
{
    body_answered_with(0, name, kind, body, size, status);
}

static void get_bodies(void)
{
    struct {
        struct sx_get get;
        char key[600];
    } body;
    const size_t head = sizeof(body.get);

    memset(&body, 0, sizeof(body));
    memset(body.key, 'k', sizeof(body.key));
    snprintf(body.get.nspace, sizeof(body.get.nspace), "%s", ATTACK_JOB);
    body.get.key_size = 5;
    body_dropped("a Get whose key does not end", SX_MSG_GET, &body, head + 5);
    body.key[4] = '\0';
    body.get.key_size = 6;
    body_dropped("a Get whose key lies beyond the frame", SX_MSG_GET, &body, head + 5);
    body.get.key_size = UINT32_MAX;
    body_dropped("a Get with a key of 4 GiB", SX_MSG_GET, &body, head + 5);
    body.get.key_size = 5;
    body.get.flags = SX_GET_IMMEDIATE;
    body.get.rank = UINT32_MAX;
    body_answered("a Get of rank 2^32 - 1", SX_MSG_GET, &body, head + 5, PMIX_ERR_NOT_FOUND);
    body.get.flags = UINT32_MAX;
    body_answered("a Get with all flags", SX_MSG_GET, &body, head + 5, PMIX_ERR_NOT_FOUND);
    body.get.flags = 0;
    body.get.timeout_ns = 1;
    body.get.rank = 0;
    body_answered("a Get that times out", SX_MSG_GET, &body, head + 5, PMIX_ERR_TIMEOUT);
    body.get.timeout_ns = 0;
    snprintf(body.get.nspace, sizeof(body.get.nspace), "no.such.job");
    body_answered("a Get of an unknown namespace", SX_MSG_GET, &body, head + 5, PMIX_ERR_NOT_FOUND);
    memset(body.get.nspace, 'n', sizeof(body.get.nspace));
    body_dropped("a Get whose namespace does not end", SX_MSG_GET, &body, head + 5);
}

static void segment_bodies(void)
{
    struct sx_segment_get get = { .wanted = 99 };

    snprintf(get.nspace, sizeof(get.nspace), "%s", ATTACK_JOB);
    body_answered("a segment of an unknown kind", SX_MSG_SEGMENT_GET, &get, sizeof(get),
                  PMIX_ERR_NOT_FOUND);
    get.wanted = SX_WANT_RING;
    snprintf(get.nspace, sizeof(get.nspace), "good.job");
    body_answered("the ring of another job", SX_MSG_SEGMENT_GET, &get, sizeof(get),
                  PMIX_ERR_NOT_FOUND);
    memset(get.nspace, 's', sizeof(get.nspace));
    body_dropped("a segment whose namespace does not end", SX_MSG_SEGMENT_GET, &get, sizeof(get));
}

static void abort_bodies(void)
{
    struct {
        struct sx_abort abort;
        uint32_t procs[8];
        char text[16];
    } body = { .abort = { .status = 1 } };
    struct {
        struct sx_job_control control;
        uint8_t infos[64];
    } job = { .control = { .proc_count = 0 } };

    body.abort.proc_count = UINT32_C(1) << 31;
    body_dropped("an abort of 2^31 processes", SX_MSG_ABORT, &body, sizeof(body));
    body.abort.proc_count = 1;
    body.procs[1] = 0;
    body_dropped("an abort of a process without a namespace", SX_MSG_ABORT, &body, sizeof(body));
    body.procs[1] = 4000;
    body_dropped("an abort with a namespace beyond the body", SX_MSG_ABORT, &body, sizeof(body));
    body.abort.proc_count = 0;
    body.abort.msg_size = UINT32_MAX;
    body_dropped("an abort with a text of 4 GiB", SX_MSG_ABORT, &body, sizeof(body));
    memset(&body.procs, 'a', sizeof(body.procs));
    body.abort.msg_size = 8;
    body_dropped("an abort with a text that does not end", SX_MSG_ABORT, &body, sizeof(body));
    job.control.info_size = UINT64_MAX;
    body_dropped("job control with 2^64 - 1 bytes of infos", SX_MSG_JOB_CONTROL, &job, sizeof(job));
    job.control.proc_count = UINT32_MAX;
    job.control.info_size = 64;
    body_dropped("job control of 2^32 - 1 processes", SX_MSG_JOB_CONTROL, &job, sizeof(job));
    job.control.proc_count = 0;
    memset(job.infos, 0xff, sizeof(job.infos));
    body_dropped("job control with infos of ones", SX_MSG_JOB_CONTROL, &job, sizeof(job));
}

/* GR36: what nobody has asked changes nothing, and no reply is due. */
static void said_bodies(void)
{
    struct sx_group_said said = { .group = "no.such.group",
                                  .question = 1,
                                  .word = SX_GROUP_ABORTS };
    struct attacker attacker;

    attack_begin(0, "words about a group that nobody builds, twice");
    attack_attach(&attacker);
    attack_request(attacker.socket_fd, SX_MSG_GROUP_SAID, 9, &said, sizeof(said));
    attack_request(attacker.socket_fd, SX_MSG_GROUP_SAID, 9, &said, sizeof(said));
    attack_request(attacker.socket_fd, SX_MSG_RESULTS_GET, 10, NULL, 0);
    (void)attack_expect_reply(attacker.socket_fd, 10, PMIX_SUCCESS);
    attack_detach(&attacker);
    attack_end();
    said.word = SX_GROUP_ABORTS + 1;
    body_dropped("a word that is none", SX_MSG_GROUP_SAID, &said, sizeof(said));
    said.word = SX_GROUP_ABORTS;
    memset(said.group, 'n', sizeof(said.group));
    body_dropped("a word about a name that does not end", SX_MSG_GROUP_SAID, &said, sizeof(said));
}

static void leave_bodies(void)
{
    struct sx_group_leave leave = { .group = "" };

    body_answered("a leave of no group", SX_MSG_GROUP_LEAVE, &leave, sizeof(leave),
                  PMIX_ERR_NOT_FOUND);
    snprintf(leave.group, sizeof(leave.group), "%s", ATTACK_JOB);
    body_answered("a leave of the own job", SX_MSG_GROUP_LEAVE, &leave, sizeof(leave),
                  PMIX_ERR_NOT_FOUND);
    memset(leave.group, 'g', sizeof(leave.group) - 1);
    body_answered("a leave of an unknown group", SX_MSG_GROUP_LEAVE, &leave, sizeof(leave),
                  PMIX_ERR_NOT_FOUND);
    leave.group[sizeof(leave.group) - 1] = 'g';
    body_dropped("a leave of a group whose name does not end", SX_MSG_GROUP_LEAVE, &leave,
                 sizeof(leave));
}

/* A client asks for the cleanup of @paths. */
static void cleanup_body(uint32_t lines, const char *name, const char *paths, pmix_status_t status)
{
    struct {
        struct sx_job_control control;
        uint8_t
            infos[SX_FRAME_MAX - sizeof(struct sx_frame_header) - sizeof(struct sx_job_control)];
    } body = { .control = { .proc_count = 0 } };
    pmix_info_t info;
    size_t size;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_REGISTER_CLEANUP, paths, PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(sx_flat_infos_size(&info, 1, &size), PMIX_SUCCESS);
    CHECK(size <= sizeof(body.infos), "%zu", size);
    CHECK_STATUS(sx_flat_infos_encode(&info, 1, body.infos, size), PMIX_SUCCESS);
    body.control.info_size = size;
    PMIX_INFO_DESTRUCT(&info);
    body_answered_with(lines, name, SX_MSG_JOB_CONTROL, &body, sizeof(body.control) + size, status);
}

/* What the library does not send, as it judges paths itself. */
static void cleanup_bodies(void)
{
    static char text[7500];

    cleanup_body(0, "cleanup of a relative path", "/no/such/file,../etc", PMIX_ERR_BAD_PARAM);
    cleanup_body(0, "cleanup of a parent", "/no/such/..", PMIX_ERR_BAD_PARAM);
    cleanup_body(0, "cleanup of /", "/", PMIX_ERR_BAD_PARAM);
    memset(text, 'x', sizeof(text) - 1);
    text[0] = '/';
    cleanup_body(0, "cleanup of a path of 7 KiB", text, PMIX_ERR_BAD_PARAM);
    for (size_t i = 0; i + 1 < sizeof(text); i++) {
        text[i] = "/n,"[i % 3];
    }
    cleanup_body(1, "cleanup of the same path 2,500 times", text, PMIX_ERR_OUT_OF_RESOURCE);
    cleanup_body(0, "and again, of which nobody is told twice", text, PMIX_ERR_OUT_OF_RESOURCE);
}

/* A client wants to be monitored by what @info says, and by sign @sign of its lane. */
static void monitor_body(const char *name, uint32_t sign, pmix_info_t info[], size_t ninfo)
{
    struct {
        struct sx_monitor_request request;
        uint8_t infos[1024];
    } body = { .request = { .code = PMIX_SUCCESS, .sign = sign } };
    size_t size;

    CHECK_STATUS(sx_flat_infos_size(info, ninfo, &size), PMIX_SUCCESS);
    CHECK(size <= sizeof(body.infos), "%zu", size);
    CHECK_STATUS(sx_flat_infos_encode(info, ninfo, body.infos, size), PMIX_SUCCESS);
    body.request.infos_size = size;
    body_answered(name, SX_MSG_MONITOR, &body, sizeof(body.request) + size, PMIX_ERR_BAD_PARAM);
}

static void monitor_bodies(void)
{
    const uint32_t second = 1;
    const bool yes = true;
    pmix_info_t file[2], beats[2];

    CHECK_STATUS(PMIx_Info_load(&file[0], PMIX_MONITOR_FILE, "/a/file", PMIX_STRING), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&file[1], PMIX_MONITOR_FILE_CHECK_TIME, &second, PMIX_UINT32),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&beats[0], PMIX_MONITOR_HEARTBEAT, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&beats[1], PMIX_MONITOR_HEARTBEAT_TIME, &second, PMIX_UINT32),
                 PMIX_SUCCESS);
    monitor_body("a file without a sign", 0, file, 2);
    monitor_body("a file with a sign beyond the last one", SX_LANE_SIGNS + 1, file, 2);
    monitor_body("a file with sign 2^32 - 1", UINT32_MAX, file, 2);
    monitor_body("a file that is never looked at", 1, file, 1);
    monitor_body("heartbeats with a sign", 1, beats, 2);
    monitor_body("heartbeats that are never looked at", 0, beats, 1);
    PMIx_Info_destruct(&file[0]);
}

static void data_bodies(void)
{
    struct {
        uint64_t len;
        struct sx_lane_put put;
        char key[8];
    } put = { .len = sizeof(put.put) + 8,
              .put = { .key_len = 3, .scope = PMIX_GLOBAL },
              .key = "key" };
    struct {
        struct sx_lane_arrive arrive;
        struct {
            uint32_t head[2];
            char nspace[16];
        } procs[2];
    } arrive = { .arrive = { .kind = SX_COLLECTIVE_FENCE } };

    for (int i = 0; i < 2; i++) {
        arrive.procs[i].head[1] = 12;
        memcpy(arrive.procs[i].nspace, ATTACK_JOB, 12);
    }
    put.len = UINT64_MAX;
    body_dropped("a put of 2^64 - 1 bytes", SX_MSG_PUT_BULK, &put, sizeof(put));
    put.len = UINT64_MAX - 7;
    body_dropped("a put whose length overflows", SX_MSG_PUT_BULK, &put, sizeof(put));
    put.len = 1;
    body_dropped("a put of one byte", SX_MSG_PUT_BULK, &put, sizeof(put));
    put.len = sizeof(put.put) + 8;
    put.put.key_len = UINT16_MAX;
    body_dropped("a put with a key of 64 KiB", SX_MSG_PUT_BULK, &put, sizeof(put));
    put.put.key_len = 3;
    struct {
        uint64_t first[5], second[5];
    } two;

    static_assert(sizeof(two) == 2 * sizeof(put), "back to back");
    put.put.cell.type = PMIX_UINT32;
    memcpy(two.first, &put, sizeof(put));
    memcpy(two.second, &put, sizeof(put));
    body_dropped("two puts in one message", SX_MSG_PUT_BULK, &two, sizeof(two));
    put.put.cell.type = 0;
    put.put.cell.len = UINT32_MAX;
    body_dropped("a put with a value of 4 GiB", SX_MSG_PUT_BULK, &put, sizeof(put));
    put.put.cell.len = 0;
    put.put.cell.type = 0xffff;
    body_dropped("a put of an unknown type", SX_MSG_PUT_BULK, &put, sizeof(put));
    put.put.cell.type = PMIX_UINT32;
    put.put.scope = 200;
    body_dropped("a put with scope 200", SX_MSG_PUT_BULK, &put, sizeof(put));
    arrive.procs[0].head[0] = 1;
    arrive.procs[1].head[0] = 0;
    arrive.arrive.proc_count = 2;
    body_dropped("an arrival of processes in disorder", SX_MSG_ARRIVE_BULK, &arrive,
                 sizeof(arrive));
    arrive.procs[1].head[0] = 1;
    body_dropped("an arrival of one process twice", SX_MSG_ARRIVE_BULK, &arrive, sizeof(arrive));
    arrive.arrive.proc_count = UINT32_C(1) << 31;
    body_dropped("an arrival of 2^31 processes", SX_MSG_ARRIVE_BULK, &arrive, sizeof(arrive));
    arrive.arrive.proc_count = 0;
    body_dropped("an arrival of nobody", SX_MSG_ARRIVE_BULK, &arrive, sizeof(arrive));
    arrive.arrive.proc_count = 1;
    arrive.arrive.info_size = UINT32_MAX;
    body_dropped("an arrival with 4 GiB of infos", SX_MSG_ARRIVE_BULK, &arrive, sizeof(arrive));
    body_dropped("an arrival that is cut", SX_MSG_ARRIVE_BULK, &arrive, 12);
}

/* ---- bodies that unfold -------------------------------------------------------------------- */

/* A request whose infos are sound, and so many that they would take twelve times the memory when
 * they are decoded; @head lies before them, its last word is their size. */
static void unfolds(const char *name, uint16_t kind, size_t count, void *head, size_t head_size,
                    uint32_t *info_size)
{
    pmix_info_t *const info = calloc(count, sizeof(*info));
    struct attacker attacker;
    size_t size;

    CHECK(info != NULL, "no memory");
    for (size_t i = 0; i < count; i++) {
        PMIX_INFO_LOAD(&info[i], "an.info", NULL, PMIX_BOOL);
    }
    CHECK_STATUS(sx_flat_infos_size(info, count, &size), PMIX_SUCCESS);
    uint8_t *const body = malloc(head_size + size);

    CHECK(body != NULL, "no memory");
    CHECK_STATUS(sx_flat_infos_encode(info, count, body + head_size, size), PMIX_SUCCESS);
    *info_size = (uint32_t)size;
    memcpy(body, head, head_size);
    attack_begin(ATTACK_LINES_ANY, "%s", name);
    attack_attach(&attacker);
    attack_large(&attacker, kind, 9, body, head_size + size);
    (void)attack_expect_reply(attacker.socket_fd, 9, PMIX_ERR_OUT_OF_RESOURCE);
    attack_detach(&attacker);
    attack_end();
    free(body);
    free(info);
}

static int role_unfolding(const char *arg)
{
    struct {
        uint32_t proc_count, reserved, info_size, info_size_high;
    } control = { 0 };
    struct sx_event event = { .code = PMIX_EXTERNAL_ERR_BASE - 1, .range = PMIX_RANGE_LOCAL };

    static_assert(sizeof(control) == sizeof(struct sx_job_control), "the same");
    unfolds("job control that unfolds", SX_MSG_JOB_CONTROL, 16000, &control, sizeof(control),
            &control.info_size);
    unfolds("an event that unfolds", SX_MSG_EVENT_BULK, 40000, &event, sizeof(event),
            &event.info_size);
    return 0;
}

/* ---- a client that does not read ----------------------------------------------------------- */

/* Asks for segments and takes none: each answer holds a descriptor of the server's. */
static void reads_nothing(void)
{
    struct sx_segment_get get = { .wanted = SX_WANT_STORE };
    struct attacker attacker;

    attack_begin(1, "requests whose answers nobody takes");
    attack_attach(&attacker);
    snprintf(get.nspace, sizeof(get.nspace), "%s", ATTACK_JOB);
    for (uint32_t id = 1; id <= 100000; id++) {
        struct {
            struct sx_frame_header header;
            struct sx_segment_get get;
        } frame = { .header = { .kind = SX_MSG_SEGMENT_GET, .id = id, .body_size = sizeof(get) },
                    .get = get };

        if (descriptors_send(attacker.socket_fd, &frame, sizeof(frame), -1, 0) < 0) {
            break; /* dropped */
        }
        CHECK(id < 100000, "100000 answers wait");
    }
    attack_expect_end(attacker.socket_fd);
    attacker.socket_fd = -1;
    attack_detach(&attacker);
    attack_end();
}

/* ---- a connection that outlives its process ------------------------------------------------- */

/* In a process of its own: become the rank, leave the connection to a child, and die.  The child
 * stays until nobody holds the other end of @pipe_fd. */
static void die_outlived(int pipe_fd)
{
    struct attacker attacker;
    char byte;

    attack_attach(&attacker);
    const pid_t pid = fork();

    CHECK(pid >= 0, "%s", strerror(errno));
    if (pid == 0) {
        while (read(pipe_fd, &byte, 1) < 0 && errno == EINTR) {
        }
    }
    _exit(0);
}

/* The socket stays open and nobody ever held the life word: what is left is what the kernel says of
 * the process. */
static int role_outlived(const char *arg)
{
    const uint32_t lost = atomic_load(&fault_shared->lost);
    int pipes[2], status;

    attack_begin(ATTACK_LINES_ANY, "a process that dies while its child holds the connection");
    CHECK(pipe2(pipes, O_CLOEXEC) == 0, "%s", strerror(errno));
    const pid_t pid = fork();

    CHECK(pid >= 0, "%s", strerror(errno));
    if (pid == 0) {
        close(pipes[1]);
        die_outlived(pipes[0]);
    }
    close(pipes[0]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0, "status %d", status);
    WAIT_FOR(atomic_load(&fault_shared->lost) == lost + 1, "the news of its death");
    close(pipes[1]);
    attack_end();
    return 0;
}

static void group_bodies(void)
{
    struct {
        struct sx_group_invite invite;
        uint32_t rank, name_len;
        char nspace[16];
    } body = { .invite = { .proc_count = 1, .flags = UINT32_MAX, .group = "tea" },
               .rank = 0,
               .name_len = sizeof(ATTACK_JOB) - 1,
               .nspace = ATTACK_JOB };
    struct sx_group_join join = { .accepts = UINT32_MAX, .group = "tea", .timeout_ns = UINT64_MAX };
    struct {
        struct sx_group_join join;
        uint8_t infos[64];
    } giving = { .join = { .group = "tea", .info_size = 64 } };

    body.invite.timeout_ns = 1;
    body_answered("an invitation that nobody answers", SX_MSG_GROUP_INVITE, &body, sizeof(body),
                  PMIX_ERR_TIMEOUT);
    body.rank = UINT32_MAX;
    body_answered_with(1, "an invitation of rank 2^32 - 1", SX_MSG_GROUP_INVITE, &body,
                       sizeof(body), PMIX_ERR_NOT_FOUND);
    body.rank = ATTACK_RANK;
    body_answered_with(1, "an invitation of oneself", SX_MSG_GROUP_INVITE, &body, sizeof(body),
                       PMIX_ERR_BAD_PARAM);
    body.rank = 0;
    body.invite.group[0] = '\0';
    body_answered_with(1, "an invitation to no name", SX_MSG_GROUP_INVITE, &body, sizeof(body),
                       PMIX_ERR_BAD_PARAM);
    body.invite.proc_count = 0;
    body_dropped("an invitation of nobody", SX_MSG_GROUP_INVITE, &body, sizeof(body));
    body.invite.proc_count = UINT32_C(1) << 31;
    body_dropped("an invitation of 2^31 processes", SX_MSG_GROUP_INVITE, &body, sizeof(body));
    body.invite.proc_count = 1;
    body_dropped("an invitation that is cut", SX_MSG_GROUP_INVITE, &body, sizeof(body) - 8);
    memset(body.invite.group, 'g', sizeof(body.invite.group));
    body_dropped("an invitation to a name that does not end", SX_MSG_GROUP_INVITE, &body,
                 sizeof(body));
    body_answered("an answer to nobody", SX_MSG_GROUP_JOIN, &join, sizeof(join),
                  PMIX_ERR_NOT_FOUND);
    memset(giving.infos, 0xff, sizeof(giving.infos));
    body_dropped("an answer with infos of ones", SX_MSG_GROUP_JOIN, &giving, sizeof(giving));
    giving.join.info_size = UINT32_MAX;
    body_dropped("an answer with 4 GiB of infos", SX_MSG_GROUP_JOIN, &giving, sizeof(giving));
    memset(join.leader_nspace, 'l', sizeof(join.leader_nspace));
    body_dropped("an answer to a name that does not end", SX_MSG_GROUP_JOIN, &join, sizeof(join));
}

static void query_bodies(void)
{
    struct {
        struct sx_query_head head;
        uint8_t infos[64];
    } body = { .head = { .info_size = 0 } };

    body_answered("queries that are none", SX_MSG_QUERY, &body, sizeof(body.head),
                  PMIX_ERR_BAD_PARAM);
    body.head.info_size = sizeof(body.infos);
    memset(body.infos, 0xff, sizeof(body.infos));
    body_dropped("queries of bytes that are no infos", SX_MSG_QUERY, &body, sizeof(body));
    body.head.info_size = UINT64_MAX;
    body_dropped("queries of 2^64 - 1 bytes", SX_MSG_QUERY, &body, sizeof(body));
}

static int role_bodies(const char *arg)
{
    group_bodies();
    get_bodies();
    segment_bodies();
    abort_bodies();
    leave_bodies();
    said_bodies();
    cleanup_bodies();
    monitor_bodies();
    data_bodies();
    query_bodies();
    return 0;
}

/* ---- numbers that are in use --------------------------------------------------------------- */

struct request {
    uint16_t kind;
    const char *name;
    uint8_t body[1024];
    size_t size;
};

/* A request of @kind whose head is @head, and behind it the one info @info. */
static struct request request_make(uint16_t kind, const char *name, const void *head,
                                   size_t head_size, const pmix_info_t *info)
{
    struct request request = { .kind = kind, .name = name, .size = head_size };
    size_t size = 0;

    memcpy(request.body, head, head_size);
    if (info != NULL) {
        CHECK_STATUS(sx_flat_infos_size(info, 1, &size), PMIX_SUCCESS);
        CHECK(head_size + size <= sizeof(request.body), "%zu", size);
        CHECK_STATUS(sx_flat_infos_encode(info, 1, request.body + head_size, size), PMIX_SUCCESS);
    }
    request.size += size;
    return request;
}

static size_t flat_size(const pmix_info_t *info)
{
    size_t size;

    CHECK_STATUS(sx_flat_infos_size(info, 1, &size), PMIX_SUCCESS);
    return size;
}

#define WAITING 3u
#define SECOND 6u

/* Requests that wait for what never comes, and requests that the host, which has no such entry,
 * refuses at once. */
static void requests_make(struct request waiting[WAITING], struct request second[SECOND])
{
    struct {
        struct sx_get get;
        char key[8];
    } get = { .get = { .key_size = 6, .nspace = ATTACK_JOB }, .key = "never" };
    struct {
        struct sx_group_invite invite;
        uint32_t rank, name_len;
        char nspace[16];
    } invite = { .invite = { .proc_count = 1, .group = "tea" },
                 .name_len = sizeof(ATTACK_JOB) - 1,
                 .nspace = ATTACK_JOB };
    pmix_info_t key = { .key = "never", .value = { .type = PMIX_BOOL } };
    pmix_info_t wait = { .key = PMIX_WAIT, .value = { .type = PMIX_BOOL, .data.flag = true } };
    const struct sx_publish_keys keys = { .keys_size = flat_size(&key),
                                          .infos_size = flat_size(&wait) };
    const struct sx_ask ask = { .kind = SX_ASK_ALLOCATION, .infos_size = flat_size(&key) };
    const struct sx_monitor_request monitor = { .infos_size = flat_size(&key) };
    const struct sx_abort abort = { .status = 1 };
    struct request lookup = request_make(SX_MSG_LOOKUP, "a lookup", &keys, sizeof(keys), &key);

    CHECK_STATUS(sx_flat_infos_encode(&wait, 1, lookup.body + lookup.size, keys.infos_size),
                 PMIX_SUCCESS);
    lookup.size += keys.infos_size;
    waiting[0] = request_make(SX_MSG_GET, "a Get", &get, sizeof(get.get) + 6, NULL);
    waiting[1] = lookup;
    waiting[2] = request_make(SX_MSG_GROUP_INVITE, "an invitation", &invite, sizeof(invite), NULL);
    second[0] = request_make(SX_MSG_ASK_HOST, "an allocation", &ask, sizeof(ask), &key);
    second[1] = request_make(SX_MSG_MONITOR, "a monitor", &monitor, sizeof(monitor), &key);
    second[2] = request_make(SX_MSG_ABORT, "an abort", &abort, sizeof(abort), NULL);
    second[3] = request_make(SX_MSG_RESULTS_GET, "a request for results", "", 0, NULL);
    second[4] = waiting[0];
    second[5] = lookup;
}

static void number_used_twice(const struct request *waiting, const struct request *second)
{
    struct attacker attacker;

    attack_begin(1, "%s has the number of %s that waits", second->name, waiting->name);
    attack_attach(&attacker);
    attack_request(attacker.socket_fd, waiting->kind, 9, waiting->body, waiting->size);
    attack_request(attacker.socket_fd, second->kind, 9, second->body, second->size);
    attack_expect_end(attacker.socket_fd);
    attacker.socket_fd = -1;
    attack_detach(&attacker);
    attack_end();
}

/* What was given up has no number any more. */
static void number_given_up(const struct request *waiting)
{
    struct attacker attacker;

    attack_begin(0, "the number of %s that was given up", waiting->name);
    attack_attach(&attacker);
    attack_request(attacker.socket_fd, waiting->kind, 9, waiting->body, waiting->size);
    attack_request(attacker.socket_fd, SX_MSG_GET_CANCEL, 9, NULL, 0);
    attack_request(attacker.socket_fd, SX_MSG_RESULTS_GET, 9, NULL, 0);
    (void)attack_expect_reply(attacker.socket_fd, 9, PMIX_SUCCESS);
    attack_detach(&attacker);
    attack_end();
}

static int role_numbers(const char *arg)
{
    static struct request waiting[WAITING], second[SECOND];

    requests_make(waiting, second);
    for (size_t i = 0; i < WAITING; i++) {
        for (size_t j = 0; j < SECOND; j++) {
            number_used_twice(&waiting[i], &second[j]);
        }
        number_given_up(&waiting[i]);
    }
    return 0;
}

static int role_reads_nothing(const char *arg)
{
    reads_nothing();
    return 0;
}

/* ---- cases --------------------------------------------------------------------------------- */

static int case_lingering(void)
{
    int peer;
    const int fd = lingering_make(&peer);

    if (fd < 0) {
        return fault_skip("no TCP over the loopback on this machine");
    }
    close(peer);
    close(fd);
    attack_judge("lingering");
    return 0;
}

static int case_outlived(void)
{
    const int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    if (pidfd < 0) {
        return fault_skip("no pidfd on this machine: %s", strerror(errno));
    }
    close(pidfd);
    attack_judge("outlived");
    return 0;
}

/* What waits for one client may not use up the descriptors of all. */
static int case_reads_nothing(void)
{
    fault_files_limit(1024);
    attack_judge("reads_nothing");
    CHECK(fault_log_lines(FAULT_SELF, "ulimit") == 0, "the server ran out of descriptors");
    return 0;
}

/* ---- who may come again --------------------------------------------------------------------- */

/* Cut off, or gone from its socket although it lives: neither is a death, and it ends as neither. */
static int role_cut_off(const char *arg)
{
    static const struct sx_frame_header junk = { .kind = UINT16_MAX, .id = 1 };
    struct attacker attacker;
    const bool breach = strcmp(arg, "breach") == 0;

    attack_attach(&attacker);
    if (breach) {
        attack_frame(attacker.socket_fd, junk, NULL, 0);
    }
    attack_detach(&attacker);
    WAIT_FOR(atomic_load(&fault_shared->lost) == (breach ? 1 : 2), "its end to be heard");
    CHECK_STATUS(attack_attach_as(&attacker, ATTACK_RANK), PMIX_ERR_NOT_FOUND);
    return 0;
}

static int role_comes_again(const char *arg)
{
    CHECK_STATUS(PMIx_Init(NULL, NULL, 0), PMIX_ERR_NOT_FOUND);
    return 0;
}

/* Only who has died can be started again without another registration. */
static int case_cut_off(void)
{
    static const char *const ways[] = { "breach", "closed" };

    fault_log_begin();
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    for (size_t i = 0; i < SX_COUNT(ways); i++) {
        const pmix_proc_t proc = { .nspace = ATTACK_JOB, .rank = ATTACK_RANK };

        fault_wait_ok(fault_start(ATTACK_JOB, ATTACK_RANK, "cut_off", ways[i]), ways[i]);
        fault_wait_ok(fault_start(ATTACK_JOB, ATTACK_RANK, "comes_again", ""), ways[i]);
        WAIT_FOR(fault_log_lines(FAULT_SELF, "the host has to register it again") == 2 * (i + 1),
                 "the server's lines");
        CHECK_STATUS(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    }
    fault_job_end(ATTACK_JOB);
    fault_server_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "cut_off", case_cut_off },     { "before_hello", attack_case },
    { "after_hello", attack_case },  { "hello", attack_case },
    { "bodies", attack_case },       { "windows", attack_case },
    { "lingering", case_lingering }, { "unfolding", attack_case },
    { "outlived", case_outlived },   { "reads_nothing", case_reads_nothing },
    { "numbers", attack_case },
};

static const struct fault_role roles[] = {
    { "cut_off", role_cut_off },
    { "comes_again", role_comes_again },
    { "before_hello", role_before_hello },
    { "after_hello", role_after_hello },
    { "hello", role_hello },
    { "bodies", role_bodies },
    { "numbers", role_numbers },
    { "windows", role_windows },
    { "lingering", role_lingering },
    { "unfolding", role_unfolding },
    { "outlived", role_outlived },
    { "reads_nothing", role_reads_nothing },
};

FAULT_MAIN(cases, roles)
