/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway.c - a port for ranks that carry another PMIx library, if the host wants one.
 *
 *     CLOSED --SHMIX_SERVER_GATEWAY--> WATCHED --a connection--> SERVED: the gateway accepts
 *                                         \---LIVES_MAX: a line----/ it was killed
 *
 * The server reads no byte that comes there: it starts the program that does (gateway/main.c).
 * Program and environment are chosen at the start, on the host's thread.
 *
 * The gateways' stderr is a pipe to this server, which copies it.  They must not have the host's: a
 * host may read its own stderr until nobody can write to it, and stop this server only then
 * (slurmstepd does, for a minute). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <shmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/status.h"
#include "server/entry/entry.h"

#define VARIABLES_OWN 2 /* URI and FD of the rendezvous */
#define LIVES_MAX 64u   /* gateways that replace a killed one */
#define LOG_BYTES_MAX ((size_t)16 << 20)
#define LOG_BYTES_AT_ONCE 4096

void sx_gateway_init(struct sx_server *server)
{
    server->entry.gateway = (struct sx_gateway_state){
        .port.fd = -1,
        .end.fd = -1,
        .log.fd = -1,
        .life_fds = { -1, -1 },
        .log_fd = -1,
    };
}

/* Return: PMIX_ERR_BAD_PARAM for a value that is not known. */
static pmix_status_t is_wanted(uint8_t said, bool *ret)
{
    const char *const text = getenv("SHMIX_GATEWAY");

    *ret = text != NULL && strcmp(text, "1") == 0;
    if (text != NULL && *text != '\0' && !*ret && strcmp(text, "0") != 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "SHMIX_GATEWAY is '%.64s': set it to 1 or 0, or unset it", text);
    }
    *ret = said == SX_SAID_NOTHING ? *ret : said == SX_SAID_YES;
    return PMIX_SUCCESS;
}

static void env_free(char **env)
{
    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        free(env[i]);
    }
    free(env);
}

static bool is_kept(const char *entry)
{
    return strncmp(entry, "PMIX_", 5) != 0 && strncmp(entry, "SHMIX_SERVER_", 13) != 0;
}

static char *variable(const char *name, const char *value)
{
    char *text = NULL;

    return asprintf(&text, "%s=%s", name, value) < 0 ? NULL : text;
}

/* The environment of this process without any job, and the way to this server.  Return: NULL when
 * memory is out. */
static char **env_make(const struct sx_server *server)
{
    const struct sx_rendezvous *const at = &server->rendezvous;
    size_t count = 0, used = 0;
    bool good = true;

    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **const env = calloc(count + VARIABLES_OWN + 1, sizeof(*env));

    for (size_t i = 0; env != NULL && i < count && good; i++) {
        if (is_kept(environ[i])) {
            env[used] = strdup(environ[i]);
            good = env[used++] != NULL;
        }
    }
    if (env != NULL && good) {
        env[used] = variable(SX_ENV_SERVER_URI, at->uri);
        good = env[used++] != NULL;
    }
    if (env != NULL && good && at->fd_value != NULL) {
        env[used] = variable(SX_ENV_SERVER_FD, at->fd_value);
        good = env[used] != NULL;
    }
    if (!good) {
        env_free(env);
        return NULL;
    }
    return env;
}

/* ---- what the gateways say ------------------------------------------------------------------- */

static void log_copy(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_gateway_state *const gateway = arg;
    char bytes[LOG_BYTES_AT_ONCE];
    const ssize_t size = read(gateway->log.fd, bytes, sizeof(bytes));

    (void)revents;
    (void)now_ns;
    if (size <= 0) {
        return;
    }
    (void)!write(STDERR_FILENO, bytes, (size_t)size);
    gateway->log_bytes += (size_t)size;
    if (gateway->log_bytes > LOG_BYTES_MAX) {
        sx_poll_remove(&gateway->log); /* their end is full from now on, and they do not wait */
        sx_log(SX_LOG_WARN, "the gateways have written more than %zu MiB: no more is shown",
               LOG_BYTES_MAX >> 20);
    }
}

/* Return: 0 or errno. */
static int log_open(struct sx_gateway_state *gateway)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) {
        return errno;
    }
    gateway->log = (struct sx_poll){
        .fd = fds[0], .events = POLLIN, .fn = log_copy, .arg = gateway
    };
    gateway->log_fd = fds[1];
    return 0;
}

/* ---- the gateway's life ---------------------------------------------------------------------- */

static void end_forget(struct sx_gateway_state *gateway)
{
    sx_poll_remove(&gateway->end);
    if (gateway->end.fd >= 0) {
        close(gateway->end.fd);
    }
    gateway->end.fd = -1;
}

