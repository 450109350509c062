/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* control_roundtrip.c
 * Question:  what does one request over the control socket cost its client, on either engine, and
 *            how many turns does the server take for it?
 * Predict:   12-25 us when client and server are on two CPUs and the server sleeps in between, most
 *            of it the two wake-ups; io_uring no faster than epoll; one turn a request.
 * Method:    a server thread with one loop and N channels over socket pairs; one client thread asks
 *            them in turn, each request a GET of 300 bytes answered by a REPLY of 8; warm-up of a
 *            tenth discarded; every round trip is a sample.
 * Varies:    engine, N.  Fixed: message sizes.  Control: the same ping-pong with blocking recv and
 *            send, without loop, channel or checks. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "control/channel.h"

#define CLIENTS_MAX 64

struct server {
    struct sx_loop *loop;
    struct sx_channel channels[CLIENTS_MAX];
};

static void answer(void *arg, struct sx_frame *frame, const char *why, uint64_t now_ns)
{
    static const struct sx_reply reply = { .status = PMIX_SUCCESS };
    const struct iovec iov = { (void *)(uintptr_t)&reply, sizeof(reply) };

    (void)why;
    (void)now_ns;
    if (frame != NULL) {
        sx_channel_send(arg, SX_MSG_REPLY, frame->header.id, &iov, 1, NULL, 0);
    }
}

static void *serve(void *arg)
{
    sx_loop_run(arg);
    return NULL;
}

static void *echo(void *arg)
{
    char buf[512];
    const int fd = *(int *)arg;

    while (recv(fd, buf, sizeof(buf), 0) > 0) {
        if (send(fd, buf, 24, MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static void report(const char *what, int clients, uint64_t *ns, size_t count, double turns)
{
    const size_t first = count / 10; /* warm-up */

    qsort(ns + first, count - first, sizeof(*ns), compare);
    printf("%-9s %3d clients: min %6.1f us, p50 %6.1f us, p99 %6.1f us, %.2f turns a request\n",
           what, clients, (double)ns[first] / 1e3, (double)ns[first + (count - first) / 2] / 1e3,
           (double)ns[first + (count - first) * 99 / 100] / 1e3, turns);
}

/* Ask all channels in turn, @count requests in all.  Return: how many were answered well. */
static size_t ask(const int *fds, int clients, uint64_t *ns, size_t count)
{
    static _Alignas(8) uint8_t buf[SX_FRAME_MAX];
    static const struct sx_get get = { .nspace = "bench", .rank = 1 };
    const struct iovec iov = { (void *)(uintptr_t)&get, sizeof(get) };
    struct sx_frame frame;
    size_t good = 0;

    for (size_t i = 0; i < count; i++) {
        const int fd = fds[i % (size_t)clients];
        const uint64_t begin_ns = sx_now_ns();

        if (sx_frame_send(fd, SX_MSG_GET, (uint32_t)i, &iov, 1, SX_DEADLINE_NEVER) !=
                PMIX_SUCCESS ||
            sx_frame_receive(fd, buf, &frame, SX_DEADLINE_NEVER) != PMIX_SUCCESS) {
            break;
        }
        good += frame.header.id == (uint32_t)i;
        sx_frame_release(&frame);
        ns[i] = sx_now_ns() - begin_ns;
    }
    return good;
}

static bool measure_engine(const char *engine, int clients, uint64_t *ns, size_t count)
{
    static struct server server;
    int pair[2], fds[CLIENTS_MAX];
    pthread_t thread;

    setenv("SHMIX_LOOP", engine, 1);
    if (sx_loop_new(&server.loop) != PMIX_SUCCESS) {
        printf("%-9s refused on this machine, see the line above\n", engine);
        return true;
    }
    for (int i = 0; i < clients; i++) {
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
            sx_channel_open(&server.channels[i], server.loop, pair[0], answer,
                            &server.channels[i]) != PMIX_SUCCESS) {
            return false;
        }
        fds[i] = pair[1];
    }
    if (pthread_create(&thread, NULL, serve, server.loop) != 0) {
        return false;
    }
    const size_t good = ask(fds, clients, ns, count);

    sx_loop_stop(server.loop);
    pthread_join(thread, NULL);
    if (good == count) {
        report(engine, clients, ns, count,
               (double)sx_loop_stats(server.loop).turns / (double)count);
    }
    for (int i = 0; i < clients; i++) {
        sx_channel_close(&server.channels[i]);
        close(fds[i]);
    }
    sx_loop_free(server.loop);
    return good == count;
}

static bool measure_control(uint64_t *ns, size_t count)
{
    static const uint8_t request[16 + sizeof(struct sx_get)];
    char buf[512];
    int pair[2];
    pthread_t thread;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
        pthread_create(&thread, NULL, echo, &pair[0]) != 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t begin_ns = sx_now_ns();

        if (send(pair[1], request, sizeof(request), MSG_NOSIGNAL) < 0 ||
            recv(pair[1], buf, sizeof(buf), 0) != 24) {
            return false;
        }
        ns[i] = sx_now_ns() - begin_ns;
    }
    close(pair[1]);
    pthread_join(thread, NULL);
    close(pair[0]);
    report("blocking", 1, ns, count, 0);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const engines[] = { "epoll", "uring" };
    static const int clients[] = { 1, 32 };
    const size_t count = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? 1000 : 100000;
    uint64_t *ns = calloc(count, sizeof(*ns));
    struct utsname host = { .release = "" };
    bool good = ns != NULL;

    uname(&host);
    printf("kernel %s, compiler %s, %zu requests\n", host.release, __VERSION__, count);
    good = good && measure_control(ns, count);
    for (size_t c = 0; c < SX_COUNT(clients); c++) {
        for (size_t e = 0; e < SX_COUNT(engines); e++) {
            good = good && measure_engine(engines[e], clients[c], ns, count);
        }
    }
    free(ns);
    return good ? 0 : 1;
}
