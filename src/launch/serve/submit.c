/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* submit.c - what the job needs goes in one message: descriptors, and a file in memory for the
 * rest. */
#include "launch/serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/ask/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/job/loop.h"
#include "launch/launch.h"
#include "launch/serve/carry.h"
#include "launch/serve/hand.h"

#define VARIABLE "SHMIX_SERVER"
#define WHY_MAX (SX_HAND_TEXT_MAX + 64)
#define HUNG_UP "the server has hung up"

extern char **environ;

enum wish { ALONE, IF_THERE, BY_SERVER };

static enum wish wish_of(char *const *words)
{
    const char *const said = getenv(VARIABLE);

    if (sx_options_has(&sx_run_verb, words, "--no-server")) {
        return ALONE;
    }
    if (sx_options_has(&sx_run_verb, words, "--server")) {
        return BY_SERVER;
    }
    return said != NULL && strcmp(said, "no") == 0    ? ALONE
           : said != NULL && strcmp(said, "yes") == 0 ? BY_SERVER
                                                      : IF_THERE;
}

/* ---- what is sent ---------------------------------------------------------------------------- */

/* Nothing of ours gets the number of a standard descriptor that is closed.  Return: false if that
 * is not possible. */
static bool standard_hold(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

/* Those that were closed lead to /dev/null, as in every launcher. */
static void standard_keep(void)
{
    for (int i = 0; i <= STDERR_FILENO; i++) {
        (void)fcntl(i, F_SETFD, 0);
    }
}

/* Find the descriptors of this process that ranks would inherit.  Return: the first one for which
 * there is no room; -1: none. */
static int descriptors_look(struct sx_hand_head *head)
{
    DIR *const dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    int beyond = dir == NULL ? INT_MAX : -1;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const int fd = atoi(entry->d_name), flags = fcntl(fd, F_GETFD);

        if (entry->d_name[0] == '.' || flags < 0 || (flags & FD_CLOEXEC) != 0) {
            continue;
        }
        if (fd < SX_HAND_NUMBERS && head->open < SX_HAND_OPEN_MAX) {
            head->numbers[head->open++] = (uint8_t)fd;
        } else {
            beyond = fd;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return beyond;
}

/* Whether the state of this process can be handed on at all. */
static bool is_portable(struct sx_hand_head *head, char why[WHY_MAX])
{
    const int fd = descriptors_look(head);

    if (isatty(STDIN_FILENO) == 1) {
        snprintf(why, WHY_MAX, "its standard input is a terminal (put </dev/null behind it)");
        return false;
    }
    if (fd != -1) {
        snprintf(why, WHY_MAX, "descriptor %d, which ranks inherit, is one too many", fd);
        return false;
    }
    return true;
}

struct body {
    char *bytes;
    size_t used, room;
};

static uint32_t body_add(struct body *body, char *const *texts)
{
    uint32_t count = 0;

    for (; texts[count] != NULL; count++) {
        const size_t size = strlen(texts[count]) + 1;

        if (body->used + size > body->room) {
            body->room = 2 * (body->used + size) + 4096;
            body->bytes = sx_cli_realloc(body->bytes, body->room, 1);
        }
        memcpy(body->bytes + body->used, texts[count], size);
        body->used += size;
    }
    return count;
}

/* Return: false with errno, without a signal when a file may not be so large. */
static bool body_write(int fd, const struct body *body)
{
    const struct sigaction ignored = { .sa_handler = SIG_IGN };
    struct sigaction before;

    (void)sigaction(SIGXFSZ, &ignored, &before);
    const ssize_t written = write(fd, body->bytes, body->used);
    const int why = written < 0 ? errno : EFBIG;

    (void)sigaction(SIGXFSZ, &before, NULL);
    errno = why;
    return written == (ssize_t)body->used;
}

/* Return: a file in memory, or -1 with errno. */
static int body_make(char *const *words, struct sx_hand_head *head)
{
    char **const carried = sx_carry_read();
    struct body body = { .bytes = NULL };

    head->carried = body_add(&body, carried);
    head->words = body_add(&body, words);
    head->variables = body_add(&body, environ);
    head->body_bytes = (uint32_t)body.used;
    sx_carry_free(carried);

    int fd = memfd_create("shmix-run", MFD_CLOEXEC), why = errno;

    if (fd >= 0 && (body.used > SX_HAND_BODY_MAX || !body_write(fd, &body))) {
        why = body.used > SX_HAND_BODY_MAX ? E2BIG : errno;
        close(fd);
        fd = -1;
    }
    free(body.bytes);
    errno = why;
    return fd;
}

/* Send all that the job needs but its descriptors.  Return: 0 or errno. */
static int request_send(int fd, char *const *words, struct sx_hand_head *head)
{
    const int body = body_make(words, head);
    const int folder = body < 0 ? -1 : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fds[] = { body, folder };
    int why = body < 0 || folder < 0 ? errno : 0;

    sx_hand_command(head->command);
    if (why == 0) {
        why = sx_hand_request_send(fd, head, fds, SX_COUNT(fds));
    }
    for (size_t i = 0; i < SX_COUNT(fds); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    return why;
}

static int descriptors_send(int fd, struct sx_hand_head *head)
{
    int fds[SX_HAND_OPEN_MAX];

    head->kind = SX_HAND_OPEN;
    for (uint32_t i = 0; i < head->open; i++) {
        fds[i] = head->numbers[i];
    }
    return sx_hand_request_send(fd, head, fds, head->open);
}

/* ---- the job runs there ---------------------------------------------------------------------- */

/* The launcher has these; who reads or writes the other end shall see when it closes them. */
static void descriptors_leave(void)
{
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int i = 0; i < STDERR_FILENO && null_fd >= 0; i++) {
        (void)dup2(null_fd, i);
    }
}

/* @stops: whether the last one that stops or continues is one that stops. */
static void signals_pass(int fd, int signal_fd, bool *stops)
{
    struct signalfd_siginfo info;

    while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        *stops = info.ssi_signo == SIGTSTP || (*stops && info.ssi_signo != SIGCONT);
        (void)sx_hand_send(fd, SX_HAND_SIGNAL, (int32_t)info.ssi_signo, NULL);
    }
}

/* Return: the exit code. */
static int follow(int fd, int signal_fd)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = signal_fd, .events = POLLIN } };
    struct sx_hand_message message;
    bool stops = false;

    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            sx_say("poll: %s; the job is ended", strerror(errno));
            return SX_EXIT_FAILURE;
        }
        signals_pass(fd, signal_fd, &stops);
        const int why = sx_hand_receive(fd, &message);

        if (why == EAGAIN || why == EINTR) {
            continue;
        }
        if (why == 0 && message.kind == SX_HAND_EXIT) {
            return message.number;
        }
        if (why == 0 && message.kind == SX_HAND_STOPPED) {
            if (stops) { /* it has not been continued meanwhile */
                raise(SIGSTOP);
            }
            continue;
        }
        sx_say("the launcher of this job, a process of 'shmix serve', has been lost: the job is "
               "ended");
        return SX_EXIT_FAILURE;
    }
}

