/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* exec.c - between clone and exec: system calls only.
 *
 * The child borrows the launcher's memory until it executes the program, and the launcher's thread
 * is suspended meanwhile, as with vfork.  Copying the page tables of a launcher that serves
 * thousands of ranks would cost more than all other steps.  The child runs on a stack of its own.
 * A handled signal cannot reach the child: the launcher has no handlers, only blocked signals.  A
 * sanitizer keeps its own state in the memory that would be shared, so a build with one uses a
 * plain fork.  A spawn has named the folder and the program of its ranks, whose file system may
 * hang: a thread of its own waits with such a rank, which has copies of its words
 * (launch/job/starter.h).  Where there is no such thread, it begins by a plain fork. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/common/say.h"
#include "launch/job/starter.h"
#include "launch/job/state.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BORROW_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BORROW_MEMORY 0
#endif
#endif
#ifndef BORROW_MEMORY
#define BORROW_MEMORY 1
#endif

#define STACK_BYTES 65536

struct start {
    const struct sx_run_spawn *spawn;
    const struct sx_run_spawn_rank *rank;
};

__attribute__((noreturn)) static void fail(const struct start *start, enum sx_run_spawn_stage stage)
{
    const struct sx_run_spawn_failure failure = {
        .job = start->rank->job, .rank = start->rank->rank, .stage = stage, .error = errno
    };

    (void)!write(start->spawn->report_fd, &failure, sizeof(failure));
    _exit(127);
}

/* exec resets handlers, but a signal that the launcher ignores would stay ignored in the rank. */
static void signals_default(const sigset_t *ignored)
{
    struct sigaction action;
    sigset_t none;

    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(ignored, number) == 1) {
            sigaction(number, &action, NULL);
        }
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void become(const struct start *start)
{
    const struct sx_run_spawn *spawn = start->spawn;
    const struct sx_run_program *program = start->rank->program;
    const struct sx_run_place *place = start->rank->place;

    if (start->rank->at_terminal) {
        setsid();
    } else {
        setpgid(0, 0);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != spawn->launcher) {
        _exit(127); /* the launcher died before PR_SET_PDEATHSIG */
    }
    sx_janitor_group_add(spawn->janitor, getpid());
    for (int i = 0; i < 3; i++) {
        /* The sources lie above the standard descriptors, so dup2 drops close-on-exec. */
        if (dup2(start->rank->fds[i], i) < 0) {
            fail(start, SX_RUN_SPAWN_PREPARE);
        }
    }
    if (start->rank->at_terminal && ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0) {
        fail(start, SX_RUN_SPAWN_PREPARE);
    }
    if (fcntl(start->rank->pmi1_fd, F_SETFD, 0) != 0) {
        fail(start, SX_RUN_SPAWN_PREPARE);
    }
    if (place->mask != NULL && sched_setaffinity(0, place->mask_size_bytes, place->mask) != 0) {
        fail(start, SX_RUN_SPAWN_BIND);
    }
    if (program->wdir != NULL && chdir(program->wdir) != 0) {
        fail(start, SX_RUN_SPAWN_WDIR);
    }
    setrlimit(RLIMIT_NOFILE, &spawn->files);
    signals_default(&spawn->ignored);
    if (start->rank->is_traced) {
        (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* without Yama: not needed */
    }
    if (start->rank->stops && ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        fail(start, SX_RUN_SPAWN_STOP);
    }
    execve(program->path, start->rank->argv, start->rank->env);
    if (errno == ENOEXEC && program->sh_argv != NULL) {
        execve("/bin/sh", program->sh_argv, start->rank->env);
    }
    fail(start, SX_RUN_SPAWN_EXEC);
}

#if BORROW_MEMORY
static int become_on_stack(void *arg)
{
    become(arg);
}

static pid_t begin_borrowing(struct start *start)
{
    static _Alignas(64) char stack[STACK_BYTES]; /* one child at a time */

    return clone(become_on_stack, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, start);
}

/* All that a start refers to and its caller frees before the exec. */
struct start_copy {
    struct start start;
    struct sx_run_spawn spawn;
    struct sx_run_spawn_rank rank;
    int fds[3];
    char *words[]; /* of the rank and of its environment, both with a NULL; then their bytes */
};

static size_t words_count(char *const *words, size_t *bytes)
{
    size_t count = 0;

    for (; words[count] != NULL; count++) {
        *bytes += strlen(words[count]) + 1;
    }
    return count + 1;
}

/* Return: behind the bytes that were copied to @at. */
static char *words_copy(char **ret, char *const *words, char *at)
{
    for (; *words != NULL; words++) {
        *ret++ = at;
        at = stpcpy(at, *words) + 1;
    }
    *ret = NULL;
    return at;
}

static struct start_copy *start_copy(const struct start *start)
{
    const struct sx_run_spawn_rank *const rank = start->rank;
    size_t bytes = 0;
    const size_t own = words_count(rank->argv, &bytes), all = own + words_count(rank->env, &bytes);
    struct start_copy *const copy = sx_cli_calloc(1, sizeof(*copy) + all * sizeof(char *) + bytes);

    copy->start = (struct start){ .spawn = &copy->spawn, .rank = &copy->rank };
    copy->spawn = *start->spawn;
    copy->rank = *rank;
    memcpy(copy->fds, rank->fds, sizeof(copy->fds));
    copy->rank.fds = copy->fds;
    copy->rank.argv = copy->words;
    copy->rank.env = copy->words + own;
    words_copy(copy->rank.env, rank->env,
               words_copy(copy->rank.argv, rank->argv, (char *)(copy->words + all)));
    return copy;
}

/* Return: as sx_run_starter_begin. */
static pid_t begin_apart(const struct start *start)
{
    struct start_copy *const copy = start_copy(start);
    const pid_t pid = sx_run_starter_begin(become_on_stack, &copy->start);

    if (pid < 0) {
        free(copy);
    }
    return pid;
}
#endif

static pid_t begin(struct start *start)
{
    pid_t pid = -1;

#if BORROW_MEMORY
    if (!start->rank->apart) {
        return begin_borrowing(start);
    }
    if (!start->rank->stops) { /* else its tracer is to be the launcher's thread */
        pid = begin_apart(start);
    }
#endif
    if (pid < 0) {
        pid = fork();
    }

    if (pid == 0) {
        become(start);
    }
    return pid;
}

void sx_run_spawn_ignored(sigset_t *ret_ignored, bool keep_hup_ignored)
{
    struct sigaction action;

    sigemptyset(ret_ignored);
    for (int number = 1; number < NSIG; number++) {
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN &&
            (number != SIGHUP || !keep_hup_ignored)) {
            sigaddset(ret_ignored, number);
        }
    }
}

