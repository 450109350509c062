/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages_test.c - malloc leaves nothing for later once it has been asked not to, and large blocks are
 * freed by threads, for which they wait. */
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
#include <sys/wait.h>
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

static atomic_size_t given_back; /* bytes ... */
static atomic_size_t by_caller;  /* ... of which the caller did these */
static atomic_bool is_long;
static pthread_t caller;

/* While it is shut, threads wait before they give anything back. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t opens;
    bool is_shut;
    unsigned threads; /* that wait */
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .opens = PTHREAD_COND_INITIALIZER };

static void gate_pass(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.threads++;
    while (gate.is_shut) {
        pthread_cond_wait(&gate.opens, &gate.lock);
    }
    gate.threads--;
    pthread_mutex_unlock(&gate.lock);
}

static void gate_set(bool is_shut)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_shut = is_shut;
    pthread_cond_broadcast(&gate.opens);
    pthread_mutex_unlock(&gate.lock);
}

static unsigned gate_threads(void)
{
    pthread_mutex_lock(&gate.lock);
    const unsigned threads = gate.threads;

    pthread_mutex_unlock(&gate.lock);
    return threads;
}

__attribute__((visibility("default"))) int madvise(void *at, size_t size, int advice);

int madvise(void *at, size_t size, int advice)
{
    if (advice == MADV_DONTNEED) {
        if (pthread_equal(pthread_self(), caller)) {
            atomic_fetch_add(&by_caller, size);
        } else {
            gate_pass();
        }
        atomic_store(&is_long, atomic_load(&is_long) || size > PIECE);
        atomic_fetch_add(&given_back, size);
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* Blocks of @size bytes, of which nothing has been written, are freed. */
static void blocks_give_back(unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++) {
        void *const block = malloc(size);

        cr_assert_not_null(block);
        sx_pages_give_back(block, size);
    }
}

/* All whole pages of @count blocks. */
static void all_expect(unsigned count, size_t size)
{
    while (atomic_load(&given_back) < count * (size - 2 * SX_PAGE_BYTES)) {
        sched_yield();
    }
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
    all_expect(1, MANY);
    cr_expect_eq(atomic_load(&by_caller), 0);
    cr_expect_not(atomic_load(&is_long));
}

Test(pages, blocks_that_are_freed_together_wait_for_two_threads, .timeout = 60)
{
    caller = pthread_self();
    gate_set(true);
    blocks_give_back(5, MANY);
    while (gate_threads() < SX_PAGES_THREADS_MAX) {
        sched_yield();
    }
    cr_expect_eq(atomic_load(&by_caller), 0, "three of them wait");
    cr_expect_eq(atomic_load(&given_back), 0);
    cr_expect_eq(gate_threads(), SX_PAGES_THREADS_MAX);
    gate_set(false);
    all_expect(5, MANY);
    cr_expect_eq(atomic_load(&by_caller), 0);
}

/* Two are with the threads, and what waits is counted. */
Test(pages, room_is_made_of_what_waits_beyond_its_bound, .timeout = 60)
{
    static const struct {
        const char *why;
        unsigned more; /* blocks that are freed before */
        size_t size, want;
    } rows[] = {
        { "nothing waits", 2, PIECE, 0 },
        { "all of the bound but some pages waits", 1, PIECE, 0 },
        { "twice the bound waits", 1, PIECE, PIECE },
        { "whole pages", 0, 1, SX_PAGE_BYTES },
    };
    const size_t size = SX_PAGES_WAITING_MAX_BYTES;

    caller = pthread_self();
    gate_set(true);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        blocks_give_back(rows[i].more, size);
        while (gate_threads() < SX_PAGES_THREADS_MAX) {
            sched_yield();
        }
        atomic_store(&by_caller, 0);
        sx_pages_make_room(rows[i].size);
        cr_expect_eq(atomic_load(&by_caller), rows[i].want, "%s: %zu", rows[i].why,
                     atomic_load(&by_caller));
    }
    atomic_store(&by_caller, 0);
    for (unsigned i = 0; i < size / PIECE + 1; i++) {
        sx_pages_make_room(PIECE);
    }
    cr_expect(atomic_load(&by_caller) <= size, "up to the bound");
    gate_set(false);
    all_expect(4, size);
}

/* A forked child has neither the threads nor their queue. */
Test(pages, a_forked_child_has_threads_of_its_own, .timeout = 60)
{
    int status;

    caller = pthread_self();
    gate_set(true);
    blocks_give_back(5, MANY);
    while (gate_threads() < SX_PAGES_THREADS_MAX) {
        sched_yield();
    }
    const pid_t child = fork();

    if (child == 0) {
        gate.is_shut = false;
        atomic_store(&given_back, 0);
        blocks_give_back(3, MANY);
        all_expect(3, MANY);
        _exit(atomic_load(&by_caller) == 0 ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x", status);
    gate_set(false);
    all_expect(5, MANY);
}

/* What is left has pages of its own, so that it is freed as such. */
Test(pages, of_the_front_are_given_back_but_for_the_last_ones)
{
    struct sx_pages pages = { .at = NULL };

    cr_assert(sx_pages_grow(&pages, 0, SX_PAGES_OWN_BYTES));
    cr_expect_eq(sx_pages_give_front(&pages, SX_PAGES_OWN_BYTES), 0);
    cr_assert(sx_pages_grow(&pages, 0, 3 * SX_PAGES_OWN_BYTES));
    memset(pages.at, 'a', pages.size);
    cr_expect_eq(sx_pages_give_front(&pages, SX_PAGES_OWN_BYTES - 1), 0, "it is not worth it");
    cr_expect_eq(sx_pages_give_front(&pages, 3 * SX_PAGES_OWN_BYTES), 2 * SX_PAGES_OWN_BYTES);
    cr_expect_eq(pages.size, SX_PAGES_OWN_BYTES);
    cr_expect_eq(pages.at[0], 'a');
    cr_expect_eq(pages.at[pages.size - 1], 'a');
    sx_pages_free(&pages);
}
