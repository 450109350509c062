/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* handed.c - a signal that arrives is sent to this process itself, which has it blocked and reads
 * it like all others (launch/job/life.c). */
#include "launch/serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launch/common/say.h"
#include "launch/job/loop.h"
#include "launch/serve/hand.h"

static struct {
    int fd; /* -1: none */
    struct sx_poll watch;
} command = { .fd = -1, .watch.fd = -1 };

void sx_handed_begin(int fd)
{
    command.fd = fd;
}

/* Return: the signal that has come; 0: none any more. */
static int signal_take(void)
{
    struct sx_hand_message message;
    const int why = sx_hand_receive(command.fd, &message);
    sigset_t handled;

    if (why == EAGAIN || why == EINTR) {
        return 0;
    }
    sx_run_signals(&handled);
    if (why != 0 || message.kind != SX_HAND_SIGNAL || message.number <= 0 ||
        message.number >= NSIG || message.number == SIGCHLD ||
        sigismember(&handled, message.number) != 1) {
        fflush(stdout);
        _exit(SX_EXIT_FAILURE); /* the command is lost */
    }
    kill(getpid(), message.number);
    return message.number;
}

static void readable(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)arg;
    (void)revents;
    (void)now_ns;
    while (signal_take() != 0) {
    }
}

int sx_handed_open(struct sx_run_loop *loop)
{
    if (command.fd < 0) {
        return 0;
    }
    readable(NULL, 0, 0); /* ranks start before the loop's first turn */
    command.watch = (struct sx_poll){ .fd = command.fd, .fn = readable };
    return sx_run_watch(loop, &command.watch, POLLIN);
}

void sx_handed_close(void)
{
    if (command.watch.fd >= 0) {
        sx_run_unwatch(&command.watch);
    }
}

bool sx_handed_pause(void)
{
    sigset_t resume;

    if (command.fd < 0 || sx_hand_send(command.fd, SX_HAND_STOPPED, 0, NULL) != 0) {
        return command.fd >= 0;
    }
    sigemptyset(&resume);
    sigaddset(&resume, SIGCONT);
    const int resume_fd = signalfd(-1, &resume, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd fds[] = { { .fd = command.fd, .events = POLLIN },
                            { .fd = resume_fd, .events = POLLIN } };

    while (fds[1].revents == 0) { /* a SIGCONT that the command passes on is seen there too */
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (fds[0].revents != 0) {
            readable(NULL, 0, 0);
        }
    }
    close(resume_fd);
    return true;
}

void sx_handed_end(int code)
{
    if (command.fd < 0) {
        return;
    }
    fflush(stdout);
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int i = 0; i <= STDERR_FILENO && null_fd >= 0; i++) {
        (void)dup2(null_fd, i); /* who reads the other end waits for ours too */
    }
    (void)sx_hand_send(command.fd, SX_HAND_EXIT, code, NULL);
}
