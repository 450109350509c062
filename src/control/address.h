/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* address.h - the address of a unix socket, and its listener; private to control. */
#ifndef SX_CONTROL_ADDRESS_H
#define SX_CONTROL_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct sx_address {
    struct sockaddr_un un;
    socklen_t size_bytes;
};

/* The file @name in the directory @fd, or the file @fd itself when @name is NULL: short for a path
 * of any length.  Return: false when @name does not fit. */
bool sx_address_of_fd(struct sx_address *ret, int fd, const char *name);
/* The path @path.  Return: false when it does not fit. */
bool sx_address_of_path(struct sx_address *ret, const char *path);

/* The abstract name @name, which is in no file system.  Return: false when it does not fit. */
bool sx_address_of_name(struct sx_address *ret, const char *name);

/* Return: 0 or an errno value. */
int sx_address_bind(int fd, const struct sx_address *address);
int sx_address_connect(int fd, const struct sx_address *address);

/* The process that called listen for the socket that the connected @fd leads to.  It may have
 * ended: the kernel keeps its pid (0: it is of another container), its user and its group.  Return:
 * 0 or an errno value. */
int sx_address_listener(int fd, struct ucred *ret_cred);

/* Whether process @pid, which made that socket listen, has ended.  An io_uring of an ended process
 * may still be released by the kernel, or a child may hold the socket: in both cases no process
 * accepts. */
bool sx_address_has_gone(int fd, pid_t pid);

#endif
