/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* address.c - the hundred bytes of a socket address, and ways around that limit. */
#include "control/address.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/system/process.h"

static bool take(struct sx_address *ret, int length)
{
    ret->un.sun_family = AF_UNIX;
    ret->size_bytes = sizeof(ret->un);
    return length > 0 && (size_t)length < sizeof(ret->un.sun_path);
}

bool sx_address_of_fd(struct sx_address *ret, int fd, const char *name)
{
    *ret = (struct sx_address){ 0 };
    return take(ret, snprintf(ret->un.sun_path, sizeof(ret->un.sun_path), "/proc/self/fd/%d%s%s",
                              fd, name != NULL ? "/" : "", name != NULL ? name : ""));
}

bool sx_address_of_path(struct sx_address *ret, const char *path)
{
    *ret = (struct sx_address){ 0 };
    return take(ret, snprintf(ret->un.sun_path, sizeof(ret->un.sun_path), "%s", path));
}

bool sx_address_of_name(struct sx_address *ret, const char *name)
{
    char *const path = ret->un.sun_path;

    *ret = (struct sx_address){ 0 };
    const bool fits = take(ret, snprintf(path + 1, sizeof(ret->un.sun_path) - 1, "%s", name) + 1);

    /* The zero in front makes it one, and its length belongs to it. */
    ret->size_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path + 1));
    return fits;
}

int sx_address_bind(int fd, const struct sx_address *address)
{
    return bind(fd, (const struct sockaddr *)(const void *)&address->un, address->size_bytes) == 0
               ? 0
               : errno;
}

int sx_address_connect(int fd, const struct sx_address *address)
{
    int rc;

    do {
        rc = connect(fd, (const struct sockaddr *)(const void *)&address->un, address->size_bytes);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

int sx_address_listener(int fd, struct ucred *ret_cred)
{
    socklen_t size = sizeof(*ret_cred);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_cred, &size) == 0 ? 0 : errno;
}

bool sx_address_has_gone(int fd, pid_t pid)
{
    struct ucred cred;

    return sx_address_listener(fd, &cred) == 0 && cred.pid == pid && sx_process_has_ended(pid);
}