/* Return: si_code of the next event of @pid, which is not reaped. */
static int change_await(pid_t pid)
{
    siginfo_t info = { 0 };

    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) != 0 && errno == EINTR) {
    }
    return info.si_code;
}

/* The child executes its program while we trace it, which stops it; it stays stopped when we
 * detach.  A child that could not execute its program is reaped like any other. */
static void let_stop(pid_t pid)
{
    if (change_await(pid) == CLD_TRAPPED) {
        ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP);
        (void)change_await(pid);
    }
}

bool sx_run_spawn_has_stopped(pid_t pid)
{
    siginfo_t info = { 0 };

    if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid) {
        return false;
    }
    if (info.si_code == CLD_TRAPPED) {
        /* A signal that came before exec is passed on, and ends the rank or stops it as well. */
        ptrace(PTRACE_DETACH, pid, NULL, info.si_status == SIGTRAP ? SIGSTOP : info.si_status);
    }
    return info.si_code == CLD_STOPPED;
}

pid_t sx_run_spawn_rank(const struct sx_run_spawn *spawn, const struct sx_run_spawn_rank *rank)
{
    struct start start = { .spawn = spawn, .rank = rank };
    const pid_t pid = begin(&start);

    if (pid > 0 && (!BORROW_MEMORY || rank->apart) && !rank->at_terminal) {
        /* Set the group here as well, so that a signal to the group sent from now on arrives. */
        setpgid(pid, pid);
    }
    if (pid > 0 && rank->stops && !rank->apart) {
        let_stop(pid);
    }
    return pid;
}