/* Say GO to the launcher, process @pid, whose signals are our own from here on.  Return: false when
 * it has not been said. */
static bool go(int fd, pid_t pid, int *ret_signal_fd)
{
    char name[32];
    sigset_t passed, before;

    sx_run_signals(&passed);
    sigdelset(&passed, SIGCHLD);
    *ret_signal_fd = signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK);
    if (*ret_signal_fd < 0) {
        return false;
    }
    sigaddset(&passed, SIGTTIN);
    sigaddset(&passed, SIGTTOU);
    sigprocmask(SIG_SETMASK, &passed, &before);
    if (sx_hand_send(fd, SX_HAND_GO, 0, NULL) == 0) {
        snprintf(name, sizeof(name), SX_PROC_LAUNCHER "%d", (int)pid);
        (void)memfd_create(name, MFD_CLOEXEC); /* it stays: sx_proc_launcher reads its name */
        return true;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(*ret_signal_fd);
    return false;
}

/* ---- the way there --------------------------------------------------------------------------- */

/* Return: false with a reason in @why when the next message is not @kind. */
static bool answer_await(int fd, enum sx_hand_kind kind, pid_t *ret_launcher, char why[WHY_MAX])
{
    struct sx_hand_message message;

    if (!sx_hand_await(fd, sx_now_ns() + SX_HAND_OFFER_NS)) {
        snprintf(why, WHY_MAX, "the server does not answer");
    } else if (sx_hand_receive(fd, &message) != 0) {
        snprintf(why, WHY_MAX, "%s", HUNG_UP);
    } else if (message.kind == SX_HAND_REFUSE) {
        snprintf(why, WHY_MAX, "%s", message.text);
    } else {
        *ret_launcher = message.number;
        return message.kind == kind;
    }
    return false;
}

