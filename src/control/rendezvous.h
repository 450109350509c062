/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rendezvous.h - how a process finds its server.
 *
 * Three ways, tried by a client in this order:
 *   SHMIX_SERVER_FD=N:DEV:INO    an inherited O_PATH descriptor of a socket; DEV and INO show
 *                                whether N still is that socket.  Needs no name at all.
 *   SHMIX_SERVER_URI=unix:@NAME  an abstract socket: nothing in any file system, so nothing to
 *                                leave behind.  Any process of the namespace could bind the
 *                                name or connect to it; so NAME is shmix-UID-PID-START-RANDOM, and
 *                                a client sends nothing to any process but this one.
 *   /proc/PID/fd                 the server's own descriptor of the socket above: where the network
 *                                namespace is another one, but user and user namespace are not.
 * On request a server has a private directory (0700) with its socket instead of an abstract one,
 * and sets SHMIX_SERVER_URI=unix:PATH.  That serves other users' processes in other network
 * namespaces, and hosts that want no connections from other users at all.
 *
 * The socket that has a descriptor is bound in such a directory, too, and the directory removed
 * before the server has a client.  It is made with mkdirat and reached through its descriptor only;
 * ownership is given with fchown on descriptors; no link is followed; a path of any length works,
 * since sockets are bound and connected through /proc/self/fd. */
#ifndef SX_CONTROL_RENDEZVOUS_H
#define SX_CONTROL_RENDEZVOUS_H

#include <stdbool.h>
#include <sys/types.h>

#include <pmix_common.h>

#define SX_ENV_SERVER_FD "SHMIX_SERVER_FD"
#define SX_ENV_SERVER_URI "SHMIX_SERVER_URI"
#define SX_RENDEZVOUS_SCHEME "unix:"
#define SX_RENDEZVOUS_ABSTRACT "@"  /* behind the scheme: a name, not a path */
#define SX_RENDEZVOUS_NAME "shmix-" /* in front of UID-PID-START-RANDOM */

struct sx_rendezvous_options {
    const char *dir; /* an existing directory in which the private one is made */
    uid_t uid;       /* the user that must be able to connect (owner of directory and socket) */
    gid_t gid;
    bool keep_dir; /* the private directory stays, and there is no abstract socket */
    bool inherit;  /* children inherit the O_PATH descriptor (it is not close-on-exec) */
};

struct sx_rendezvous {
    int listen_fd;   /* reached through path_fd, and by a path while there is a directory */
    int abstract_fd; /* the other listening socket; -1: there is a directory */
    int path_fd;     /* O_PATH of listen_fd's socket */
    int dir_fd;      /* -1, as parent_fd: there is none */
    int parent_fd;
    char *uri;         /* "unix:@shmix-1000-4711-3300-..." or "unix:/tmp/shmix-1000-4711-.../s" */
    char *fd_value;    /* value for SHMIX_SERVER_FD, NULL: children do not inherit it */
    char dir_name[64]; /* under parent_fd */
    pid_t creator_pid; /* 0: not open; a forked child removes nothing */
};

#define SX_RENDEZVOUS_NULL   \
    ((struct sx_rendezvous){ \
        .listen_fd = -1, .abstract_fd = -1, .path_fd = -1, .dir_fd = -1, .parent_fd = -1 })

/* Return: PMIX_SUCCESS; a status with one line that names the directory, the cause (missing, not
 * writable, full, no descriptors) and what to do (set TMPDIR ...). */
pmix_status_t sx_rendezvous_open(struct sx_rendezvous *rendezvous,
                                 const struct sx_rendezvous_options *options);
/* Remove what was made; safe on a zeroed one and twice. */
void sx_rendezvous_close(struct sx_rendezvous *rendezvous);

/* Client: connect (blocking, close-on-exec) to the server that the environment names.  Check that
 * the peer is of this process's uid or root, and is the process in the name.  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNREACH when no variable is set or no process listens (then logged);
 * PMIX_ERR_NO_PERMISSIONS; PMIX_ERR_BAD_PARAM; errno's status. */
pmix_status_t sx_rendezvous_connect(int *ret_fd);

/* The same for the server at @uri, which the program has given as @name. */
pmix_status_t sx_rendezvous_connect_uri(const char *name, const char *uri, int *ret_fd);

/* Whether no process accepts any more at @address ("unix:..."), where process @pid once listened.
 * Its children may hold the socket.  Nothing is logged. */
bool sx_rendezvous_is_deserted(const char *address, pid_t pid);

/* Tool: connect (blocking, close-on-exec) to the server in process @pid, through its own descriptor
 * of its socket; needs no environment and no common /tmp.  Nothing is logged.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when it has no rendezvous; PMIX_ERR_NO_PERMISSIONS when its user
 * is another and the caller is not root; errno's status. */
pmix_status_t sx_rendezvous_connect_process(pid_t pid, int *ret_fd);

#endif
