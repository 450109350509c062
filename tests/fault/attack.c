/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* attack.c - speak the protocol by hand, and judge what the server makes of it. */
#include "attack.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/rendezvous.h"

/* ---- the attacker -------------------------------------------------------------------------- */

void attack_begin(uint32_t lines, const char *name, ...)
{
    const uint32_t number = atomic_load(&fault_shared->attack_begun) + 1;
    va_list args;

    va_start(args, name);
    vsnprintf(fault_shared->attack_name, sizeof(fault_shared->attack_name), name, args);
    va_end(args);
    atomic_store(&fault_shared->attack_lines, lines);
    atomic_store(&fault_shared->attack_begun, number);
    WAIT_FOR(atomic_load(&fault_shared->attack_admitted) == number, "the host's admission");
    fault_waiting_for = fault_shared->attack_name;
}

void attack_end(void)
{
    const uint32_t number = atomic_load(&fault_shared->attack_begun);

    atomic_store(&fault_shared->attack_ended, number);
    WAIT_FOR(atomic_load(&fault_shared->attack_judged) == number, "the host's judgement");
}

int attack_connect(void)
{
    int fd;

    CHECK_STATUS(sx_rendezvous_connect(&fd), PMIX_SUCCESS);
    return fd;
}

void attack_frame(int socket_fd, struct sx_frame_header header, const void *body, size_t size)
{
    uint8_t *const frame = malloc(sizeof(header) + size);

    CHECK(frame != NULL, "no memory");
    memcpy(frame, &header, sizeof(header));
    if (size > 0) {
        memcpy(frame + sizeof(header), body, size);
    }
    /* Whether it gets there at all is the server's business: it may have hung up already. */
    (void)descriptors_send(socket_fd, frame, sizeof(header) + size, -1, 0);
    free(frame);
}

void attack_request(int socket_fd, uint16_t kind, uint32_t id, const void *body, size_t size)
{
    attack_frame(socket_fd, (struct sx_frame_header){ .kind = kind, .id = id, .body_size = size },
                 body, size);
}

void attack_expect_end(int socket_fd)
{
    char bytes[SX_FRAME_MAX];

    for (;;) {
        const ssize_t got = recv(socket_fd, bytes, sizeof(bytes), 0);

        if (got == 0 || (got < 0 && errno == ECONNRESET)) {
            break;
        }
        CHECK(got > 0 || errno == EINTR, "%s: %s", fault_shared->attack_name, strerror(errno));
    }
    close(socket_fd);
}

size_t attack_expect_reply(int socket_fd, uint32_t id, pmix_status_t status)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;
    const struct sx_reply *reply;
    size_t size;

    CHECK_STATUS(sx_frame_receive(socket_fd, buffer, &frame, UINT64_MAX), PMIX_SUCCESS);
    CHECK(frame.header.kind == SX_MSG_REPLY && frame.header.id == id, "%s: kind %u id %u",
          fault_shared->attack_name, frame.header.kind, frame.header.id);
    reply = frame.body;
    CHECK(reply->status == status, "%s: the answer is %d (%s), not %d", fault_shared->attack_name,
          reply->status, PMIx_Error_string(reply->status), status);
    size = frame.body_size - sizeof(*reply);
    sx_frame_release(&frame);
    return size;
}

void attack_hello(struct sx_hello *hello, uint32_t rank)
{
    *hello = (struct sx_hello){ .protocol = SX_PROTOCOL_VERSION, .rank = rank };
    snprintf(hello->nspace, sizeof(hello->nspace), "%s", ATTACK_JOB);
}

pmix_status_t attack_attach_as(struct attacker *attacker, uint32_t rank)
{
    struct sx_hello hello;

    attack_hello(&hello, rank);
    return attack_attach_hello(attacker, &hello);
}

void attack_hello_refused(const char *name, const struct sx_hello *hello, pmix_status_t status)
{
    struct attacker attacker;

    attack_begin(1, "%s", name);
    CHECK_STATUS(attack_attach_hello(&attacker, hello), status);
    attack_expect_end(attacker.socket_fd);
    attack_end();
}