/* Send the job, and wait until the launcher is ready for its descriptors.  *ret_taken: another job
 * has come first to that launcher, which has hung up without a look at this one.  Return: false
 * with a reason in @why. */
static bool request_go(int fd, char *const *words, struct sx_hand_head *head, bool *ret_taken,
                       char why[WHY_MAX])
{
    pid_t unused;
    const int error = is_portable(head, why) ? request_send(fd, words, head) : EINVAL;
    const bool is_ready = error == 0 && answer_await(fd, SX_HAND_READY, &unused, why);

    *ret_taken = error == EPIPE || error == ECONNRESET ||
                 (error == 0 && !is_ready && strcmp(why, HUNG_UP) == 0);
    if (error != 0 && error != EINVAL) {
        snprintf(why, WHY_MAX, "the job cannot be sent: %s", strerror(error));
    }
    return is_ready;
}

/* Return: true and the exit code when the job has run there; false with a reason in @why. */
static bool hand_over(char *const *words, uint64_t begin_ns, int *ret_code, bool *ret_taken,
                      char why[WHY_MAX])
{
    struct sx_hand_head head = { .kind = SX_HAND_HEAD, .begin_ns = begin_ns };
    int signal_fd = -1, error = 0;
    pid_t launcher = 0;
    const int fd = sx_hand_connect(&launcher);

    if (fd < 0) {
        const bool none = errno == ENOENT || errno == ECONNREFUSED;

        snprintf(why, WHY_MAX, "%s%s", none ? "there is none" : "it cannot be reached: ",
                 none ? "; 'shmix serve --background' starts one" : strerror(errno));
        return false;
    }
    bool runs = request_go(fd, words, &head, ret_taken, why);

    if (runs && (error = descriptors_send(fd, &head)) != 0) {
        snprintf(why, WHY_MAX, "the job's descriptors cannot be sent: %s", strerror(error));
    }
    runs = runs && error == 0 && answer_await(fd, SX_HAND_OFFER, &launcher, why);
    if (runs && !go(fd, launcher, &signal_fd)) {
        snprintf(why, WHY_MAX, "the launcher has hung up");
        runs = false;
    }
    if (runs) {
        descriptors_leave();
        *ret_code = follow(fd, signal_fd);
    }
    close(fd);
    return runs;
}

int sx_submit(char **words)
{
    const uint64_t begin_ns = sx_now_ns();
    const enum wish wish = wish_of(words);
    char why[WHY_MAX] = "";
    bool tries = wish != ALONE && standard_hold();
    int code;

    sx_say_set_name(sx_run_verb.name);
    while (tries) { /* several jobs that come at once may get one launcher */
        bool is_taken = false;

        if (hand_over(words, begin_ns, &code, &is_taken, why)) {
            return code;
        }
        tries = is_taken && sx_now_ns() - begin_ns < SX_HAND_OFFER_NS;
    }
    if (wish == BY_SERVER) {
        sx_say("no server takes this job, as --server or " VARIABLE " wants: %s", why);
        return SX_EXIT_FAILURE;
    }
    standard_keep();
    return sx_launch(words, begin_ns);
}
