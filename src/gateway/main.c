/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* main.c - shmix-gateway: accept ranks that carry another PMIx library; a child serves each.
 *
 *     accept --user of the other end, by the kernel--> not ours: closed, a log line
 *                                                 \--> ours: fork, gateway/serve.c
 *
 * control/gateway.h starts this program, as the user of the ranks.  It ends with its starter; its
 * children do too, on their own.  At most STRANGERS_MAX children have no handshake yet.  Then
 * nothing more is accepted until one of them has, or has ended; the oldest one is ended after a
 * second. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/system/process.h"
#include "base/util.h"
#include "control/gateway.h"
#include "control/rendezvous.h"
#include "gateway/serve.h"

#define STRANGERS_MAX 128
#define CROWD_MS 20            /* between two looks for a place, while all are taken */
#define CROWD_NS SX_NS_PER_SEC /* for a handshake, meanwhile */
#define NO_FORK_MS 50 /* before another try, when there are no processes or descriptors left */
#define REFUSALS_LOGGED_MAX 16

struct stranger {
    pid_t pid; /* 0: the place is free */
    uint64_t since_ns;
    _Atomic int state; /* enum sx_stranger_state; GREETED: the place is free, too */
};

struct gateway {
    int listen_fd, life_fd, news_fd, signal_fd;
    pid_t starter;              /* of the ranks, as far as it is known */
    struct stranger *strangers; /* STRANGERS_MAX, shared with the children */
    unsigned refusals_logged;
    bool crowd_logged;
};

static struct stranger *place_find(struct gateway *gateway)
{
    for (size_t i = 0; i < STRANGERS_MAX; i++) {
        struct stranger *const stranger = &gateway->strangers[i];

        if (stranger->pid == 0 ||
            atomic_load_explicit(&stranger->state, memory_order_relaxed) == SX_STRANGER_GREETED) {
            return stranger;
        }
    }
    return NULL;
}

/* All places are taken: end the oldest stranger, once it has had its time. */
static void crowd_thin_out(struct gateway *gateway)
{
    struct stranger *oldest = &gateway->strangers[0];

    for (size_t i = 1; i < STRANGERS_MAX; i++) {
        if (gateway->strangers[i].since_ns < oldest->since_ns) {
            oldest = &gateway->strangers[i];
        }
    }
    if (oldest->since_ns + CROWD_NS > sx_now_ns()) {
        return;
    }
    if (!gateway->crowd_logged) {
        gateway->crowd_logged = true;
        sx_log(SX_LOG_WARN,
               "more than %d connections do not send a handshake: the oldest are "
               "closed",
               STRANGERS_MAX);
    }
    oldest->since_ns = sx_now_ns(); /* until it is reaped */
    if (sx_stranger_becomes(&oldest->state, SX_STRANGER_EVICTED)) {
        kill(oldest->pid, SIGKILL);
    }
}

static void children_reap(struct gateway *gateway)
{
    struct signalfd_siginfo info;
    pid_t pid;

    while (read(gateway->signal_fd, &info, sizeof(info)) > 0) {
    }
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        for (size_t i = 0; i < STRANGERS_MAX; i++) {
            if (gateway->strangers[i].pid == pid) {
                gateway->strangers[i].pid = 0;
            }
        }
    }
}

static void refuse(struct gateway *gateway, const char *why, unsigned uid)
{
    if (gateway->refusals_logged < REFUSALS_LOGGED_MAX) {
        gateway->refusals_logged++;
        sx_log(SX_LOG_WARN,
               "a connection is closed before anything is read: %s (uid %u; the ranks "
               "have uid %u)%s",
               why, uid, (unsigned)geteuid(),
               gateway->refusals_logged == REFUSALS_LOGGED_MAX ? "; further ones are not logged"
                                                               : "");
    }
}

/* The connection @fd is the child's.  Return: false when there is no child. */
static bool child_fork(struct gateway *gateway, struct stranger *stranger, int fd,
                       const struct sx_gateway_peer *peer)
{
    sigset_t none;

    /* relaxed: no other process has the place. */
    atomic_store_explicit(&stranger->state, SX_STRANGER_SILENT, memory_order_relaxed);
    const pid_t pid = fork();

    if (pid == 0) {
        const struct sx_serve serve = { .fd = fd,
                                        .life_fd = gateway->life_fd,
                                        .news_fd = gateway->news_fd,
                                        .peer = *peer,
                                        .starter = gateway->starter,
                                        .state = &stranger->state };

        close(gateway->listen_fd);
        close(gateway->signal_fd);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        _exit(sx_serve(&serve));
    }
    stranger->pid = pid > 0 ? pid : 0;
    stranger->since_ns = sx_now_ns();
    return pid > 0;
}

