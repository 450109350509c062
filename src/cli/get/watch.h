/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* watch.h - `shmix get --watch`: read again and again, and detect new values. */
#ifndef SX_CLI_GET_WATCH_H
#define SX_CLI_GET_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/table.h"
#include "cli/board.h"
#include "shmem/store.h"

/* Digests of the values that were seen. */
struct sx_get_seen {
    struct sx_table values;
    struct sx_get_value *last;
    uint64_t seed;
};

void sx_get_seen_init(struct sx_get_seen *seen);
void sx_get_seen_deinit(struct sx_get_seen *seen);

/* Whether @item of a row of @key in @realm of @nspace differs from the last call, or is asked for
 * the first time. */
bool sx_get_seen_is_new(struct sx_get_seen *seen, const char *nspace, enum sx_realm realm,
                        const char *key, uint32_t row, const struct sx_item *item);

/* Call @look until it returns false, or once more after the server has ended; until @end_ns.
 * Values ring no door, so @look is called 20 times a second, or less often, so that it takes a
 * twentieth of the time at most. */
void sx_get_watch(const struct sx_cli_board *found, bool (*look)(void *arg), void *arg,
                  uint64_t end_ns);

#endif
