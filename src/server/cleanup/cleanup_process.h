/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup_process.h - the process that removes files for one user.
 *
 * This is a process and not a thread for two reasons.  When the host calls seteuid, the C library
 * changes the user and groups of every thread.  And the host would wait in that call for a thread
 * that hangs in a file system.  The process's end sends no signal, so wait(2) returns it only with
 * __WCLONE or __WALL.  Its only descriptor is one socket, and it ends when that is closed.
 *
 *   server -> process   packets of struct sx_cleanup_unlink, each of at most
 *                       SX_CLEANUP_UNLINK_PACKET_MAX bytes
 *   process -> server   struct sx_cleanup_unlink_report, where something had to stay */
#ifndef SX_SERVER_CLEANUP_CLEANUP_PROCESS_H
#define SX_SERVER_CLEANUP_CLEANUP_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define SX_CLEANUP_UNLINK_PACKET_MAX \
    16384u /* the longest path, with all that a job wants to keep */

/* In memory shared by the server and the cleanup processes; one process after the other writes
 * it. */
struct sx_cleanup_process_done {
    _Atomic uint64_t count; /* of struct sx_cleanup_unlink done, since this process began */
};

/* Start it, with @done, which the caller owns, at 0.  Return: its process id and the server's end
 * of the socket, close-on-exec; -1 and errno.  Cost: as fork, 0.1 ms and 30 us a MiB of private
 * memory. */
pid_t sx_cleanup_process_start(uid_t uid, gid_t gid, struct sx_cleanup_process_done *done,
                               int *ret_fd);

#endif