/* Return: false when a pause is needed, as a process or a descriptor could not be had. */
static bool accept_one(struct gateway *gateway, struct stranger *stranger)
{
    struct sx_gateway_peer peer = { 0 };
    const int fd = accept4(gateway->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    int why;
    bool good = true;

    if (fd < 0) {
        return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    }
    why = sx_gateway_peer_find(fd, &peer);
    if (why == ENOTCONN) {
        sx_log(SX_LOG_DEBUG, "a connection has ended before it was accepted");
    } else if (why != 0) {
        refuse(gateway, strerror(why), (unsigned)peer.uid);
    } else if (peer.uid != geteuid()) {
        refuse(gateway, "it belongs to another user than the ranks", (unsigned)peer.uid);
    } else {
        good = child_fork(gateway, stranger, fd, &peer);
        if (!good) {
            sx_log(SX_LOG_WARN,
                   "no process for a rank with another PMIx library: %s; its "
                   "connection is closed",
                   strerror(errno));
        }
    }
    close(fd);
    return good;
}

/* Until the starter has gone. */
static void gateway_run(struct gateway *gateway)
{
    struct pollfd fds[] = { { .fd = gateway->life_fd, .events = POLLIN },
                            { .fd = gateway->signal_fd, .events = POLLIN },
                            { .fd = gateway->listen_fd, .events = POLLIN } };
    bool paused = false;

    for (;;) {
        struct stranger *const place = place_find(gateway);

        fds[2].fd = paused || place == NULL ? -1 : gateway->listen_fd;
        for (size_t i = 0; i < SX_COUNT(fds); i++) {
            fds[i].revents = 0;
        }
        (void)poll(fds, SX_COUNT(fds), paused ? NO_FORK_MS : place == NULL ? CROWD_MS : -1);
        paused = false;
        if (fds[0].revents != 0) {
            return;
        }
        if (fds[1].revents != 0) {
            children_reap(gateway);
        }
        if (place == NULL) {
            crowd_thin_out(gateway);
        }
        if (fds[2].revents != 0) {
            paused = !accept_one(gateway, place);
        }
    }
}

/* Close all descriptors but the standard ones, ours, and the way to the server that SHMIX_SERVER_FD
 * names ("NUMBER:DEVICE:INODE"), which gets a number of ours. */
static void descriptors_close(void)
{
    const char *const value = getenv(SX_ENV_SERVER_FD);
    char *rest = NULL, *moved;
    const long fd = value == NULL ? -1 : strtol(value, &rest, 10);
    int first = SX_GATEWAY_FDS;

    if (fd >= SX_GATEWAY_FDS && fd <= INT_MAX && *rest == ':' &&
        dup2((int)fd, SX_GATEWAY_FDS) == SX_GATEWAY_FDS &&
        asprintf(&moved, "%d%s", SX_GATEWAY_FDS, rest) > 0) {
        setenv(SX_ENV_SERVER_FD, moved, 1);
        free(moved);
        first++;
    }
    sx_descriptors_close_from(first);
}

/* Root starts this for the ranks' user.  Return: false when that fails. */
static bool user_become(uid_t uid, gid_t gid)
{
    return geteuid() != 0 || uid == 0 ||
           (setgroups(0, NULL) == 0 && setresgid(gid, gid, gid) == 0 &&
            setresuid(uid, uid, uid) == 0);
}

static bool gateway_init(struct gateway *gateway, char **words)
{
    sigset_t child;

    if (!user_become((uid_t)strtoul(words[3], NULL, 10), (gid_t)strtoul(words[4], NULL, 10))) {
        return false;
    }
    gateway->listen_fd = atoi(words[0]);
    gateway->life_fd = gateway->news_fd = atoi(words[1]);
    gateway->starter = (pid_t)atoi(words[2]);
    if (gateway->starter == 0) {
        gateway->starter = getppid();
    }
    if (gateway->life_fd < 0) {
        gateway->life_fd = (int)syscall(SYS_pidfd_open, atoi(words[2]), 0);
    }
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    gateway->signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    gateway->strangers = mmap(NULL, STRANGERS_MAX * sizeof(*gateway->strangers),
                              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return gateway->life_fd >= 0 && gateway->signal_fd >= 0 && gateway->strangers != MAP_FAILED &&
           fcntl(gateway->listen_fd, F_SETFD, FD_CLOEXEC) == 0;
}

int main(int argc, char **argv)
{
    struct gateway gateway = { .listen_fd = -1 };

    if (argc != 6) {
        fprintf(stderr, "usage: " SX_GATEWAY_PROGRAM " LISTEN_FD LIFE_FD PID UID GID\n"
                        "'shmix run', 'shmix gateway' and servers start this program.\n");
        return 2;
    }
    descriptors_close();
    sx_log_set_name("gateway");
    if (!gateway_init(&gateway, argv + 1)) {
        sx_log(SX_LOG_ERROR, "cannot start: %s", strerror(errno));
        return 1;
    }
    gateway_run(&gateway);
    return 0;
}
