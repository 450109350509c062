/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway.c - listen for ranks with another PMIx library, and start what answers them. */
#include "control/gateway.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"

#define BACKLOG 1024

/* Names of this library's oldest release that reads them: 4.1, 4.0, 3.0. */
const char *const sx_gateway_variables[] = { "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                             "PMIX_SERVER_URI3", NULL };

/* PMIX_SERVER_URI is never set: programs decide by it which launcher has started them. */
const char *const sx_gateway_stale[] = { "PMIX_SERVER_URI",   "PMIX_SERVER_URI2",
                                         "PMIX_SERVER_URI21", "PMIX_SERVER_URI51",
                                         "PMIX_SERVER_URI61", "PMIX_KEEPALIVE_PIPE",
                                         "PMIX_PTL_MODULE",   NULL };

int sx_gateway_port_open(struct sx_gateway_port *port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr *const any = (struct sockaddr *)(void *)&address;
    socklen_t size = sizeof(address);

    *port = SX_GATEWAY_PORT_NULL;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || bind(fd, any, size) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, any, &size) != 0) {
        const int why = errno;

        if (fd >= 0) {
            close(fd);
        }
        return why;
    }
    port->fd = fd;
    snprintf(port->uri, sizeof(port->uri), "shmix.0;tcp4://127.0.0.1:%u", ntohs(address.sin_port));
    return 0;
}

void sx_gateway_port_close(struct sx_gateway_port *port)
{
    if (port->fd >= 0) {
        close(port->fd);
    }
    *port = SX_GATEWAY_PORT_NULL;
}

char *sx_gateway_program(const char *file)
{
    static const char *const places[] = { "../libexec", "../../libexec", "../../../libexec", "." };
    const char *const slash = strrchr(file, '/');
    const int dir_len = slash == NULL ? 0 : (int)(slash - file);
    char *path = NULL;

    for (size_t i = 0; i < SX_COUNT(places) && dir_len > 0; i++) {
        if (asprintf(&path, "%.*s/%s/" SX_GATEWAY_PROGRAM, dir_len, file, places[i]) < 0) {
            return NULL;
        }
        if (access(path, X_OK) == 0) {
            return path;
        }
        free(path);
    }
    return NULL;
}

static const int defaults[] = { SIGPIPE, SIGXFSZ, SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* Return: 0 or errno. */
static int attributes_make(posix_spawnattr_t *attributes)
{
    sigset_t none, set;
    int why = posix_spawnattr_init(attributes);

    sigemptyset(&none);
    sigemptyset(&set);
    for (size_t i = 0; i < SX_COUNT(defaults); i++) {
        sigaddset(&set, defaults[i]);
    }
    if (why == 0) {
        posix_spawnattr_setsigmask(attributes, &none);
        posix_spawnattr_setsigdefault(attributes, &set);
        posix_spawnattr_setpgroup(attributes, 0);
        why = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                       POSIX_SPAWN_SETPGROUP);
    }
    return why;
}

/* A copy above the numbers that the program gets, so that no dup2 overwrites it or finds it in its
 * place, where it would stay close-on-exec.  Return: -1 with errno. */
static int lift(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, SX_GATEWAY_FDS);
}

/* Words and descriptors of the program, made before its process is. */
struct plan {
    char words[5][16];
    char *argv[7];
    int listen_fd, life_fd, log_fd;
};

static void plan_end(struct plan *plan)
{
    const int why = errno;

    const int fds[] = { plan->listen_fd, plan->life_fd, plan->log_fd };

    for (size_t i = 0; i < SX_COUNT(fds); i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    errno = why;
}

/* Return: false with errno. */
static bool plan_make(struct plan *plan, const struct sx_gateway_start *start)
{
    const long numbers[] = { SX_GATEWAY_LISTEN_FD, start->life_fd >= 0 ? SX_GATEWAY_LIFE_FD : -1,
                             start->watched, start->uid, start->gid };

    plan->argv[0] = (char *)(uintptr_t)SX_GATEWAY_PROGRAM;
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        snprintf(plan->words[i], sizeof(plan->words[i]), "%ld", numbers[i]);
        plan->argv[i + 1] = plan->words[i];
    }
    plan->argv[SX_COUNT(numbers) + 1] = NULL;
    plan->listen_fd = lift(start->listen_fd);
    plan->life_fd = start->life_fd >= 0 ? lift(start->life_fd) : -1;
    plan->log_fd = start->log_fd >= 0 ? lift(start->log_fd) : -1;
    if (plan->listen_fd < 0 || (start->life_fd >= 0 && plan->life_fd < 0) ||
        (start->log_fd >= 0 && plan->log_fd < 0)) {
        plan_end(plan);
        return false;
    }
    return true;
}

