/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* life.c - hold a robust mutex for ever, so that the kernel marks the death of its holder.
 *
 * Entered from board.c (the server's word) and lane.c (a client's word).  A thread that holds one
 * must not unmap it: the C library links held robust mutexes into a list through their memory. */
#include "ring/life.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/status.h"

static_assert(SX_LIFE_WAITERS == FUTEX_WAITERS, "the kernel's bit");
static_assert(SX_LIFE_OWNER_DIED == FUTEX_OWNER_DIED, "the kernel's bit");
static_assert(SX_LIFE_TID_MASK == FUTEX_TID_MASK, "the kernel's mask");

pmix_status_t sx_life_links_hide(void *page, size_t page_bytes)
{
    if (mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED ||
        madvise(page, page_bytes, MADV_DONTFORK) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "a page for a life word: %s%s",
                        strerror(errno), sx_refused_advice(errno));
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_life_init(pthread_mutex_t *life)
{
    pthread_mutexattr_t attr;
    int err = pthread_mutexattr_init(&attr);

    if (err != 0) {
        return SX_RAISE(sx_status_from_errno(err), "attributes of a life word");
    }
    err = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (err == 0) {
        err = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    }
    if (err == 0) {
        err = pthread_mutex_init(life, &attr);
    }
    pthread_mutexattr_destroy(&attr);
    if (err != 0) {
        return SX_RAISE(sx_status_from_errno(err),
                        "no robust process-shared mutex for a life word here");
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_life_hold(pthread_mutex_t *life)
{
    int err = pthread_mutex_trylock(life);

    if (err == EOWNERDEAD) {
        /* The thread that held the word before has ended; this thread takes its place. */
        err = pthread_mutex_consistent(life);
    }
    if (err == EBUSY) {
        return SX_RAISE(PMIX_ERR_RESOURCE_BUSY, "another thread holds this life word");
    }
    if (err != 0) {
        return SX_RAISE(sx_status_from_errno(err), "taking a life word");
    }
    /* relaxed: nothing is handed over by the bit, and only the kernel acts on it. */
    atomic_fetch_or_explicit(sx_life_word(life), SX_LIFE_WAITERS, memory_order_relaxed);
    return PMIX_SUCCESS;
}

bool sx_life_release(pthread_mutex_t *life)
{
    /* relaxed: only whether the word names this thread, which no other thread can change. */
    const uint32_t word = atomic_load_explicit(sx_life_word(life), memory_order_relaxed);

    if (sx_life_word_lives(word)) {
        if ((word & SX_LIFE_TID_MASK) != (uint32_t)syscall(SYS_gettid) ||
            pthread_mutex_unlock(life) != 0) {
            return false;
        }
    }
    /* The C library has stored 0 and woken one. */
    sx_life_notify(sx_life_word(life));
    return true;
}

void sx_life_notify(const _Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
