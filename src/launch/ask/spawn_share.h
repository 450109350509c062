/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn_share.h - the bytes of spawns that wait to become jobs, or are jobs, and the share of each
 * asker.
 *
 *     take --> counted --give back: the job is over, or the spawn is refused--> not counted
 *
 * The rule is that of the server's tables (server/model/quota.h) on two levels.  An asker, which is
 * a job of the command line with all that it has spawned, or the tools, leaves room to other
 * askers.  A process leaves room to the others of its asker.  Each has at most nine tenths of what
 * the others leave.  Requests arrive on the server's thread and are dealt with on the launcher's,
 * so each process has one of these books, under a lock. */
#ifndef SX_LAUNCH_ASK_SPAWN_SHARE_H
#define SX_LAUNCH_ASK_SPAWN_SHARE_H

#include <pmix_common.h>
#include <stdbool.h>
#include <stddef.h>

#define SX_SPAWNS_BYTES_MAX ((size_t)48 << 20) /* of all that wait or are jobs */

struct sx_spawn_account;

/* The part of one request; zeroed: none. */
struct sx_spawn_share {
    struct sx_spawn_account *process;
    size_t bytes;
};

/* The memory of a request of these. */
size_t sx_spawn_bytes(const pmix_info_t *info, size_t ninfo, const pmix_app_t *apps, size_t napps);

/* Count @bytes for @proc, one of @asker's.  Return: false when it may have no more. */
bool sx_spawn_share_take(const char *asker, const pmix_proc_t *proc, size_t bytes,
                         struct sx_spawn_share *ret);
/* Move the part @bytes of @share to another request's. */
void sx_spawn_share_part(struct sx_spawn_share *share, size_t bytes, struct sx_spawn_share *ret);
/* Safe on a zeroed share and twice. */
void sx_spawn_share_give_back(struct sx_spawn_share *share);

#endif
