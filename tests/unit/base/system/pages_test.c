/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages_test.c - malloc leaves nothing for later once it has been asked not to. */
#include "base/system/pages.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>

#ifdef M_MXFAST /* other mallocs have nothing of that kind */

#define BLOCKS 1000u

/* Return: how many bytes of small blocks are free, and still to be joined. */
static int left_for_later(void)
{
    static void *blocks[BLOCKS];

    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(48);
        cr_assert_not_null(blocks[i]);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* glibc before 2.33 has no other */
    return mallinfo().fsmblks;
#pragma GCC diagnostic pop
}

Test(pages, small_blocks_are_joined_when_they_are_freed)
{
    sx_heap_join_at_once();
    cr_expect_eq(left_for_later(), 0);
}

#endif
