/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ls.h - `shmix ls THING`: list the things that servers have, from their memory. */
#ifndef SX_CLI_LS_LS_H
#define SX_CLI_LS_LS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/target.h"
#include "launch/common/options.h"

struct sx_ls_wish {
    const char *thing;
    struct sx_whose whose;
    pid_t server; /* the target; 0: every server */
    bool json;
    uint64_t watch_ns;   /* the pause between lists; 0: list once */
    uint64_t timeout_ns; /* then end */
    int64_t count;       /* or after so many lists, or changes; 0: no end */
    bool pages;          /* each time all is listed again, not only the changes */
    bool again;          /* not the first list: an empty one is not an error */
    bool sets_only;      /* of groups */
};

extern const struct sx_verb sx_ls_verb;

/* @words follow the verb, and end with NULL.  No request is sent to a server, so the verb works on
 * one that hangs or is stopped.  The kernel decides which memory the caller may read.  Return: the
 * exit code of the command. */
int sx_cli_ls(char **words);

#endif
