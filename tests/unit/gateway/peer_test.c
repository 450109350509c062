/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* peer_test.c - the kernel names the user and the process of a connection, and nobody else. */
#include "gateway/serve.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/gateway.h"

#define NOBODY 65534

static struct sx_gateway_port port;

static struct sockaddr_in address(void)
{
    struct sockaddr_in at;
    socklen_t size = sizeof(at);

    cr_assert_eq(getsockname(port.fd, (struct sockaddr *)(void *)&at, &size), 0);
    return at;
}

static void setup(void)
{
    cr_assert_eq(sx_gateway_port_open(&port), 0);
    cr_assert_eq(address().sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

static void teardown(void)
{
    sx_gateway_port_close(&port);
    sx_gateway_port_close(&port);
}

TestSuite(peer, .init = setup, .fini = teardown);

static int connect_one(void)
{
    const struct sockaddr_in at = address();
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_eq(connect(fd, (const struct sockaddr *)(const void *)&at, sizeof(at)), 0);
    return fd;
}

static int accept_next(void)
{
    int fd;

    do {
        fd = accept(port.fd, NULL, NULL);
    } while (fd < 0 && errno == EAGAIN);
    cr_assert_geq(fd, 0);
    return fd;
}

static ino_t inode_of(int fd)
{
    struct stat st;

    cr_assert_eq(fstat(fd, &st), 0);
    return st.st_ino;
}

Test(peer, each_connection_has_its_own_socket)
{
    int ours[3], theirs[3];

    for (int i = 0; i < 3; i++) {
        ours[i] = connect_one();
        theirs[i] = accept_next();
    }
    for (int i = 0; i < 3; i++) {
        struct sx_gateway_peer peer;

        cr_expect_eq(sx_gateway_peer_find(theirs[i], &peer), 0);
        cr_expect_eq(peer.uid, getuid());
        cr_expect_eq(peer.inode, inode_of(ours[i]));
        cr_expect_eq(sx_gateway_peer_process(&peer, 0, "no.such.job", 0), getpid());
    }
}

/* Without its inode, a socket would read as one of root. */
Test(peer, a_socket_that_was_closed_belongs_to_nobody)
{
    struct sx_gateway_peer peer;
    const int ours = connect_one(), theirs = accept_next();

    close(ours);
    cr_expect_eq(sx_gateway_peer_find(theirs, &peer), ENOTCONN);
}

/* A child with @uid (-1: ours) connects and waits; its environment names a rank. */
static pid_t child_connect(uid_t uid)
{
    const pid_t pid = fork();

    if (pid == 0) {
        char port_text[16];
        const char *const script =
            "exec 3<>/dev/tcp/127.0.0.1/$PORT && kill -STOP $$ && exec sleep 60";

        if (uid != (uid_t)-1 && (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
                                 setresuid(uid, uid, uid) != 0)) {
            _exit(1);
        }
        snprintf(port_text, sizeof(port_text), "%u", ntohs(address().sin_port));
        setenv("PORT", port_text, 1);
        setenv("PMIX_NAMESPACE", "a.job", 1);
        setenv("PMIX_RANK", "7", 1);
        execl("/bin/bash", "bash", "-c", script, NULL);
        _exit(127);
    }
    cr_assert_gt(pid, 0);
    return pid;
}

static void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

Test(peer, another_process_is_found_by_its_environment)
{
    struct sx_gateway_peer peer;
    const pid_t pid = child_connect((uid_t)-1);
    const int theirs = accept_next();

    cr_expect_eq(sx_gateway_peer_find(theirs, &peer), 0);
    cr_expect_eq(sx_gateway_peer_process(&peer, 0, "a.job", 7), pid);
    cr_expect_eq(sx_gateway_peer_process(&peer, getpid(), "a.job", 7), pid, "as a child of ours");
    cr_expect_eq(sx_gateway_peer_process(&peer, getppid(), "a.job", 7), pid, "and a grandchild");
    cr_expect_eq(sx_gateway_peer_process(&peer, pid, "a.job", 7), pid, "and no child of its own");
    cr_expect_eq(sx_gateway_peer_process(&peer, 0, "a.job", 8), pid, "and without it");
    child_end(pid);
}

Test(peer, the_user_is_the_one_who_made_the_socket)
{
    if (getuid() != 0) {
        cr_skip("becoming another user needs root");
    }
    struct sx_gateway_peer peer;
    const pid_t pid = child_connect(NOBODY);
    const int theirs = accept_next();

    cr_expect_eq(sx_gateway_peer_find(theirs, &peer), 0);
    cr_expect_eq(peer.uid, NOBODY);
    cr_expect_eq(sx_gateway_peer_process(&peer, 0, "a.job", 7), pid);
    child_end(pid);
}

Test(peer, a_socket_that_is_no_tcp_connection_is_refused)
{
    struct sx_gateway_peer peer;
    int pair[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    cr_expect_eq(sx_gateway_peer_find(pair[0], &peer), EAFNOSUPPORT);
    cr_expect_eq(sx_gateway_peer_find(port.fd, &peer), ENOTCONN);
}