/* The ranks that it serves have processes of their own, which go on. */
static void gateway_ends(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_server *const server = arg;
    struct sx_gateway_state *const gateway = &server->entry.gateway;

    (void)revents;
    (void)now_ns;
    end_forget(gateway);
    if (gateway->lives >= LIVES_MAX) {
        sx_log(SX_LOG_ERROR,
               "the gateway of ranks with another PMIx library was killed, as %u before it: no "
               "such rank can connect any more",
               gateway->lives - 1);
        close(gateway->port.fd);
        gateway->port.fd = -1;
        return;
    }
    sx_log(SX_LOG_WARN, "the gateway of ranks with another PMIx library was killed: the next such "
                        "rank gets a new one");
    (void)sx_poll_add(server->loop, &gateway->watch);
}

/* The connection waits in the socket's queue. */
static void client_comes(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_server *const server = arg;
    struct sx_gateway_state *const gateway = &server->entry.gateway;
    const struct sx_gateway_start start = {
        .program = gateway->program,
        .env = gateway->env,
        .listen_fd = gateway->port.fd,
        .life_fd = gateway->life_fds[1],
        .log_fd = gateway->log_fd,
        .uid = server->client_uid,
        .gid = server->client_gid,
    };

    (void)revents;
    (void)now_ns;
    sx_poll_remove(&gateway->watch);
    gateway->lives++;
    const int why = sx_gateway_start_orphan(&start, &gateway->end.fd);

    if (why != 0) {
        sx_log(SX_LOG_ERROR,
               "a rank has another PMIx library, and its gateway cannot be started: %s: %s",
               gateway->program, strerror(why));
        close(gateway->port.fd);
        gateway->port.fd = -1;
        return;
    }
    sx_log(SX_LOG_INFO, "a rank has another PMIx library: a gateway is started");
    if (gateway->end.fd >= 0) {
        gateway->end = (struct sx_poll){
            .fd = gateway->end.fd, .events = POLLIN, .fn = gateway_ends, .arg = server
        };
        (void)sx_poll_add(server->loop, &gateway->end);
    }
}

/* The file of this library, or of the program that contains it.  Return: malloc'ed, or NULL. */
static char *program_find(void)
{
    Dl_info own = { .dli_fname = NULL };
    char *file = NULL, *program = NULL;

    if (dladdr((const void *)&client_comes, &own) != 0 && own.dli_fname != NULL) {
        file = realpath(own.dli_fname, NULL);
    }
    program = file == NULL ? NULL : sx_gateway_program(file);
    free(file);
    return program;
}

pmix_status_t sx_gateway_open(struct sx_server *server, uint8_t said)
{
    struct sx_gateway_state *const gateway = &server->entry.gateway;
    bool wanted;
    pmix_status_t rc = is_wanted(said, &wanted);

    if (rc != PMIX_SUCCESS || !wanted) {
        return rc;
    }
    gateway->program = program_find();
    if (gateway->program == NULL) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND,
                        "there is no " SX_GATEWAY_PROGRAM " in the libexec beside this library, "
                        "which %s wants",
                        SHMIX_SERVER_GATEWAY);
    }
    gateway->env = env_make(server);
    if (gateway->env == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const int why = sx_gateway_port_open(&gateway->port);

    if (why != 0) {
        return SX_RAISE(sx_status_from_errno(why), "no port on the loopback interface: %s",
                        strerror(why));
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, gateway->life_fds) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "socketpair: %s", strerror(errno));
    }
    const int log_why = log_open(gateway);

    if (log_why != 0) {
        return SX_RAISE(sx_status_from_errno(log_why), "pipe: %s", strerror(log_why));
    }
    gateway->watch = (struct sx_poll){
        .fd = gateway->port.fd, .events = POLLIN, .fn = client_comes, .arg = server
    };
    rc = sx_poll_add(server->loop, &gateway->log);
    return rc != PMIX_SUCCESS ? rc : sx_poll_add(server->loop, &gateway->watch);
}

void sx_gateway_close(struct sx_server *server)
{
    struct sx_gateway_state *const gateway = &server->entry.gateway;

    int *const fds[] = { &gateway->life_fds[0], &gateway->life_fds[1], &gateway->log.fd,
                         &gateway->log_fd };

    sx_poll_remove(&gateway->watch);
    sx_poll_remove(&gateway->log);
    end_forget(gateway);
    sx_gateway_port_close(&gateway->port);
    for (size_t i = 0; i < SX_COUNT(fds); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
            *fds[i] = -1;
        }
    }
    free(gateway->program);
    env_free(gateway->env);
    gateway->program = NULL;
    gateway->env = NULL;
}
