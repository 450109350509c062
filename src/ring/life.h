/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* life.h - a word in shared memory that tells of its holder's death.
 *
 *   0 --hold--> tid | WAITERS --release--> 0
 *                     \-----holder dies (thread exit, execve, any signal)----> OWNER_DIED
 *
 * It is a robust, process-shared mutex that its holder keeps for ever: the kernel walks a dying
 * thread's robust list before it frees any memory, so the news does not wait for a large process
 * to be torn down.  The WAITERS bit is set by the holder itself, because sleepers may map the word
 * read-only; it makes the kernel wake one of them, who has to wake the others.  A forked child
 * holds nothing: the word names the parent's thread. */
#ifndef SX_RING_LIFE_H
#define SX_RING_LIFE_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <pmix_common.h>

#define SX_LIFE_WAITERS UINT32_C(0x80000000)
#define SX_LIFE_OWNER_DIED UINT32_C(0x40000000)
#define SX_LIFE_TID_MASK UINT32_C(0x3fffffff)

static_assert(sizeof(pthread_mutex_t) == 40, "part of layout 1");

/* While a thread holds the mutex, the C library keeps addresses of that thread in it: behind its
 * first SX_LIFE_SHOWN_BYTES, which are the word, counts and flags.  A holder that others may read
 * lets no more than these lie in shared memory, at the end of a page (sx_life_links_hide). */
#define SX_LIFE_SHOWN_BYTES 24u
#ifdef __GLIBC__
static_assert(offsetof(pthread_mutex_t, __data.__list) == SX_LIFE_SHOWN_BYTES, "nothing shows");
#endif

/* The word is the mutex's first: the kernel and the C library agreed on that long ago. */
static inline _Atomic uint32_t *sx_life_word(pthread_mutex_t *life)
{
    return (_Atomic uint32_t *)(void *)life;
}

static inline bool sx_life_word_lives(uint32_t word)
{
    return (word & SX_LIFE_TID_MASK) != 0 && (word & SX_LIFE_OWNER_DIED) == 0;
}

/* Lay memory of this process alone over the page at @page, in a mapping of its own: what a mutex
 * that begins SX_LIFE_SHOWN_BYTES before it has behind these is nobody else's to see. */
pmix_status_t sx_life_links_hide(void *page, size_t page_bytes);

/* Format the word at @life (zeroed memory that nobody uses yet). */
pmix_status_t sx_life_init(pthread_mutex_t *life);

/* The calling thread holds the word from now on; never waits.  Return: PMIX_SUCCESS;
 * PMIX_ERR_RESOURCE_BUSY when another thread holds it; errno's status. */
pmix_status_t sx_life_hold(pthread_mutex_t *life);

/* Give the word back and wake all who sleep on it.  Return: false when another thread holds it:
 * nothing has changed, and the memory has to stay mapped. */
bool sx_life_release(pthread_mutex_t *life);

/* Wake all who sleep on a life word; possible through a read-only mapping. */
void sx_life_tell(const _Atomic uint32_t *word);

#endif
