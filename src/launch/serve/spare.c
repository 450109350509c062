/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spare.c - wait for a request, judge it, and become what has sent it.
 *
 * Connections that say nothing wait together, SILENT_MAX of them at most and each for a second.
 * Until a job is offered, signals have their default effect: a spare that gets one ends, and no
 * later job does.  From the offer on they are blocked, and are for the job. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "launch/common/say.h"
#include "launch/serve/carry.h"
#include "launch/serve/hand.h"
#include "launch/serve/serve.h"

#define SILENT_MAX 16

extern char **environ;

struct request {
    int fd; /* the connection */
    struct sx_hand_head head;
    int fds[SX_HAND_FDS_MAX], fd_count; /* the body and the folder; then those of the job */
    char *bytes, **texts; /* carried values, words, variables; each list ends with NULL */
    char **words, **variables;
};

static void request_drop(struct request *request)
{
    for (int i = 0; i < request->fd_count; i++) {
        close(request->fds[i]);
    }
    free(request->bytes);
    free(request->texts);
    close(request->fd);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Return: what is wrong; NULL: nothing. */
static const char *body_read(struct request *request)
{
    const struct sx_hand_head *const head = &request->head;
    const size_t counts[] = { head->carried, head->words, head->variables };
    const size_t all = (size_t)head->carried + head->words + head->variables;
    size_t at = 0, got = 0, text = 0;

    if (head->body_bytes > SX_HAND_BODY_MAX || all > head->body_bytes ||
        head->carried != sx_carry_count()) {
        return "the request is not whole";
    }
    request->bytes = sx_cli_calloc(head->body_bytes + 1, 1);
    request->texts = sx_cli_calloc(all + SX_COUNT(counts), sizeof(char *));
    while (got < head->body_bytes) {
        const ssize_t some = pread(request->fds[0], request->bytes + got, head->body_bytes - got,
                                   (off_t)got);

        if (some <= 0) {
            return "the request is not whole";
        }
        got += (size_t)some;
    }
    for (size_t list = 0; list < SX_COUNT(counts); list++, text++) {
        for (size_t i = 0; i < counts[list]; i++, text++) {
            if (at >= head->body_bytes) {
                return "the request is not whole";
            }
            request->texts[text] = request->bytes + at;
            at += strlen(request->bytes + at) + 1;
        }
    }
    request->words = request->texts + head->carried + 1;
    request->variables = request->words + head->words + 1;
    return NULL;
}

/* @size: of the message.  Return: as body_read. */
static const char *request_read(struct request *request, ssize_t size)
{
    const struct sx_hand_head *const head = &request->head;
    uint64_t command[4];

    sx_hand_command(command);
    if (size != sizeof(*head) || head->kind != SX_HAND_HEAD ||
        memcmp(command, head->command, sizeof(command)) != 0) {
        return "it runs another version of this command: 'shmix serve --stop' ends it";
    }
    if (head->open > SX_HAND_OPEN_MAX || request->fd_count != 2) {
        return "the request is not whole";
    }
    return body_read(request);
}

/* Compare it with this process.  Return: what differs; NULL: nothing of importance. */
static const char *request_judge(const struct sx_spare *spare, const struct request *request,
                                 char *const *carried, char text[SX_HAND_TEXT_MAX])
{
    const char *const variable = sx_carry_variable(request->variables, environ);
    const char *const name = sx_carry_differs(request->texts, carried, spare->any_session);

    if (variable != NULL) {
        snprintf(text, SX_HAND_TEXT_MAX, "%.*s is not the same in the server's environment",
                 (int)strcspn(variable, "="), variable);
    } else if (name != NULL) {
        snprintf(text, SX_HAND_TEXT_MAX, "%s cannot be taken over by the server", name);
    }
    return variable != NULL || name != NULL ? text : NULL;
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Keep the numbers that may come along free of what this process opens before. */
static void numbers_reserve(void)
{
    const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    for (int i = STDERR_FILENO + 1; i < SX_HAND_NUMBERS && null_fd >= 0; i++) {
        if (fcntl(i, F_GETFD) < 0) {
            (void)dup3(null_fd, i, O_CLOEXEC);
        }
    }
}

/* Return: @fd above the numbers that may come along, and closed below; -1: it is closed. */
static int number_raise(int fd)
{
    const int raised = fcntl(fd, F_DUPFD_CLOEXEC, SX_HAND_NUMBERS);

    close(fd);
    return raised;
}

/* The descriptors of the job, which come once this process is ready.  Return: what is wrong; NULL:
 * nothing. */
static const char *descriptors_receive(struct request *request)
{
    const uint32_t open = request->head.open;

    while (request->fd_count > 0) {
        close(request->fds[--request->fd_count]);
    }
    if (sx_hand_send(request->fd, SX_HAND_READY, 0, NULL) != 0 ||
        !sx_hand_await(request->fd, sx_now_ns() + SX_HAND_GO_NS) ||
        sx_hand_request_receive(request->fd, &request->head, request->fds, &request->fd_count) !=
            sizeof(request->head) ||
        request->head.kind != SX_HAND_OPEN || request->head.open != open) {
        return "the rest of the request";
    }
    return (uint32_t)request->fd_count == open ? NULL : "one of so many descriptors";
}

static bool descriptors_take(const struct request *request)
{
    for (int i = 0; i < SX_HAND_NUMBERS; i++) {
        (void)close(i);
    }
    for (uint32_t i = 0; i < request->head.open; i++) {
        if (dup2(request->fds[i], request->head.numbers[i]) < 0) {
            return false;
        }
    }
    for (int i = 0; i < request->fd_count; i++) {
        close(request->fds[i]);
    }
    return true;
}

static bool go_await(int fd)
{
    struct sx_hand_message message;

    return sx_hand_await(fd, sx_now_ns() + SX_HAND_GO_NS) && sx_hand_receive(fd, &message) == 0 &&
           message.kind == SX_HAND_GO;
}

/* The request is good: this process belongs to it from here on. */
__attribute__((noreturn)) static void job_run(struct sx_spare *spare, struct request *request,
                                              char *const *carried)
{
    static const char taken = 1;
    char text[SX_HAND_TEXT_MAX];
    const char *name = NULL;
    sigset_t all;

    (void)send(spare->server, &taken, 1, MSG_NOSIGNAL);
    close(spare->server);
    close(spare->listener);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    name = fchdir(request->fds[1]) != 0 ? "its working folder" : descriptors_receive(request);
    if (name == NULL) {
        name = !descriptors_take(request) ? "one of its descriptors"
                                          : sx_carry_take(request->texts, carried);
    }
    if (name != NULL) {
        snprintf(text, sizeof(text), "%s cannot be taken over by the server", name);
        (void)sx_hand_send(request->fd, SX_HAND_REFUSE, 0, text);
    }
    if (name != NULL || sx_hand_send(request->fd, SX_HAND_OFFER, getpid(), NULL) != 0 ||
        !go_await(request->fd)) {
        sx_launch_free(spare->launch);
        _exit(SX_EXIT_FAILURE);
    }
    environ = request->variables;
    sx_handed_begin(request->fd);
    (void)sx_launch_prepared(spare->launch, request->words, request->head.begin_ns);
    _exit(0);
}

/* ---- the spare ------------------------------------------------------------------------------- */

struct silent {
    int fd;
    uint64_t deadline_ns;
};

struct waiting {
    struct silent all[SILENT_MAX];
    size_t count;
    char **carried;
};

static void silent_take(struct sx_spare *spare, struct waiting *waiting)
{
    const int fd = accept4(spare->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct ucred cred;
    socklen_t size = sizeof(cred);

    if (fd >= 0 &&
        (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) != 0 || cred.uid != geteuid())) {
        close(fd);
    } else if (fd >= 0) {
        waiting->all[waiting->count++] = (struct silent){ fd, sx_now_ns() + SX_HAND_OFFER_NS };
    }
}

/* Take what has come on the connection @fd, which is over with it, or becomes that of a job. */
static void request_take(struct sx_spare *spare, struct waiting *waiting, int fd)
{
    struct request request = { .fd = fd };
    char text[SX_HAND_TEXT_MAX];
    const ssize_t got = sx_hand_request_receive(fd, &request.head, request.fds, &request.fd_count);

    if (got <= 0) {
        close(fd);
        return;
    }
    const char *why = request_read(&request, got);

    why = why != NULL ? why : request_judge(spare, &request, waiting->carried, text);
    if (why == NULL) {
        for (size_t i = 0; i < waiting->count; i++) {
            if (waiting->all[i].fd >= 0 && waiting->all[i].fd != fd) {
                close(waiting->all[i].fd);
            }
        }
        job_run(spare, &request, waiting->carried);
    }
    (void)sx_hand_send(fd, SX_HAND_REFUSE, 0, why);
    request_drop(&request);
}

/* Those that still say nothing stay.  Return: how long they may, in ms; -1: there are none. */
static int silent_look(struct sx_spare *spare, struct waiting *waiting, const struct pollfd *fds)
{
    const uint64_t now_ns = sx_now_ns();
    uint64_t next_ns = UINT64_MAX;
    size_t kept = 0;

    for (size_t i = 0; i < waiting->count; i++) {
        struct silent *const it = &waiting->all[i];

        if (fds[i].revents != 0) {
            request_take(spare, waiting, it->fd);
            it->fd = -1;
        } else if (now_ns >= it->deadline_ns) {
            close(it->fd);
            it->fd = -1;
        }
    }
    for (size_t i = 0; i < waiting->count; i++) {
        const struct silent it = waiting->all[i];

        if (it.fd >= 0) {
            waiting->all[kept++] = it;
            next_ns = it.deadline_ns < next_ns ? it.deadline_ns : next_ns;
        }
    }
    waiting->count = kept;
    return next_ns == UINT64_MAX ? -1 : (int)((next_ns - now_ns) / SX_NS_PER_MS) + 1;
}

void sx_spare_run(struct sx_spare *spare)
{
    struct waiting waiting = { .count = 0 };
    int limit_ms = -1;

    spare->server = number_raise(spare->server);
    spare->listener = number_raise(spare->listener);
    numbers_reserve();
    waiting.carried = sx_carry_read();
    if (spare->server < 0 || spare->listener < 0 ||
        !sx_launch_prepare(spare->launch,
                           sx_carry_differs(waiting.carried, spare->carried, true) == NULL)) {
        _exit(SX_EXIT_FAILURE);
    }
    for (;;) {
        struct pollfd fds[2 + SILENT_MAX] = { { .fd = spare->server, .events = POLLIN },
                                              { .fd = spare->listener, .events = POLLIN } };

        fds[1].fd = waiting.count < SILENT_MAX ? spare->listener : -1;
        for (size_t i = 0; i < waiting.count; i++) {
            fds[2 + i] = (struct pollfd){ .fd = waiting.all[i].fd, .events = POLLIN };
        }
        const int got = poll(fds, 2 + waiting.count, limit_ms);

        if (fds[0].revents != 0 || (got < 0 && errno != EINTR)) {
            sx_launch_free(spare->launch);
            _exit(0);
        }
        limit_ms = silent_look(spare, &waiting, fds + 2);
        if (fds[1].fd >= 0 && fds[1].revents != 0) {
            silent_take(spare, &waiting);
            limit_ms = 0; /* most have said all already */
        }
    }
}