pmix_status_t attack_attach_hello(struct attacker *attacker, const struct sx_hello *hello)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;

    *attacker = (struct attacker){
        .board = SX_BOARD_NULL, .lane = SX_LANE_NULL, .fds = { -1, -1, -1, -1, -1 }, .window_fd = -1
    };
    attacker->socket_fd = attack_connect();
    attack_request(attacker->socket_fd, SX_MSG_HELLO, 1, hello, sizeof(*hello));
    CHECK_STATUS(sx_frame_receive(attacker->socket_fd, buffer, &frame, UINT64_MAX), PMIX_SUCCESS);
    CHECK(frame.header.kind == SX_MSG_WELCOME, "kind %u", frame.header.kind);
    const struct sx_welcome *welcome = frame.body;
    const pmix_status_t status = welcome->status;

    if (status != PMIX_SUCCESS) {
        CHECK(frame.fd_count == 0, "a refusal with descriptors");
        memcpy(attacker->refusal, welcome->nspace, sizeof(attacker->refusal));
        sx_frame_release(&frame);
        return status;
    }
    CHECK(frame.fd_count == 5, "%d descriptors", frame.fd_count);
    attacker->slot = welcome->slot;
    attacker->self.rank = welcome->rank;
    memcpy(attacker->self.nspace, welcome->nspace, sizeof(attacker->self.nspace));
    for (int i = 0; i < 5; i++) {
        attacker->fds[i] = frame.fds[i];
        frame.fds[i] = -1;
    }
    sx_frame_release(&frame);
    CHECK_STATUS(sx_board_attach(&attacker->board, attacker->fds[0]), PMIX_SUCCESS);
    CHECK_STATUS(sx_lane_attach(&attacker->lane, attacker->fds[1], &attacker->board, attacker->slot,
                                dup(attacker->fds[2])),
                 PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

void attack_attach(struct attacker *attacker)
{
    CHECK_STATUS(attack_attach_as(attacker, ATTACK_RANK), PMIX_SUCCESS);
}

int attack_expect_descriptor(int socket_fd, uint32_t id)
{
    _Alignas(8) static uint8_t buffer[SX_FRAME_MAX];
    struct sx_frame frame;

    CHECK_STATUS(sx_frame_receive(socket_fd, buffer, &frame, UINT64_MAX), PMIX_SUCCESS);
    CHECK(frame.header.kind == SX_MSG_REPLY && frame.header.id == id, "%s: kind %u id %u",
          fault_shared->attack_name, frame.header.kind, frame.header.id);
    CHECK_STATUS(((const struct sx_reply *)frame.body)->status, PMIX_SUCCESS);
    CHECK(frame.fd_count == 1, "%s: %d descriptors", fault_shared->attack_name, frame.fd_count);
    const int fd = frame.fds[0];

    frame.fds[0] = -1;
    sx_frame_release(&frame);
    return fd;
}

void attack_window(struct attacker *attacker)
{
    if (attacker->window_fd >= 0) {
        close(attacker->window_fd);
    }
    attack_request(attacker->socket_fd, SX_MSG_WINDOW_GET, 77, NULL, 0);
    attacker->window_fd = attack_expect_descriptor(attacker->socket_fd, 77);
}

void attack_large(struct attacker *attacker, uint16_t kind, uint32_t id, const void *body,
                  size_t size)
{
    const uint8_t *at = body;

    if (attacker->window_fd < 0) {
        attack_window(attacker);
    }
    for (;;) {
        const size_t piece = size < SX_WINDOW_BYTES ? size : SX_WINDOW_BYTES;
        const uint16_t flags = piece < size ? SX_FRAME_MORE : 0;

        CHECK(pwrite(attacker->window_fd, at, piece, 0) == (ssize_t)piece, "%s", strerror(errno));
        CHECK_STATUS(sx_frame_send_window(attacker->socket_fd, kind, flags, id, piece, UINT64_MAX),
                     PMIX_SUCCESS);
        if (flags == 0) {
            return;
        }
        (void)attack_expect_reply(attacker->socket_fd, id, PMIX_SUCCESS);
        at += piece;
        size -= piece;
    }
}

void attack_detach(struct attacker *attacker)
{
    if (attacker->window_fd >= 0) {
        close(attacker->window_fd);
    }
    sx_lane_detach(&attacker->lane);
    sx_board_deinit(&attacker->board);
    for (int i = 0; i < 5; i++) {
        if (attacker->fds[i] >= 0) {
            close(attacker->fds[i]);
        }
    }
    if (attacker->socket_fd >= 0) {
        close(attacker->socket_fd);
    }
}

/* ---- the host ------------------------------------------------------------------------------ */

struct level {
    unsigned fds, maps, lines;
    uint64_t memory_kib;
};

static struct level level_now(void)
{
    return (struct level){ .fds = fault_fd_count(FAULT_SELF),
                           .maps = fault_map_count(FAULT_SELF),
                           .lines = fault_log_lines(FAULT_SELF, NULL),
                           .memory_kib = fault_memory_kib(FAULT_SELF) };
}

static void admit(uint32_t number)
{
    fault_rank_admit(ATTACK_JOB, ATTACK_RANK);
    atomic_store(&fault_shared->attack_admitted, number);
}

void (*attack_settle)(void);

/* One attack is over: its lines are there, what it held is given back, the others go on. */
static void judge(uint32_t number, const struct level *before)
{
    const uint32_t lines = atomic_load(&fault_shared->attack_lines);
    const char *const name = fault_shared->attack_name;

    if (attack_settle != NULL) {
        attack_settle();
    }
    fault_good_wait(1);
    WAIT_FOR(fault_fd_count(FAULT_SELF) <= before->fds, name);
    WAIT_FOR(fault_map_count(FAULT_SELF) <= before->maps, name);
    const unsigned caused = fault_log_lines(FAULT_SELF, NULL) - before->lines;

    CHECK(lines == ATTACK_LINES_ANY || caused == lines, "%s: %u log lines, not %u", name, caused,
          lines);
    atomic_store(&fault_shared->attack_judged, number);
}

/* Return: the attacker's wait status. */
static int judge_all(pid_t pid, const struct level *base)
{
    struct level before = *base;
    uint32_t admitted = 0, judged = 0;
    int status;

    fault_waiting_for = "the attacker";
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (atomic_load(&fault_shared->attack_begun) != admitted) {
            before.lines = fault_log_lines(FAULT_SELF, NULL);
            admit(++admitted);
        } else if (atomic_load(&fault_shared->attack_ended) != judged) {
            judge(++judged, &before);
        } else {
            fault_pause();
        }
    }
    fault_waiting_for = NULL;
    fault_say("%u attacks", judged);
    CHECK(judged > 0, "no attack was made");
    return status;
}

