/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* looker.c - run a launcher, and say why it looks at the machine's devices, and how often.
 * usage: looker GO SAID COMMAND ARGS...
 *
 * The process that looks (shmix-look) waits in poll(2): first without a bound until it is told
 * something, and then until it is asked to, or for a while.  It is held in front of the second until
 * there is the file GO, so that whatever is to happen before it looks has happened.  A line goes to
 * the file SAID for each: "asked", or "idle" when nobody has asked, and how many processes the
 * launcher had started when it got there.  It ends with the command's exit code. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "launched.h"

#define CHECK(what)                                                    \
    do {                                                               \
        if (!(what)) {                                                 \
            fprintf(stderr, "looker: line %d: %s\n", __LINE__, #what); \
            exit(1);                                                   \
        }                                                              \
    } while (0)

static pid_t launcher;
static pid_t held;                       /* in front of its poll; 0: none */
static bool waits;                       /* then it is in it */
static unsigned started, started_before; /* by the launcher: by now, and before one is held */
static FILE *said;

static bool is_looker(pid_t tid)
{
    char path[64], name[16] = "";

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
    FILE *const file = fopen(path, "r");

    if (file != NULL) {
        (void)!fgets(name, sizeof(name), file);
        fclose(file);
    }
    return strcmp(name, "shmix-look\n") == 0;
}

static bool is_bounded_poll(const struct ptrace_syscall_info *call)
{
#ifdef SYS_poll
    if (call->entry.nr == SYS_poll) {
        return (int)call->entry.args[2] >= 0;
    }
#endif
    return call->entry.nr == SYS_ppoll && call->entry.args[2] != 0;
}

/* A process that was forked makes a call, or comes back from one.  Return: whether it goes on. */
static bool call_goes_on(pid_t tid)
{
    struct ptrace_syscall_info call;

    CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(call), &call) > 0);
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY && held == 0 && is_bounded_poll(&call) &&
        is_looker(tid)) {
        held = tid;
        started_before = started;
        return false;
    }
    if (call.op == PTRACE_SYSCALL_INFO_EXIT && waits && tid == held) {
        waits = false;
        held = 0;
        fprintf(said, "%s %u\n", call.exit.rval > 0 ? "asked" : "idle", started_before);
        fflush(said);
        CHECK(ptrace(PTRACE_DETACH, tid, NULL, NULL) == 0);
        return false;
    }
    return true;
}

/* Processes are followed until they execute a program; of the launcher nothing but its forks. */
static void stopped(pid_t tid, int status)
{
    const int event = status >> 16, number = WSTOPSIG(status);
    const bool is_call = number == (SIGTRAP | 0x80);
    const long signal_number = event == 0 && !is_call && number != SIGSTOP ? number : 0;

    started += tid == launcher && (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK);
    if (tid != launcher && event == PTRACE_EVENT_EXEC) {
        (void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
    } else if (!is_call || call_goes_on(tid)) {
        (void)ptrace(tid == launcher ? PTRACE_CONT : PTRACE_SYSCALL, tid, NULL,
                     (void *)signal_number);
    }
}

int main(int argc, char **argv)
{
    int status, code = -1;

    CHECK(argc > 3);
    said = fopen(argv[2], "we");
    CHECK(said != NULL);
    launcher = launched(argv + 3, PTRACE_CONT);
    CHECK(launcher > 0);
    while (code < 0) {
        const pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

        CHECK(tid >= 0);
        if (tid > 0 && WIFSTOPPED(status)) {
            stopped(tid, status);
        } else if (tid > 0 && tid == launcher) {
            code = launched_code(status);
        } else if (tid == 0 && held != 0 && !waits && access(argv[1], F_OK) == 0) {
            waits = true;
            (void)ptrace(PTRACE_SYSCALL, held, NULL, NULL);
        } else if (tid == 0) {
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        }
    }
    return code;
}