pid_t sx_gateway_start(const struct sx_gateway_start *start)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    struct plan plan;
    pid_t pid = -1;
    int why;

    if (!plan_make(&plan, start)) {
        return -1;
    }
    why = posix_spawn_file_actions_init(&actions);
    if (why == 0) {
        why = attributes_make(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, plan.listen_fd, SX_GATEWAY_LISTEN_FD);
        if (plan.life_fd >= 0) {
            posix_spawn_file_actions_adddup2(&actions, plan.life_fd, SX_GATEWAY_LIFE_FD);
        }
        if (plan.log_fd >= 0) {
            posix_spawn_file_actions_adddup2(&actions, plan.log_fd, STDERR_FILENO);
        }
        if (why == 0) {
            why = posix_spawn(&pid, start->program, &actions, &attributes, plan.argv, start->env);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    errno = why;
    plan_end(&plan);
    return why == 0 ? pid : -1;
}

/* In the child of a process that may have threads: system calls alone.  The program's pid goes to
 * @pid_fd. */
__attribute__((noreturn)) static void orphan_main(const struct sx_gateway_start *start,
                                                  const struct plan *plan, int pid_fd)
{
    const struct sigaction action = { .sa_handler = SIG_DFL };
    sigset_t none;

    const long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, 0);

    if (pid != 0) {
        (void)!write(pid_fd, &pid, sizeof(pid));
        _exit(pid > 0 ? 0 : errno & 0x7f);
    }
    setpgid(0, 0);
    for (size_t i = 0; i < SX_COUNT(defaults); i++) {
        sigaction(defaults[i], &action, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    dup2(plan->listen_fd, SX_GATEWAY_LISTEN_FD);
    if (plan->life_fd >= 0) {
        dup2(plan->life_fd, SX_GATEWAY_LIFE_FD);
    }
    if (plan->log_fd >= 0) {
        dup2(plan->log_fd, STDERR_FILENO);
    }
    execve(start->program, plan->argv, start->env);
    _exit(127);
}

/* The process in between has ended, unless the host has reaped it.  Return: 0 or errno. */
static int between_wait(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, __WALL) < 0) {
        if (errno != EINTR) {
            return 0;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

/* Behind an exec, a process sends SIGCHLD at its end, whatever it was made with.  So there is a
 * process in between, which executes nothing and sends no signal. */
int sx_gateway_start_orphan(const struct sx_gateway_start *start, int *ret_pidfd)
{
    struct plan plan;
    int pipe_fds[2], why;
    long orphan = 0;

    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        return errno;
    }
    if (!plan_make(&plan, start)) {
        why = errno;
    } else {
        const pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);

        if (pid == 0) {
            orphan_main(start, &plan, pipe_fds[1]);
        }
        plan_end(&plan);
        why = pid < 0 ? errno : between_wait(pid);
    }
    close(pipe_fds[1]);
    if (ret_pidfd != NULL) {
        /* An orphan that has ended meanwhile has no pidfd: its end is as unknown as on a kernel
         * without them. */
        const bool known = why == 0 && read(pipe_fds[0], &orphan, sizeof(orphan)) > 0 && orphan > 0;

        *ret_pidfd = known ? (int)syscall(SYS_pidfd_open, (pid_t)orphan, 0) : -1;
    }
    close(pipe_fds[0]);
    return why;
}

/* Tested in tests/hosts and tests/system. */
bool sx_gateway_is_tested(uint32_t number)
{
    return number >> 8 == 0x0402 || number >> 8 == 0x0500;
}
