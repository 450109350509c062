/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* watch.c - keep digests of the values that were shown.  They have 64 bits and a seed, so that no
 * process can store two values with the same digest on purpose.  Bounded by the values that
 * match. */
#include "cli/get/watch.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/util.h"
#include "launch/common/say.h"

#define LOOK_NS (50 * SX_NS_PER_MS)
#define LOOK_SHARE 20u

struct sx_get_value {
    struct sx_table_node node; /* by the owner and the key */
    uint64_t digest;           /* of the value */
    struct sx_get_value *before;
};

void sx_get_seen_init(struct sx_get_seen *seen)
{
    *seen = (struct sx_get_seen){ .seed = sx_table_seed() };
}

void sx_get_seen_deinit(struct sx_get_seen *seen)
{
    while (seen->last != NULL) {
        struct sx_get_value *const value = seen->last;

        seen->last = value->before;
        free(value);
    }
    sx_table_deinit(&seen->values);
}

/* ---- new values ------------------------------------------------------------------------------ */

static uint64_t digest_of(const struct sx_get_seen *seen, const struct sx_item *item)
{
    const uint64_t head[] = { item->cell.type, item->cell.flags & SX_CELL_NULL, item->cell.len,
                              item->cell.len == 0 ? item->cell.bits : 0 };
    const uint64_t seed = XXH3_64bits_withSeed(head, sizeof(head), seen->seed);

    return XXH3_64bits_withSeed(item->body, item->cell.len, seed);
}

bool sx_get_seen_is_new(struct sx_get_seen *seen, const char *nspace, enum sx_realm realm,
                        const char *key, uint32_t row, const struct sx_item *item)
{
    const uint64_t digest = digest_of(seen, item), place[] = { realm, row };
    uint64_t name = XXH3_64bits_withSeed(place, sizeof(place), seen->seed);

    name = XXH3_64bits_withSeed(nspace, strlen(nspace), name);
    name = XXH3_64bits_withSeed(key, strlen(key), name);
    struct sx_table_node *const node = sx_table_first(&seen->values, name);

    if (node != NULL) {
        struct sx_get_value *const value = SX_CONTAINER(node, struct sx_get_value, node);
        const bool is_new = value->digest != digest;

        value->digest = digest;
        return is_new;
    }
    struct sx_get_value *const value = sx_cli_calloc(1, sizeof(*value));

    value->digest = digest;
    value->before = seen->last;
    seen->last = value;
    if (!sx_table_add(&seen->values, &value->node, name)) {
        sx_cli_no_memory();
    }
    return true;
}

/* ---- repeating ------------------------------------------------------------------------------- */

void sx_get_watch(const struct sx_cli_board *found, bool (*look)(void *arg), void *arg,
                  uint64_t end_ns)
{
    bool lives = true, goes_on = true;

    while (lives && goes_on) {
        const uint64_t begin_ns = sx_now_ns();
        const struct sx_bell_watch word = { .word = found->board.life_word,
                                            .seen = sx_board_life_seen(&found->board) };

        /* Checked before reading: values of an ending server are still printed. */
        lives = sx_board_server_lives(&found->board);
        goes_on = look(arg);
        const uint64_t now_ns = sx_now_ns(), took_ns = now_ns - begin_ns;
        const uint64_t pause_ns = took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS;

        goes_on = goes_on && now_ns < end_ns;
        if (lives && goes_on) {
            const uint64_t next_ns = sx_deadline_ns(now_ns, pause_ns);

            (void)sx_bell_wait(&word, 1, SX_BELL_ALL, next_ns < end_ns ? next_ns : end_ns);
        }
    }
}
