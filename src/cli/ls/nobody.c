/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nobody.c - having no server is not an error, but naming one that does not exist is. */
#include "cli/ls/nobody.h"

#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

int sx_ls_nobody(const struct sx_ls_wish *wish, bool denied)
{
    const pid_t pid = wish->server;

    if (wish->again && pid != 0) {
        return SX_EXIT_FAILURE; /* the server has ended: no message */
    }
    if (sx_cli_outside_say(pid)) {
        return pid != 0 ? SX_EXIT_FAILURE : 0; /* the server runs, and cannot be read */
    }
    if (pid == 0) {
        sx_say("%s", denied ? "you have no running job on this node (root sees all users' jobs)"
                            : "no job runs on this node");
        return 0;
    }
    sx_say("process %d %s", (int)pid,
           sx_proc_has_ended(pid) ? "does not exist"
           : denied               ? "can be inspected by its user and root only"
                                  : "is no server of shmix");
    return SX_EXIT_FAILURE;
}
