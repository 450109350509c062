/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* board.h - the board of a running server, found through /proc. */
#ifndef SX_CLI_BOARD_H
#define SX_CLI_BOARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "ring/board.h"

struct sx_cli_board {
    struct sx_board board; /* the first board that was found */
    pid_t server;
    unsigned count; /* of boards that exist */
    bool denied;    /* some process could not be examined */
};

/* Map the board of the server @pid; 0: of any server.  sx_board_deinit unmaps it. */
void sx_cli_board_find(pid_t pid, struct sx_cli_board *ret);

/* Report that several servers run, of which only one can be watched. */
void sx_cli_board_say_many(const struct sx_cli_board *found);

#endif
