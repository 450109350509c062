/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gateway.h - the socket that ranks with another PMIx library connect to, the variables that name
 * it, and the start of the process that answers it (gateway/main.c).
 *
 *     OPEN --the first connection--> the starter runs SX_GATEWAY_PROGRAM with the socket
 *
 * A starter is whoever starts ranks: the launcher, a server, or the rank's own process.  It only
 * listens, so a job without such a rank has no further process.  The program ends with its starter:
 * a socket between them ends, or a process that the starter named. */
#ifndef SX_CONTROL_GATEWAY_H
#define SX_CONTROL_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#define SX_GATEWAY_PROGRAM "shmix-gateway"
#define SX_GATEWAY_GDS "hash" /* the one store module of that library that needs no files */

struct sx_gateway_port {
    int fd; /* listens on 127.0.0.1 alone; close-on-exec, non-blocking; -1: closed */
    char uri
        [64]; /* "shmix.0;tcp4://127.0.0.1:PORT": that library's form; no dot in the first part */
};

#define SX_GATEWAY_PORT_NULL ((struct sx_gateway_port){ .fd = -1 })

/* Return: 0 or errno. */
int sx_gateway_port_open(struct sx_gateway_port *port);
void sx_gateway_port_close(struct sx_gateway_port *port); /* safe twice */

/* The variables whose value is the URI, and those that have to be unset, as that library would read
 * them first.  Both end with NULL. */
extern const char *const sx_gateway_variables[];
extern const char *const sx_gateway_stale[];

/* The program's file, next to the program or library @file: libexec of one of the three folders
 * above its own.  Return: malloc'ed; NULL when there is none. */
char *sx_gateway_program(const char *file);

/* Its descriptors.  Its words are "3 LIFE PID UID GID": LIFE is 4, or -1 and PID is watched. */
#define SX_GATEWAY_LISTEN_FD 3
#define SX_GATEWAY_LIFE_FD 4
#define SX_GATEWAY_FDS 5

struct sx_gateway_start {
    const char *program;
    char *const *env; /* names our server; PMIX_NAMESPACE and PMIX_RANK need not be there */
    int listen_fd;    /* of the port */
    int life_fd;      /* one end of a SEQPACKET socket pair, whose other end the starter holds */
    pid_t watched;    /* without it (-1): the process that it ends with */
    int log_fd;       /* its stderr; -1: that of the starter */
    uid_t uid;        /* of the ranks, which the program becomes when it is started by root */
    gid_t gid;
};

/* Start the program, with no other descriptors than these.  The signal mask is empty, and the
 * process group its own.  Return: its pid; -1 with errno. */
pid_t sx_gateway_start(const struct sx_gateway_start *start);

/* The same, but the program does not become a child of this process, which receives no signal from
 * it and need not reap it.  Safe in a process with threads.  *@ret_pidfd, which may be NULL,
 * becomes readable when the program ends; -1 on a kernel without pidfds.  Return: 0 or errno. */
int sx_gateway_start_orphan(const struct sx_gateway_start *start, int *ret_pidfd);

/* A message on the starter's end of the socket pair: a rank is served. */
struct sx_gateway_news {
    uint32_t rank;
    uint32_t number; /* of the version: 0x040202 */
    char nspace[PMIX_MAX_NSLEN + 1];
    char version[64];
};

/* Whether releases of this number are part of our tests. */
bool sx_gateway_is_tested(uint32_t number);

#endif