void (*attack_company)(bool begin);
uint64_t attack_keeps_kib;

void attack_judge(const char *role)
{
    fault_log_begin();
    /* Else the threshold follows the largest thing that was freed, and malloc_trim leaves as much
     * at the end of a thread's arena. */
    (void)mallopt(M_TRIM_THRESHOLD, 128 << 10);
    fault_server_start();
    fault_job_start(ATTACK_JOB, 2);
    fault_good_start();
    if (attack_company != NULL) {
        attack_company(true);
    }
    const struct level base = level_now();
    const pid_t pid = fault_start(ATTACK_JOB, ATTACK_RANK, role, NULL);
    const int status = judge_all(pid, &base);

    CHECK(!WIFSIGNALED(status), "the attacker was killed by signal %d during: %s", WTERMSIG(status),
          fault_shared->attack_name);
    CHECK(WEXITSTATUS(status) == 0, "the attacker exited with %d", WEXITSTATUS(status));
    (void)malloc_trim(0); /* what malloc keeps for later is no growth */
    const uint64_t memory_kib = fault_memory_kib(FAULT_SELF);

    fault_say("memory %llu KiB before, %llu KiB after", (unsigned long long)base.memory_kib,
              (unsigned long long)memory_kib);
    CHECK(memory_kib <= base.memory_kib + attack_keeps_kib + fault_memory_slack_kib(),
          "memory has grown");
    if (attack_company != NULL) {
        attack_company(false);
    }
    fault_good_stop();
    fault_job_end(ATTACK_JOB);
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
}

int attack_case(void)
{
    attack_judge(fault_case->name);
    return 0;
}
