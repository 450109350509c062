/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ls.h - `shmix ls THING`: list what servers have, out of their memory. */
#ifndef SX_CLI_LS_LS_H
#define SX_CLI_LS_LS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/target.h"
#include "launch/common/options.h"

struct sx_ls_wish {
    const char *thing;
    struct sx_whose whose;
    pid_t server; /* that is meant; 0: every one */
    bool json;
    uint64_t watch_ns;   /* look again after so long; 0: once */
    uint64_t timeout_ns; /* then end */
    int64_t count;       /* or after so many looks, or changes; 0: no end */
    bool pages;          /* all is listed again each time, not what has changed */
    bool again;          /* not the first look: that there is nothing left is no error */
    bool sets_only;      /* of groups */
};

extern const struct sx_verb sx_ls_verb;

/* @words follow the verb, and end with NULL.  Asks no server for anything, so it works on one that
 * hangs or is stopped; what can be seen is what the kernel grants to the caller.  Return: the exit
 * code of the command. */
int sx_cli_ls(char **words);

#endif
