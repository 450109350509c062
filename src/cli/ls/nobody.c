/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nobody.c - no server at all is no error; that the one who was named is none is. */
#include "cli/ls/nobody.h"

#include <errno.h>
#include <signal.h>

#include "cli/say.h"

bool sx_ls_has_ended(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

int sx_ls_nobody(const struct sx_ls_wish *wish, bool denied)
{
    const pid_t pid = wish->whose.pid;

    if (pid == 0) {
        sx_say("no server runs%s", denied ? " that you may look into; root sees all" : "");
        return 0;
    }
    sx_say("process %d %s", (int)pid,
           sx_ls_has_ended(pid) ? "does not exist"
           : denied             ? "may not be looked into: be its user, or root"
                                : "is no server of shmix");
    return SX_EXIT_FAILURE;
}
