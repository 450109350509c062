/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor_test.c - which changes of a file are life: those that were asked for. */
#include <criterion/criterion.h>

#include "base/util.h"
#include "client/manage/manage.h"

#define BEFORE                                                                               \
    {                                                                                        \
        .device = 1, .inode = 2, .size_bytes = 3, .accessed = { 4, 5 }, .modified = { 6, 7 } \
    }

static const struct {
    const char *why;
    struct sx_file_signs signs;
    struct sx_file_look now;
    bool want;
} rows[] = {
    { "nothing", { true, true, true }, BEFORE, false },
    { "grown", { .grows = true }, { 1, 2, 4, { 4, 5 }, { 6, 7 } }, true },
    { "shrunk", { .grows = true }, { 1, 2, 2, { 4, 5 }, { 6, 7 } }, false },
    { "grown, unasked",
      { .accessed = true, .modified = true },
      { 1, 2, 4, { 4, 5 }, { 6, 7 } },
      false },
    { "read", { .accessed = true }, { 1, 2, 3, { 4, 6 }, { 6, 7 } }, true },
    { "read, unasked",
      { .grows = true, .modified = true },
      { 1, 2, 3, { 5, 5 }, { 6, 7 } },
      false },
    { "written", { .modified = true }, { 1, 2, 3, { 4, 5 }, { 7, 7 } }, true },
    { "its clock set back", { .modified = true }, { 1, 2, 3, { 4, 5 }, { 6, 6 } }, true },
    { "written, unasked",
      { .grows = true, .accessed = true },
      { 1, 2, 3, { 4, 5 }, { 6, 8 } },
      false },
    { "replaced by a smaller one", { .grows = true }, { 1, 9, 0, { 4, 5 }, { 6, 7 } }, true },
    { "of another file system", { .grows = true }, { 9, 2, 3, { 4, 5 }, { 6, 7 } }, true },
};

Test(file_monitor, life_is_what_was_asked_for)
{
    const struct sx_file_look before = BEFORE;

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_file_lives(&rows[i].signs, &before, &rows[i].now), rows[i].want, "%s",
                     rows[i].why);
    }
}
