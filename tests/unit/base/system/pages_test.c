/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages_test.c - malloc leaves nothing for later once it has been asked not to, and large blocks are
 * freed by a thread. */
#include "base/system/pages.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

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

#define MANY ((size_t)64 << 20)
#define PIECE ((size_t)4 << 20)

static atomic_size_t given_back; /* bytes */
static atomic_bool by_caller, is_long;
static pthread_t caller;

__attribute__((visibility("default"))) int madvise(void *at, size_t size, int advice);

int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_DONTNEED) {
        atomic_store(&by_caller, atomic_load(&by_caller) || pthread_equal(pthread_self(), caller));
        atomic_store(&is_long, atomic_load(&is_long) || size > PIECE);
        atomic_fetch_add(&given_back, size);
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

Test(pages, many_of_malloc_are_given_back_by_a_thread, .timeout = 60)
{
    char *const few = malloc(PIECE), *const many = malloc(MANY);

    cr_assert(few != NULL && many != NULL);
    caller = pthread_self();
    memset(many, 1, MANY);
    sx_pages_give_back(NULL, 0);
    sx_pages_give_back(few, PIECE);
    cr_expect_eq(atomic_load(&given_back), 0, "free does it");
    sx_pages_give_back(many, MANY);
    while (atomic_load(&given_back) < MANY - 2 * SX_PAGE_BYTES) {
        sched_yield();
    }
    cr_expect_not(atomic_load(&by_caller));
    cr_expect_not(atomic_load(&is_long));
}
