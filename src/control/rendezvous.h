/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rendezvous.h - how a process finds its server.
 *
 * Two ways, tried by a client in this order:
 *   SHMIX_SERVER_FD=N:DEV:INO    an inherited O_PATH descriptor of the listening socket; DEV and
 *                                INO tell whether N still is that socket.  Needs no shared /tmp.
 *   SHMIX_SERVER_URI=unix:PATH   a socket in a private directory (0700).
 * The directory is made with mkdirat and reached through its descriptor only; ownership is given
 * with fchown on descriptors; no link is followed; a path of any length works, since sockets are
 * bound and connected through /proc/self/fd. */
#ifndef SX_CONTROL_RENDEZVOUS_H
#define SX_CONTROL_RENDEZVOUS_H

#include <stdbool.h>
#include <sys/types.h>

#include <pmix_common.h>

#define SX_ENV_SERVER_FD "SHMIX_SERVER_FD"
#define SX_ENV_SERVER_URI "SHMIX_SERVER_URI"

struct sx_rendezvous_options {
    const char *dir; /* an existing directory in which the private one is made */
    uid_t uid;       /* who must be able to connect (the owner of directory and socket) */
    gid_t gid;
    bool keep_fd; /* also keep an O_PATH descriptor that children inherit (not close-on-exec) */
};

struct sx_rendezvous {
    int listen_fd;
    int path_fd; /* O_PATH of the socket for SHMIX_SERVER_FD, -1 if not kept */
    int dir_fd;
    int parent_fd;
    char *uri;         /* "unix:/tmp/shmix-1000-4711-a1b2c3/s" */
    char *fd_value;    /* value for SHMIX_SERVER_FD, NULL if not kept */
    char dir_name[64]; /* under parent_fd */
    pid_t creator_pid; /* 0: not open; a forked child removes nothing */
};

/* Return: PMIX_SUCCESS; a status with one line that names the directory, the cause (missing, not
 * writable, full, no descriptors) and what to do (set TMPDIR ...). */
pmix_status_t sx_rendezvous_open(struct sx_rendezvous *rendezvous,
                                 const struct sx_rendezvous_options *options);
/* Remove what was made; safe on a zeroed one and twice. */
void sx_rendezvous_close(struct sx_rendezvous *rendezvous);

/* Client: connect (blocking, close-on-exec) to the server that the environment names and see that
 * the peer is of our uid or root.  Return: PMIX_SUCCESS; PMIX_ERR_UNREACH when no variable is set
 * or nobody listens (then logged); PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_BAD_PARAM; errno's status. */
pmix_status_t sx_rendezvous_connect(int *ret_fd);

/* Tool: connect (blocking, close-on-exec) to the server in process @pid, through the directory that
 * it holds open; needs no environment and no common /tmp.  Nothing is logged.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when it has no rendezvous; PMIX_ERR_NO_PERMISSIONS when it is
 * neither ours nor we are root; errno's status. */
pmix_status_t sx_rendezvous_connect_process(pid_t pid, int *ret_fd);

#endif
