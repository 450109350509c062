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
    static const char *const places[] = { "../libexec", "../../libexec", "." };
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

pid_t sx_gateway_start(const struct sx_gateway_start *start)
{
    char listen_word[32], life_word[32], watch_word[32];
    char *const argv[] = { (char *)(uintptr_t) "shmix-gateway", listen_word, life_word, watch_word,
                           NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t pid = -1;
    int why;

    snprintf(listen_word, sizeof(listen_word), "%d", SX_GATEWAY_LISTEN_FD);
    snprintf(life_word, sizeof(life_word), "%d", start->life_fd >= 0 ? SX_GATEWAY_LIFE_FD : -1);
    snprintf(watch_word, sizeof(watch_word), "%d", (int)start->watched);
    const int listen_fd = lift(start->listen_fd);
    const int life_fd = start->life_fd >= 0 ? lift(start->life_fd) : -1;

    why = listen_fd < 0 || (start->life_fd >= 0 && life_fd < 0)
              ? errno
              : posix_spawn_file_actions_init(&actions);
    if (why == 0) {
        why = attributes_make(&attributes);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, listen_fd, SX_GATEWAY_LISTEN_FD);
        if (life_fd >= 0) {
            posix_spawn_file_actions_adddup2(&actions, life_fd, SX_GATEWAY_LIFE_FD);
        }
        if (why == 0) {
            why = posix_spawn(&pid, start->program, &actions, &attributes, argv, start->env);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    if (listen_fd >= 0) {
        close(listen_fd);
    }
    if (life_fd >= 0) {
        close(life_fd);
    }
    errno = why;
    return why == 0 ? pid : -1;
}

/* Tested in tests/hosts and tests/system. */
bool sx_gateway_is_tested(uint32_t number)
{
    return number >> 8 == 0x0402 || number >> 8 == 0x0500;
}
