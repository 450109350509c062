/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_process.c - become the user, then remove the paths that the server sends until it closes
 * its end.
 *
 * Everything behind the clone is the child of a process with threads: plain system calls, no
 * malloc, no lock.  Identities must not be changed through the C library here, as it would wait for
 * the threads that the parent had. */
#include "server/cleanup/cleanup_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/descriptors.h"
#include "server/cleanup/cleanup_unlink.h"

/* Give up all capabilities; a process without any needs no permission for that.  A server has them
 * as root, or from its executable file without being root. */
static bool capabilities_drop(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    const struct __user_cap_data_struct none[2] = { 0 };
    struct __user_cap_data_struct data[2];

    return (syscall(SYS_capget, &header, data) == 0 &&
            (data[0].permitted | data[1].permitted) == 0) ||
           syscall(SYS_capset, &header, none) == 0;
}

/* Take on the user's rights in file systems, and no others, for good.  The user id itself stays.
 * This process has the server's memory, and the user must not be able to trace or signal it.
 * Return: false when this server may not act for that user. */
static bool become(uid_t uid, gid_t gid)
{
    if ((uid_t)setfsuid((uid_t)-1) == uid) { /* the server's own user; if that is root, it has all
                                              * rights */
        return uid == 0 || capabilities_drop();
    }
    if (syscall(SYS_setgroups, 0, NULL) != 0) {
        return false;
    }
    setfsgid(gid);
    setfsuid(uid);
    return (gid_t)setfsgid((gid_t)-1) == gid && (uid_t)setfsuid((uid_t)-1) == uid &&
           capabilities_drop();
}

static void packet_do(const char *packet, size_t size, uid_t uid, bool allowed,
                      struct sx_cleanup_process_done *done)
{
    struct sx_cleanup_unlink_report report = { .left_count = 0 };

    for (size_t at = 0; at < size;) {
        const struct sx_cleanup_unlink *sweep =
            (const struct sx_cleanup_unlink *)(const void *)(packet + at);

        if (allowed) {
            sx_cleanup_unlink_do(sweep, uid, &report);
        } else {
            sx_cleanup_unlink_leave(sweep, EPERM, &report);
        }
        /* R0 -> A0 (cleanup_queue.c): what is counted has been removed. */
        atomic_fetch_add_explicit(&done->count, 1, memory_order_release);
        at += sweep->size_bytes;
    }
    if (report.left_count > 0) {
        (void)send(0, &report, sizeof(report), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

__attribute__((noreturn)) static void sweeper_main(int fd, uid_t uid, gid_t gid,
                                                   struct sx_cleanup_process_done *done)
{
    static _Alignas(8) char packet[SX_CLEANUP_UNLINK_PACKET_MAX];
    sigset_t all;
    ssize_t size;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    dup2(fd, 0);
    sx_descriptors_close_from(1);
    prctl(PR_SET_NAME, "shmix-sweeper");
    (void)!chdir("/");
    const bool allowed = become(uid, gid);

    while ((size = recv(0, packet, sizeof(packet), 0)) != 0) {
        if (size > 0) {
            packet_do(packet, (size_t)size, uid, allowed, done);
        } else if (errno != EINTR) {
            _exit(1);
        }
    }
    _exit(0);
}

pid_t sx_cleanup_process_start(uid_t uid, gid_t gid, struct sx_cleanup_process_done *done,
                               int *ret_fd)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return -1;
    }
    /* relaxed: the clone follows it. */
    atomic_store_explicit(&done->count, 0, memory_order_relaxed);
    /* As fork, but without a signal at its end and without fork handlers. */
    const pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);

    if (pid == 0) {
        sweeper_main(pair[1], uid, gid, done);
    }
    const int error = errno;

    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        errno = error;
        return -1;
    }
    *ret_fd = pair[0];
    return pid;
}
