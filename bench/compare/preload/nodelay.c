/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodelay.c - preloaded: every TCP socket gets TCP_NODELAY.
 *
 * OpenPMIx 4.2 leaves Nagle's algorithm on, so one small message after another waits for a delayed
 * acknowledgement, some 20 ms.  With this in front it shows what it can do without that. */
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

int connect(int fd, const struct sockaddr *address, socklen_t len);
int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict len);

static void no_delay(int fd)
{
    const int one = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* no TCP: refused */
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    int (*const next)(int, const struct sockaddr *,
                      socklen_t) = (int (*)(int, const struct sockaddr *,
                                            socklen_t))dlsym(RTLD_NEXT, "connect");

    no_delay(fd);
    return next(fd, address, len);
}

int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict len)
{
    int (*const next)(int, struct sockaddr *,
                      socklen_t *) = (int (*)(int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT,
                                                                                         "accept");
    const int got = next(fd, address, len);

    if (got >= 0) {
        no_delay(got);
    }
    return got;
}
