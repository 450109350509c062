/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* board.c - a board counts only for the process that has made it: another process can give a memfd
 * the name that servers use. */
#include "cli/board.h"

#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

static bool board_take(void *arg, pid_t pid, int fd)
{
    struct sx_cli_board *const found = arg;
    struct sx_board board;

    if (sx_board_attach(&board, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (sx_proc_has_made(pid, &board.seg) && found->count++ == 0) {
        found->board = board;
        found->server = pid;
    } else {
        sx_board_deinit(&board);
    }
    return true;
}

void sx_cli_board_find(pid_t pid, struct sx_cli_board *ret)
{
    *ret = (struct sx_cli_board){ .board = SX_BOARD_NULL };
    ret->denied = !sx_cli_outside_each(pid, "board:", board_take, ret);
}

void sx_cli_board_say_many(const struct sx_cli_board *found)
{
    sx_say("%u servers run, and one can be watched; 'shmix ls servers' lists them", found->count);
}
